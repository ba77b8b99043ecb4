/*
 * outside.h - whether all other threads of the process are outside of the bytes that hooks replace.
 */
#ifndef FATHOM_PATHMAP_PROBE_OUTSIDE_H
#define FATHOM_PATHMAP_PROBE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether each thread was outside once; whoever is, must be unable to get inside from now on. inside: whether an address
 * is. false: some thread stays inside, or does not tell. For one thread at a time, with all signals blocked. */
bool outside_all(bool (*inside)(uint64_t pc));

#endif

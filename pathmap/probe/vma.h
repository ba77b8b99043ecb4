/*
 * vma.h - finds the mapping that contains an address.
 */
#ifndef FATHOM_PATHMAP_PROBE_VMA_H
#define FATHOM_PATHMAP_PROBE_VMA_H

#include <stdbool.h>
#include <stdint.h>

/* Asks the kernel, which takes a few microseconds. false: no mapping, or no /proc. */
bool vma_find(uint64_t address, uint64_t *start, uint64_t *end);

#endif

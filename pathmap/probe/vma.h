/*
 * vma.h - the mapping that an address is in.
 */
#ifndef FATHOM_PATHMAP_PROBE_VMA_H
#define FATHOM_PATHMAP_PROBE_VMA_H

#include <stdbool.h>
#include <stdint.h>

/* Asks the kernel: some microseconds. false: no mapping is there, or /proc is not. */
bool vma_find(uint64_t address, uint64_t *start, uint64_t *end);

#endif

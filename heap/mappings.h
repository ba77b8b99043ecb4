/*
 * mappings.h - the anonymous mappings that a program made, sampled or not: they can be unmapped in parts, at any
 * of their pages. For use in other programs: memory is fixed, and what does not fit is not tracked.
 */
#ifndef FATHOM_HEAP_MAPPINGS_H
#define FATHOM_HEAP_MAPPINGS_H

#include "heap/sampled.h"

/* weight 0: it is not sampled. Returns an identifier to use instead of its address, at which another mapping may
 * begin while this one still has an end; 0: no room. size: bytes, above 0. */
uint64_t mappings_add(uint64_t begin, uint64_t size, uint64_t weight);
/* Whether a mapping contains this address. */
bool mappings_have(uint64_t address);
/* Unmaps these bytes. Returns a sampled mapping of which none are left; call it again until the weight returned
 * is 0. */
struct sampled mappings_remove(uint64_t begin, uint64_t size);
/* Like sampled_fork_begins() and sampled_fork_ends(). */
void mappings_fork_begins(void);
void mappings_fork_ends(void);

#endif

/*
 * mappings.h - the anonymous mappings that a program made, sampled or not: they end in parts, at any of their pages. In what is loaded into other programs: its
 * memory is fixed, and what does not fit is not known.
 */
#ifndef FATHOM_HEAP_MAPPINGS_H
#define FATHOM_HEAP_MAPPINGS_H

#include "heap/sampled.h"

/* weight 0: it is not sampled. Returns what it is known by, in place of its address, at which another one may begin while this one has an end; 0: there is
 * no room. size: bytes, above 0. */
uint64_t mappings_add(uint64_t begin, uint64_t size, uint64_t weight);
/* Whether one has this address. */
bool mappings_have(uint64_t address);
/* These bytes are mapped no more. Returns a sampled one of which none are left, to be called again until its weight is 0. */
struct sampled mappings_remove(uint64_t begin, uint64_t size);
/* As sampled_fork_begins() and sampled_fork_ends(). */
void mappings_fork_begins(void);
void mappings_fork_ends(void);

#endif

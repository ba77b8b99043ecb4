/*
 * code_heights.h - the heights that a function can have on a main thread's stack as far as the binaries'
 * calls tell, where these are few (internal to infer/).
 *
 * main has one, as have the functions with which the loader begins: each chain of calls that leads to them
 * takes a known number of bytes. Where a call through a pointer can lead to a function or to any of those
 * that lead there, where they call each other in a circle, or from a frame of no fixed size, or where one
 * that nothing calls can be asked for by name, the heights are open: it can have others than are known.
 */
#ifndef FATHOM_INFER_BASES_CODE_HEIGHTS_H
#define FATHOM_INFER_BASES_CODE_HEIGHTS_H

#include "infer/statics/statics.h"

#define CODE_HEIGHTS_MAX 64u /* a function with more is taken for open */

struct code_heights;

/* statics (borrowed) were built for the trie, which has this many functions. NULL: out of memory. */
struct code_heights *code_heights_new(const struct statics *statics, uint32_t functions);
void code_heights_free(struct code_heights *heights);
/* The heights of a function of the trie, ascending, in bytes: how many; 0: open, or no path leads there.
 * -ENOMEM. *out lives as long as `heights`. */
int code_heights_of(struct code_heights *heights, uint32_t function, const uint32_t **out);

#endif

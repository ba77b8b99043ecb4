/*
 * code_heights.h - the heights that a function can have on a main thread's stack according to the binaries' calls, if there are
 * few (internal to infer/).
 *
 * main has one height, and so do the loader's first functions: each chain of calls to them takes a known number of bytes.
 * Heights are open (others are possible) if a call through a pointer can reach the function or any of its callers, if these
 * call each other in a cycle or from a frame without a fixed size, or if one without callers can be looked up by name.
 */
#ifndef FATHOM_INFER_BASES_CODE_HEIGHTS_H
#define FATHOM_INFER_BASES_CODE_HEIGHTS_H

#include "infer/statics/statics.h"

#define CODE_HEIGHTS_MAX 64u /* functions with more are assumed to be open */

struct code_heights;

/* statics (borrowed) must be built for the trie, which has this many functions. NULL: out of memory. */
struct code_heights *code_heights_new(const struct statics *statics, uint32_t functions);
void code_heights_free(struct code_heights *heights);
/* Sets *out to the heights of a function of the trie (ascending, in bytes; valid as long as `heights`) and returns their
 * number; 0 if they are open, or the function is unreachable or begins a stack itself; -ENOMEM. */
int code_heights_of(struct code_heights *heights, uint32_t function, const uint32_t **out);

#endif

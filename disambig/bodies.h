/*
 * bodies.h - the copies of functions, and the copy to which each caller's direct calls lead.
 *
 * A body is one copy of a function of a map. Copy 0 has the function's number in the map; the others are numbered
 * behind all functions, in the order in which they were made. All direct calls and jumps of one body to a
 * function lead to the same copy: which of the calls is made is no part of a path. Everything else leads to copy
 * 0. A new copy calls what the copied body calls at that time.
 */
#ifndef FATHOM_DISAMBIG_BODIES_H
#define FATHOM_DISAMBIG_BODIES_H

#include <stdbool.h>
#include <stdint.h>

struct bodies;

/* functions: number of functions in the map. NULL: out of memory. */
struct bodies *bodies_new(uint32_t functions);
/* A copy of the whole structure; NULL: out of memory. */
struct bodies *bodies_again(const struct bodies *bodies);
void bodies_free(struct bodies *bodies); /* NULL is allowed */

uint32_t bodies_count(const struct bodies *bodies);
uint32_t bodies_function(const struct bodies *bodies, uint32_t body);
/* The body's index among its function's copies. */
uint32_t bodies_copy(const struct bodies *bodies, uint32_t body);
/* The number of copies of the function; 1: only itself. */
uint32_t bodies_copies(const struct bodies *bodies, uint32_t function);
/* Makes another copy of the body's function; UINT32_MAX: out of memory. */
uint32_t bodies_add(struct bodies *bodies, uint32_t body);
/* From now on, calls by `caller` of the callee's function lead to `callee`. false: out of memory. */
bool bodies_lead(struct bodies *bodies, uint32_t caller, uint32_t callee);
/* The body to which direct calls of the function by `caller` lead. */
uint32_t bodies_callee(const struct bodies *bodies, uint32_t caller, uint32_t function);

#endif

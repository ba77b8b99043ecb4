/*
 * bodies.h - which copies functions have, and which copy each caller's direct calls lead to.
 *
 * A body is one copy of a function of a map. Copy 0 has the function's number in the map; the others are numbered behind them, in
 * the order in which they were made. All direct calls and jumps of one body to a function lead to the same copy: which of them is made is no
 * part of a path. All other ways lead to copy 0. A new copy calls what the body that it was made of calls then.
 */
#ifndef FATHOM_DISAMBIG_BODIES_H
#define FATHOM_DISAMBIG_BODIES_H

#include <stdbool.h>
#include <stdint.h>

struct bodies;

/* functions: of the map. NULL: out of memory. */
struct bodies *bodies_new(uint32_t functions);
/* The same bodies; NULL: out of memory. */
struct bodies *bodies_again(const struct bodies *bodies);
void bodies_free(struct bodies *bodies); /* NULL is allowed */

uint32_t bodies_count(const struct bodies *bodies);
uint32_t bodies_function(const struct bodies *bodies, uint32_t body);
/* Which copy of its function it is. */
uint32_t bodies_copy(const struct bodies *bodies, uint32_t body);
/* How many copies the function has; 1: none but itself. */
uint32_t bodies_copies(const struct bodies *bodies, uint32_t function);
/* A new copy of the body's function; UINT32_MAX: out of memory. */
uint32_t bodies_add(struct bodies *bodies, uint32_t body);
/* From now on, calls of the callee's function by `caller` lead to the callee. false: out of memory. */
bool bodies_lead(struct bodies *bodies, uint32_t caller, uint32_t callee);
/* The body that direct calls of the function by `caller` lead to. */
uint32_t bodies_callee(const struct bodies *bodies, uint32_t caller, uint32_t function);

#endif

/*
 * reach.h - at which heights each function can stand at all: the automaton's states that no path leads to are
 * told before they are looked into.
 *
 * One bit for every 8 bytes of height and every function, from the root inwards, as far as was asked so far.
 * Never says no where there is a path; says yes too often only for heights that are no multiple of 8, and
 * below frames of open size.
 */
#ifndef FATHOM_INFER_REACH_H
#define FATHOM_INFER_REACH_H

#include "infer/graph.h"

#define REACH_BYTES 65536u /* heights from there on are all taken for possible */

struct reach;

/* graph is borrowed. resort: calls through pointers and from open frames count, too. NULL: out of memory. */
struct reach *reach_new(const struct graph *graph, bool resort);
void reach_free(struct reach *reach);
/* Makes heights up to this one known. 0 or -ENOMEM. */
int reach_extend(struct reach *reach, uint32_t height);
/* Of a height that is known. */
bool reach_possible(const struct reach *reach, uint32_t function, uint32_t height);

#endif

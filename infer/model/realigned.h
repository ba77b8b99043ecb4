/*
 * realigned.h - paths through signal handlers at other heights than training saw them.
 *
 * The kernel stores the processor's state for a handler at addresses that are multiples of 64
 * (arch/x86/kernel/fpu/signal.c), so that a signal frame's size depends on where the stack begins: what is
 * below it is at one of a few heights, in each process at another.
 */
#ifndef FATHOM_INFER_MODEL_REALIGNED_H
#define FATHOM_INFER_MODEL_REALIGNED_H

#include "infer/model/automaton.h"

/* A node of the map, all of whose frames below its innermost signal frame are `by` bytes (modulo 2^32) higher. */
struct realigned {
    uint32_t node;
    uint32_t by;
};

/* Whether the map has any handler at all. */
bool realigned_any(const struct pathmap *map);
/* Paths to a CID that the map has only at a height in reach; at most max. Returns their number. */
size_t realigned_find(const struct pathmap *map, uint32_t function, uint32_t height, struct realigned *out,
                      size_t max);
/* How likely the node's function is to be on its path, at a certain one of these heights, when it is somewhere:
 * the same measure as struct automaton_answer's chance. */
double realigned_chance(const struct pathmap *map, uint32_t node);
/* The steps of such a path from the root inwards. Returns the depth, 0 if that is more than max. */
size_t realigned_path(const struct pathmap *map, struct realigned path, struct automaton_step *steps,
                      size_t max);

#endif

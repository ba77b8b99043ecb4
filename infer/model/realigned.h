/*
 * realigned.h - paths through signal handlers at other heights than in training.
 *
 * The kernel stores the processor's state for a handler at addresses that are multiples of 64 (arch/x86/kernel/fpu/signal.c).
 * So a signal frame's size depends on the address at which the stack begins, and everything below it has one of a few heights,
 * different in each process.
 */
#ifndef FATHOM_INFER_MODEL_REALIGNED_H
#define FATHOM_INFER_MODEL_REALIGNED_H

#include "infer/model/automaton.h"

/* A path like that of a map's node, but with all frames below its innermost signal frame `by` bytes (modulo 2^32) higher. */
struct realigned {
    uint32_t node;
    uint32_t by;
};

/* Whether the map has any handler at all. */
bool realigned_any(const struct pathmap *map);
/* Paths to a CID that the map has only at heights from which realignment leads to it; at most max. Returns their number. */
size_t realigned_find(const struct pathmap *map, uint32_t function, uint32_t height, struct realigned *out,
                      size_t max);
/* The probability that the node's function is on its path at a certain one of these heights, given that it is there: comparable
 * to struct automaton_answer's chance. */
double realigned_chance(const struct pathmap *map, uint32_t node);
/* The steps of such a path from the root inwards. Returns the depth; 0 if it is more than max. */
size_t realigned_path(const struct pathmap *map, struct realigned path, struct automaton_step *steps,
                      size_t max);

#endif

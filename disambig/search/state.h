/* state.h - what both searches work on: the pads so far, what they make precise, and when to stop. */
#ifndef FATHOM_DISAMBIG_SEARCH_STATE_H
#define FATHOM_DISAMBIG_SEARCH_STATE_H

#include "disambig/search/cells.h"
#include "disambig/search/deep_paths.h"

struct state {
    const struct search_problem *problem;
    struct units units;
    struct cells cells;
    struct deep_paths deep_paths;
    uint32_t *pads; /* by function */
    uint64_t steps;
    uint64_t random;   /* hash_random() */
    uint64_t deadline; /* clock_ns(); 0: none */
};

/* Gives a function another pad, which the stack must allow. */
void state_change(struct state *state, uint32_t function, uint32_t pad);
/* The share of the weight that is precise with the pads as they are. O(units). */
double state_precise(const struct state *state);
/* Whether steps or time are used up. */
bool state_over(const struct state *state);
/* Tells the progress and returns whether the target is reached. O(units): now and then. */
bool state_reached(const struct state *state);
/* Takes the pads back to those of `pads`. */
void state_restore(struct state *state, const uint32_t *pads);

/* The searches. They leave the best pads that they found. */
int search_by_gain(struct state *state, struct fathom_error *err);
int search_by_chance(struct state *state, struct fathom_error *err);

#endif

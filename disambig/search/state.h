/* state.h - the state of both searches: the current pads, what they make precise, and when to stop. */
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

/* Changes a function's pad; the stack must allow it. */
void state_change(struct state *state, uint32_t function, uint32_t pad);
/* The share of the weight that is precise with the current pads. O(units). */
double state_precise(const struct state *state);
/* Whether steps or time are used up. */
bool state_over(const struct state *state);
/* Reports the progress, and returns whether the target is reached. O(units): call it from time to time. */
bool state_reached(const struct state *state);
/* Resets the pads to `pads`. */
void state_restore(struct state *state, const uint32_t *pads);

/* The searches. They leave the best pads found in the state. */
int search_by_gain(struct state *state, struct fathom_error *err);
int search_by_chance(struct state *state, struct fathom_error *err);

#endif

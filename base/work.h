/*
 * work.h - limits the work for an answer, counted in steps and never in time: the same input gives the same
 * answer on every machine. A step is about the cost of looking at one node, some 20 ns.
 */
#ifndef FATHOM_BASE_WORK_H
#define FATHOM_BASE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work {
    uint64_t left;
};

/* Takes `steps` steps; NULL is unlimited. false: there were fewer left, and now none are. */
static inline bool work_take(struct work *work, uint64_t steps)
{
    bool enough = !work || steps <= work->left;
    if (work)
        work->left = enough ? work->left - steps : 0;
    return enough;
}

static inline bool work_is_done(const struct work *work)
{
    return work && work->left == 0;
}

/* Splits off at most `steps` steps, to be done separately: work_give_back() returns the unused ones. */
static inline struct work work_part(struct work *work, uint64_t steps)
{
    struct work part = {work ? (steps < work->left ? steps : work->left) : UINT64_MAX};
    if (work)
        work->left -= part.left;
    return part;
}

static inline void work_give_back(struct work *work, const struct work *part)
{
    if (work)
        work->left += part->left;
}

#endif

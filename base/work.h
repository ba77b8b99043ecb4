/*
 * work.h - how much may be done for an answer, counted in steps and never in time: one input gives one answer on every
 * machine. A step is about as much as looking at one node, some 20 ns.
 */
#ifndef FATHOM_BASE_WORK_H
#define FATHOM_BASE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work {
    uint64_t left;
};

/* Takes so many steps, of a NULL one without end. false: there were not as many left, and are none now. */
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

/* So many steps of it, at most, to be done apart: work_give_back() returns what is left of them. */
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

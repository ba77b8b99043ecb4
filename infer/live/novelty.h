/*
 * novelty.h - how much of what is being recorded is new: the share of the latest samples whose CID (infer/samples/cid.h) no
 * stack dump has had yet. It is the probability that a dump taken now shows something new, as a clock's dumps fall where
 * samples do. (The Good-Turing estimate, the share of CIDs seen once, says the same about CIDs that the samples have not seen;
 * here it is known which CIDs the dumps have seen.)
 *
 * A sample without a CID is not counted: no dump would help it. A dump that was cut off before the stack's base does not count.
 */
#ifndef FATHOM_INFER_LIVE_NOVELTY_H
#define FATHOM_INFER_LIVE_NOVELTY_H

#include "perfdata/record.h"

#define NOVELTY_SIZES 2

struct novelty;

struct novelty_input {
    const struct event *events; /* borrowed */
    size_t count;
    uint32_t sizes[NOVELTY_SIZES]; /* bytes of a dump, ascending */
    size_t size_count;             /* at least 1 */
};

struct novelty_shares {
    uint64_t samples; /* counted so far; 0: all shares are 0 */
    /* Of all samples with a CID: those that are new, with a stack that fits into a dump of this size but not into a smaller one
     * (for the largest: or into none). */
    double shares[NOVELTY_SIZES];
};

/* Starts a thread. */
int novelty_start(const struct novelty_input *input, struct novelty **out, struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int novelty_add(struct novelty *novelty, const void *records, size_t size, struct fathom_error *err);
void novelty_shares(struct novelty *novelty, struct novelty_shares *out);
void novelty_stop(struct novelty *novelty); /* NULL is allowed */

#endif

/*
 * novelty.h - how much of what is being recorded is new: the share of the latest samples whose CID (infer/samples/cid.h)
 * has not been read by any stack dump yet. It is the probability that a dump taken now reads something new, as dumps by
 * a clock fall where samples do. (Good and Turing's estimate, the share of CIDs seen once, says the same of CIDs that
 * the samples themselves have not met; here it is known which of them the dumps have met.)
 *
 * A sample without a CID is not counted: no dump would help it. A dump that was cut off before the stack's base does
 * not count as read.
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
    /* Of all samples with a CID: those that are new, and whose stack fits into a dump of this size but not into a
     * smaller one (for the largest: or in none). */
    double shares[NOVELTY_SIZES];
};

/* Starts a thread. */
int novelty_start(const struct novelty_input *input, struct novelty **out, struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int novelty_add(struct novelty *novelty, const void *records, size_t size, struct fathom_error *err);
void novelty_shares(struct novelty *novelty, struct novelty_shares *out);
void novelty_stop(struct novelty *novelty); /* NULL is allowed */

#endif

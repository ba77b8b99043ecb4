/*
 * news.h - how much of what is being recorded is news: the share of the latest samples whose CID (infer/samples/cid.h)
 * has not been read by any stack dump yet. It is the probability that a dump taken now reads something new, as dumps by
 * a clock fall where samples do. (Good and Turing's estimate, the share of CIDs seen once, says the same of CIDs that
 * the samples themselves have not met; here it is known which of them the dumps have met.)
 *
 * A sample without a CID is not counted: no dump would help it. A dump that was cut off before the stack's base does
 * not count as read.
 */
#ifndef FATHOM_INFER_LIVE_NEWS_H
#define FATHOM_INFER_LIVE_NEWS_H

#include "perfdata/record.h"

#define NEWS_SIZES 2

struct news;

struct news_input {
    const struct event *events; /* borrowed */
    size_t count;
    uint32_t sizes[NEWS_SIZES]; /* bytes of a dump, ascending */
    size_t size_count;          /* at least 1 */
};

struct news_shares {
    uint64_t samples; /* counted so far; 0: all shares are 0 */
    /* Of all samples with a CID: those that are news, and whose stack fits into a dump of this size but not into a
     * smaller one (for the largest: or in none). */
    double shares[NEWS_SIZES];
};

/* Starts a thread. */
int news_start(const struct news_input *input, struct news **out, struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int news_add(struct news *news, const void *records, size_t size, struct fathom_error *err);
void news_shares(struct news *news, struct news_shares *out);
void news_stop(struct news *news); /* NULL is allowed */

#endif

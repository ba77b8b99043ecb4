/*
 * spans.h - chooses which parts of a query's time are read from roll-ups, and which from slots. Private to
 * store/. A roll-up is the sum of an hour's or a day's batches (UTC) of one service, event, host, build and
 * unit. It replaces them only if the whole period is asked for, and while it is clean: each engine knows
 * which roll-ups were made of exactly the batches that it has.
 */
#ifndef FATHOM_STORE_SPANS_H
#define FATHOM_STORE_SPANS_H

#include "store/store.h"

#define HOUR 3600u /* seconds */
#define DAY  86400u

struct span {
    uint64_t from, to; /* for slots, or periods, that begin in [from, to) */
    uint32_t length;   /* of the periods, in seconds; 0: slots */
};

/* Zeroed except for the query. */
struct spans {
    const struct store_query *query;
    struct span *at; /* in time order */
    size_t count, capacity;
};

void spans_clear(struct spans *spans);
/* Adds periods with a clean roll-up, in order of their beginning, the longer first; those not completely
 * asked for are not used. -ENOMEM. */
int spans_add(struct spans *spans, uint32_t length, uint64_t begin);
/* Afterwards: covers the remaining time with slots. -ENOMEM. */
int spans_end(struct spans *spans);

#endif

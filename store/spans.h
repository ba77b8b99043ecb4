/*
 * spans.h - which parts of a query's time are read from roll-ups, and which from slots. Private to store/.
 *
 * A roll-up is the sum of an hour's or a day's batches (UTC) of one service, event, host, build and unit. It stands for them only where
 * all of the period is asked for, and while it is clean: each engine knows which are made of the very batches that it has.
 */
#ifndef FATHOM_STORE_SPANS_H
#define FATHOM_STORE_SPANS_H

#include "store/store.h"

#define HOUR 3600u /* seconds */
#define DAY  86400u

struct span {
    uint64_t from, to; /* slots, or periods, that begin in it */
    uint32_t length;   /* of the periods, in seconds; 0: slots */
};

/* Zeroed but for the query. */
struct spans {
    const struct store_query *query;
    struct span *at; /* in the order of time */
    size_t count, capacity;
};

void spans_clear(struct spans *spans);
/* Of what has a clean roll-up, by its beginning, the longer first; what is not wholly asked for is not used. -ENOMEM. */
int spans_add(struct spans *spans, uint32_t length, uint64_t begin);
/* Then: what is left is of slots. -ENOMEM. */
int spans_end(struct spans *spans);

#endif

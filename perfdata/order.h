/*
 * order.h - puts records of several ring buffers into order of time.
 *
 * Every CPU's ring is in order of time, the file is not. A round is one turn of draining all rings; after a
 * round, all records not younger than the youngest of the round before can go out
 * (tools/perf/util/ordered-events.c).
 */
#ifndef FATHOM_PERFDATA_ORDER_H
#define FATHOM_PERFDATA_ORDER_H

#include "perfdata/record.h"

struct order;

/* Called for each record in order of time. A negative return ends the delivery and is handed through. */
typedef int order_sink(void *context, const struct record *record, struct fathom_error *err);

/* decoder and log are borrowed. copy: record bytes are copied on push (a live ring, whose bytes go away);
 * otherwise they must stay until delivered (a mapped file). */
struct order *order_new(const struct decoder *decoder, bool copy, order_sink *sink, void *context);
void order_free(struct order *order);
/* One raw record. A record without time goes out at once, after the queue's records before it are... in file
 * order with the synthesised ones that start a file. */
int order_push(struct order *order, const void *data, size_t size, struct fathom_error *err);
int order_round(struct order *order, struct fathom_error *err); /* FINISHED_ROUND */
int order_flush(struct order *order, struct fathom_error *err); /* the end: all that is left */

#endif

/*
 * order.h - puts records of several ring buffers into order of time.
 *
 * Every CPU's ring is in order of time, the file is not. A round is one turn of draining all rings; after a
 * round, all records not younger than the youngest of the round before can go out
 * (tools/perf/util/ordered-events.c). Records of the same time keep the order in which they were pushed.
 *
 * A record without time (synthesised ones, time 0; perf's own types from 64 on) is not queued: it is
 * delivered from within order_push(), ahead of whatever waits in the queue. So the synthesised COMM and MMAP2
 * records that start a file come before its samples, and a file whose events record no time is delivered as
 * it stands.
 */
#ifndef FATHOM_PERFDATA_ORDER_H
#define FATHOM_PERFDATA_ORDER_H

#include "perfdata/record.h"

struct order;

/* Called for each record in order of time. A negative return ends the delivery and is handed through; records
 * that were not delivered by then stay queued. */
typedef int order_sink(void *context, const struct record *record, struct fathom_error *err);

/* decoder is borrowed. copy: record bytes are copied on push (a live ring, whose bytes go away); otherwise
 * they must stay until delivered (a mapped file). NULL: out of memory. */
struct order *order_new(const struct decoder *decoder, bool copy, order_sink *sink, void *context);
void order_free(struct order *order); /* NULL is allowed */
/* One raw record, header included; size is the one in its header. One that is not 8-byte aligned is
 * copied. */
int order_push(struct order *order, const void *data, size_t size, struct fathom_error *err);
/* The same for a record whose bytes go away, whatever order_new() was told. */
int order_push_copy(struct order *order, const void *data, size_t size, struct fathom_error *err);
int order_round(struct order *order, struct fathom_error *err); /* FINISHED_ROUND */
int order_flush(struct order *order, struct fathom_error *err); /* the end: all that is left */
/* Records that could not be decoded and were left out. */
uint64_t order_damaged(const struct order *order);

#endif

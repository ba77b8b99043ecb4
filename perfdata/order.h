/*
 * order.h - sorts records from several ring buffers by time.
 *
 * Every CPU's ring is in time order, the file is not. A round is one pass of draining all rings; after a
 * round, all records not younger than the youngest of the previous round can be delivered
 * (tools/perf/util/ordered-events.c). Records with equal times keep the order in which they were pushed.
 *
 * A record without time (synthesised ones, time 0; perf's own types from 64 on) is not queued: it is
 * delivered from within order_push(), ahead of the queue. So the synthesised COMM and MMAP2 records at the
 * start of a file come before its samples, and a file whose events record no time is delivered in file order.
 */
#ifndef FATHOM_PERFDATA_ORDER_H
#define FATHOM_PERFDATA_ORDER_H

#include "perfdata/record.h"

struct order;

/* Called for each record in time order. A negative result ends the delivery and is returned; undelivered
 * records stay queued. */
typedef int order_sink(void *context, const struct record *record, struct fathom_error *err);

/* decoder is borrowed. copy: record bytes are copied on push (a live ring, whose bytes are reused); otherwise
 * they must remain valid until delivered (a mapped file). NULL: out of memory. */
struct order *order_new(const struct decoder *decoder, bool copy, order_sink *sink, void *context);
void order_free(struct order *order); /* NULL is allowed */
/* Pushes one raw record, header included; size is the one in its header. Records that are not aligned to 8 bytes are copied. */
int order_push(struct order *order, const void *data, size_t size, struct fathom_error *err);
/* The same, but always copies the record. */
int order_push_copy(struct order *order, const void *data, size_t size, struct fathom_error *err);
/* Pushes whole raw records, including FINISHED_ROUND ones, as a collector passes them on. */
int order_push_all(void *order, const void *records, size_t size, struct fathom_error *err);
int order_round(struct order *order, struct fathom_error *err); /* FINISHED_ROUND */
int order_flush(struct order *order, struct fathom_error *err); /* the end: delivers all that is left */
/* Number of records that could not be decoded and were skipped. */
uint64_t order_damaged(const struct order *order);

#endif

/*
 * fed_rings.h - the kernel's side of ring buffers, for live code that is to have records of a recording: the collector's
 * counters.h and stackbase.h as far as draining needs them, over rings that fed_rings_put() fills.
 *
 * A record that does not fit is lost, as in kernel/events/ring_buffer.c: a LOST record tells how many, ahead of the next
 * one that fits.
 */
#ifndef FATHOM_TESTS_COLLECTOR_FED_RINGS_H
#define FATHOM_TESTS_COLLECTOR_FED_RINGS_H

#include "collector/rings/counters.h"

/* events: with their IDs; borrowed. trailer_size: of records that are no samples, bytes. NULL: failed. */
struct counters *fed_rings_new(const struct event *events, size_t count, size_t rings, size_t ring_bytes,
                               size_t trailer_size);
void fed_rings_free(struct counters *counters);
void fed_rings_put(struct counters *counters, size_t ring, const void *record, size_t size);

#endif

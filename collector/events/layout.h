/*
 * layout.h - locates the fields of our own samples and trims their stack dumps (perf_event_open(2),
 * PERF_RECORD_SAMPLE: fields have a fixed order).
 *
 * Only for the layouts that event.c makes: IDENTIFIER, IP, TID and TIME always come first.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_LAYOUT_H
#define FATHOM_COLLECTOR_EVENTS_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layout_sample {
    uint64_t id, ip, time;
    uint32_t pid, tid;
    uint64_t sp;         /* of the user registers, if any: the dump starts there; 0: none */
    size_t dump;         /* offset of the dump's size field; 0: no dump */
    uint64_t dump_bytes; /* that field */
    uint64_t dump_valid; /* dyn_size: bytes of it that were copied */
};

/* Reads a whole sample record of an event with this attr. false: it is too small for its fields. */
bool layout_sample(const struct perf_event_attr *attr, const void *record, size_t size,
                   struct layout_sample *out);
/* Reads only the id, which comes first, to find the attr. */
bool layout_sample_id(const void *record, size_t size, uint64_t *id);
/* Trims the dump of a record in place to `valid` bytes (at most dump_valid), padded to 8; returns the
 * record's new size. */
size_t layout_cut_dump(void *record, size_t size, const struct layout_sample *sample, uint64_t valid);
/* The time in the trailer of a record other than a sample: pid, tid, time, id (sideband.h). */
uint64_t layout_trailer_time(const void *record, size_t size);

#endif

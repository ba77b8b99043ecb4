/*
 * layout.h - private to perfdata/: where the fields of each event's records are, computed once from its attr, so that decoding
 * does no arithmetic on attrs.
 *
 * Offsets count from the record's first byte (its header), "back" offsets from the byte after its end: the trailer that
 * sample_id_all appends to records other than samples ends there.
 */
#ifndef FATHOM_PERFDATA_LAYOUT_H
#define FATHOM_PERFDATA_LAYOUT_H

#include <string.h>

#include "base/hash.h"
#include "perfdata/heap_event.h"
#include "perfdata/record.h"
#include "perfdata/weight_field.h"

#define RECORD_HEADER_SIZE 8         /* sizeof(struct perf_event_header) */
#define MISC_BUILD_ID_SIZE (1 << 15) /* in an entry of HEADER_BUILD_ID: the build-id's size follows it */
#define RECORD_SIZE_MAX    65535

struct register_places { /* of one register dump */
    uint8_t count;       /* number of registers in it */
    int8_t sp, ip, bp;   /* indices into it; -1: not recorded */
    uint64_t mask;       /* bits of the registers' numbers */
};

struct layout {
    uint64_t sample_type, read_format;
    uint16_t fixed_size;   /* bytes of IDENTIFIER to PERIOD, fields of fixed size */
    uint16_t time_at;      /* TIME in samples; 0: none */
    uint16_t time_back;    /* TIME in trailers; 0: none */
    uint16_t tid_back;     /* TID in trailers; 0: none */
    uint16_t trailer_size; /* 0: records have none */
    bool branch_index, branch_counters;
    bool precise; /* PEBS at level 2 or 3: registers are those after the instruction of an exact IP */
    /* an exact IP comes from AMD's IBS: registers are those at the interrupt, whose IP begins the chain */
    bool ibs;
    struct register_places user, intr;
    uint64_t default_period;
    struct weight_field weight; /* what a sample weighs, times the period */
    bool waits, wakeups;        /* attr_is_waits(), attr_is_wakeups() */
    enum heap_event heap;
    double heap_mean;    /* for HEAP_ENTERED, bytes */
    uint64_t stack_size; /* requested bytes of each dump */
};

struct decoder {
    struct layout *layouts; /* one for each event */
    uint32_t *named;        /* by event: the first event with its name */
    size_t count;
    struct record empty_sample; /* the initial value of a sample */
    struct table *by_id;        /* event ID -> index; NULL: one event, no look-up needed */
    uint16_t id_at;             /* ID in samples */
    uint16_t id_back;           /* ID in trailers */
    /* all events have the same time_at and time_back, so no look-up is needed for the time */
    bool same_time;
    uint16_t time_at, time_back; /* these values */
};

static inline uint16_t load_u16(const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline uint32_t load_u32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline uint64_t load_u64(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* Fills layout from an event's attr. */
void layout_of(const struct perf_event_attr *attr, struct layout *layout);

/* The index of the event that a sample belongs to; -1: its ID is unknown or missing. */
static inline int64_t decoder_event(const struct decoder *decoder, const uint8_t *data, size_t size)
{
    if (!decoder->by_id)
        return 0;
    if ((size_t)decoder->id_at + 8 > size)
        return -1;
    const uint64_t *index = table_find(decoder->by_id, load_u64(data + decoder->id_at));
    return index ? (int64_t)*index : -1;
}

/* Like decoder_decode(), but decodes in place, which is faster: *out is undefined on failure. */
int decoder_fill(const struct decoder *decoder, const uint8_t *data, size_t size, struct record *out,
                 struct fathom_error *err);

/* Decodes one PERF_RECORD_SAMPLE; out->sample is zeroed on entry. false: it is too small for its fields. */
bool sample_decode(const struct layout *layout, const uint8_t *data, size_t size, struct sample *out);

#endif

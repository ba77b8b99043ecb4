/* drain.c - from the rings to the sink; see drain.h. */
#include "collector/drain.h"

#include <errno.h>
#include <string.h>

#include "collector/layout.h"

#define RELEASE_BYTES (64u << 10) /* give this much back to the kernel at a time */

/* The record types whose first fields we read (include/uapi/linux/perf_event.h). */
struct fork_record {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};
struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};
struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};
struct lost_samples_record {
    struct perf_event_header header;
    uint64_t lost;
};

/* Copies the record's start into *to; false when it is shorter. */
static bool view(const void *record, size_t size, void *to, size_t want)
{
    if (size < want)
        return false;
    memcpy(to, record, want);
    return true;
}

static int pass_on(const struct drain *drain, const void *record, size_t size, uint8_t **copy,
                   struct fathom_error *err)
{
    int rc = 0;
    *copy = batch_reserve(drain->to->batch, size, &rc, err);
    if (*copy)
        memcpy(*copy, record, size);
    return rc;
}

static int take_sample(const struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    uint64_t id, base = 0;
    struct layout_sample sample = {0};
    size_t event = drain->event_count;
    if (layout_sample_id(record, size, &id))
        event = counters_event(drain->counters, id);
    if (event < drain->event_count) {
        if (drain->events[event].audit)
            drain->summary->audit_samples++;
        else
            drain->summary->samples++;
        if (!layout_sample(&drain->events[event].attr, record, size, &sample))
            sample = (struct layout_sample){0}; /* passed on as it is: the reader will count it as damaged */
    }
    int rc = 0;
    if (sample.sp)
        rc = stackbases_sample(drain->bases, (pid_t)sample.pid, (pid_t)sample.tid, sample.time, sample.sp,
                               drain->to, &base, err);
    uint8_t *copy;
    if (rc == 0)
        rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    if (sample.dump) {
        uint64_t valid = sample.dump_valid;
        if (base > sample.sp && base - sample.sp < valid)
            valid = base - sample.sp;
        size = layout_cut_dump(copy, size, &sample, valid);
    }
    batch_commit(drain->to->batch, size);
    return 0;
}

/* Any record but a sample. What must follow it (a stack of an exec) goes behind it. */
static int take_other(const struct drain *drain, const void *record, size_t size, uint32_t type,
                      uint16_t misc, struct fathom_error *err)
{
    union {
        struct fork_record fork;
        struct comm_record comm;
        struct lost_record lost;
        struct lost_samples_record lost_samples;
    } r;
    uint8_t *copy;
    int rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    batch_commit(drain->to->batch, size);
    switch (type) {
    case PERF_RECORD_FORK:
        if (view(record, size, &r.fork, sizeof r.fork))
            return stackbases_fork(drain->bases, (pid_t)r.fork.pid, (pid_t)r.fork.tid, (pid_t)r.fork.ptid,
                                   r.fork.time, err);
        break;
    case PERF_RECORD_COMM:
        if (misc & PERF_RECORD_MISC_COMM_EXEC && view(record, size, &r.comm, sizeof r.comm))
            return stackbases_exec(drain->bases, (pid_t)r.comm.pid, layout_trailer_time(record, size),
                                   drain->to, err);
        break;
    case PERF_RECORD_LOST:
        if (view(record, size, &r.lost, sizeof r.lost))
            drain->summary->lost += r.lost.lost;
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (view(record, size, &r.lost_samples, sizeof r.lost_samples))
            drain->summary->lost += r.lost_samples.lost;
        break;
    case PERF_RECORD_THROTTLE:
        drain->summary->throttled++;
        break;
    default:
        break;
    }
    return 0;
}

/* The record at a position, whole and in one piece; NULL: damaged, which the kernel never writes. */
static const struct perf_event_header *record_at(const struct ring *ring, uint64_t at, uint64_t head,
                                                 void *scratch)
{
    /* Records are multiples of 8 bytes, and so is the ring: a header never goes around its end. */
    const struct perf_event_header *header = ring_view(ring, at, sizeof *header, scratch);
    size_t size = header->size;
    if (size < sizeof *header || size % 8 || size > head - at)
        return NULL;
    return ring_view(ring, at, size, scratch);
}

static int drain_ring(const struct drain *drain, struct ring *ring, uint64_t head, void *scratch,
                      struct fathom_error *err)
{
    uint64_t at = ring->tail;
    int rc = 0;
    while (rc == 0 && at < head) {
        const struct perf_event_header *header = record_at(ring, at, head, scratch);
        if (!header) {
            ring_release(ring, head);
            return error_set(err, EBADMSG, "the kernel's ring buffer holds a damaged record");
        }
        size_t size = header->size;
        rc = header->type == PERF_RECORD_SAMPLE
                 ? take_sample(drain, header, size, err)
                 : take_other(drain, header, size, header->type, header->misc, err);
        at += size;
        if (at - ring->tail >= RELEASE_BYTES)
            ring_release(ring, at);
    }
    ring_release(ring, at);
    return rc;
}

/* The time of the ring's first record, ns. */
static uint64_t first_time(const struct drain *drain, const struct ring *ring, uint64_t head, void *scratch)
{
    const struct perf_event_header *header = record_at(ring, ring->tail, head, scratch);
    uint64_t id;
    struct layout_sample sample;
    if (!header)
        return 0;
    if (header->type != PERF_RECORD_SAMPLE)
        return layout_trailer_time(header, header->size);
    size_t event = layout_sample_id(header, header->size, &id) ? counters_event(drain->counters, id)
                                                               : drain->event_count;
    if (event == drain->event_count ||
        !layout_sample(&drain->events[event].attr, header, header->size, &sample))
        return 0;
    return sample.time;
}

int drain_round(const struct drain *drain, bool *any, struct fathom_error *err)
{
    struct ring *rings;
    size_t count = counters_rings(drain->counters, &rings);
    uint64_t scratch[(1 << 16) / 8], floor = UINT64_MAX;
    bool found = false;
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t head = rings[i].page ? ring_head(&rings[i]) : rings[i].tail;
        if (head == rings[i].tail)
            continue;
        uint64_t time = first_time(drain, &rings[i], head, scratch);
        floor = time < floor ? time : floor;
        found = true;
    }
    stackbases_round(drain->bases, found ? floor : 0);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (rings[i].page)
            rc = drain_ring(drain, &rings[i], ring_head(&rings[i]), scratch, err);
    if (rc == 0 && found)
        rc = sideband_round(drain->to, err);
    if (rc == 0)
        rc = batch_flush(drain->to->batch, err);
    if (any)
        *any = found;
    return rc;
}

/*
 * record.c - decodes a raw record into a struct record: its kind, thread and time.
 */
#include "perfdata/record.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "perfdata/layout.h"

#define USER_TYPE_START 64 /* types from this on are perf's own records, without trailer */
/* LOST_SAMPLES of samples that a BPF filter dropped: intended, not lost. */
#define MISC_LOST_SAMPLES_BPF (1 << 15)

/* The index of the event whose trailer layout a record has. Synthesised records have ID 0 and the first event's layout. */
static size_t trailer_event(const struct decoder *decoder, const uint8_t *data, size_t size)
{
    if (!decoder->by_id || !decoder->id_back || (size_t)decoder->id_back + RECORD_HEADER_SIZE > size)
        return 0;
    const uint64_t *index = table_find(decoder->by_id, load_u64(data + size - decoder->id_back));
    return index ? *index : 0;
}

static const struct layout *trailer_layout(const struct decoder *decoder, const uint8_t *data, size_t size)
{
    return &decoder->layouts[trailer_event(decoder, data, size)];
}

uint64_t decoder_time(const struct decoder *decoder, const void *record, size_t size)
{
    const uint8_t *data = record;
    if (size < RECORD_HEADER_SIZE)
        return 0;
    uint32_t type = load_u32(data);
    if (type == PERF_RECORD_SAMPLE) {
        uint16_t at = decoder->time_at;
        if (!decoder->same_time) {
            int64_t event = decoder_event(decoder, data, size);
            at = event < 0 ? 0 : decoder->layouts[event].time_at;
        }
        return at && (size_t)at + 8 <= size ? load_u64(data + at) : 0;
    }
    if (type >= USER_TYPE_START)
        return 0;
    uint16_t back = decoder->same_time ? decoder->time_back : trailer_layout(decoder, data, size)->time_back;
    return back && (size_t)back + RECORD_HEADER_SIZE <= size ? load_u64(data + size - back) : 0;
}

static void decode_mmap(struct bytes *body, uint16_t misc, struct record *out)
{
    out->pid = bytes_u32(body);
    out->tid = bytes_u32(body);
    out->mmap = (struct record_mmap){0};
    out->mmap.address = bytes_u64(body);
    out->mmap.length = bytes_u64(body);
    out->mmap.offset = bytes_u64(body);
    if (out->type == PERF_RECORD_MMAP2) {
        const uint8_t *identity = bytes_take(body, 24); /* build-id, or device and inode */
        if (identity && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
            out->mmap.build_id_size = identity[0];
            if (identity[0] <= sizeof out->mmap.build_id)
                memcpy(out->mmap.build_id, identity + 4, identity[0]);
            else
                body->failed = true;
        } else if (identity) {
            out->mmap.device = (uint64_t)load_u32(identity) << 32 | load_u32(identity + 4);
            out->mmap.inode = load_u64(identity + 8);
            out->mmap.generation = load_u64(identity + 16);
        }
        out->mmap.executable = bytes_u32(body) & PROT_EXEC;
        bytes_u32(body); /* flags */
    } else {
        out->mmap.executable = !(misc & PERF_RECORD_MISC_MMAP_DATA);
    }
    out->mmap.path = bytes_string(body);
}

static void decode_fork(struct bytes *body, struct record *out)
{
    out->pid = bytes_u32(body);
    out->fork.parent_pid = bytes_u32(body);
    out->tid = bytes_u32(body);
    out->fork.parent_tid = bytes_u32(body);
    uint64_t time = bytes_u64(body);
    if (!out->time)
        out->time = time;
}

#define TIMES ((uint64_t)PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* Ignores the records that the kernel writes at a thread's end (inherit_stat). */
static void decode_read(struct bytes *body, uint64_t format, struct record *out)
{
    uint32_t pid = bytes_u32(body), tid = bytes_u32(body);
    if (pid || tid || format & PERF_FORMAT_GROUP || (format & TIMES) != TIMES)
        return;
    out->kind = RECORD_TOTALS;
    out->totals.value = bytes_u64(body);
    out->totals.enabled = bytes_u64(body);
    out->totals.running = bytes_u64(body);
}

/* Decodes records other than samples; out->type is set. format: the event's read_format. */
static void decode_other(struct bytes *body, uint16_t misc, uint64_t format, struct record *out)
{
    switch (out->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        out->kind = RECORD_MMAP;
        decode_mmap(body, misc, out);
        break;
    case PERF_RECORD_COMM:
        out->kind = RECORD_COMM;
        out->pid = bytes_u32(body);
        out->tid = bytes_u32(body);
        out->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
        out->comm.name = bytes_string(body);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        out->kind = out->type == PERF_RECORD_FORK ? RECORD_FORK : RECORD_EXIT;
        decode_fork(body, out);
        break;
    case PERF_RECORD_CGROUP:
        out->kind = RECORD_CGROUP;
        out->cgroup.id = bytes_u64(body);
        out->cgroup.path = bytes_string(body);
        break;
    case PERF_RECORD_LOST:
        bytes_u64(body); /* ID */
        out->kind = RECORD_LOST;
        out->lost = bytes_u64(body);
        break;
    case PERF_RECORD_READ:
        decode_read(body, format, out);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (!(misc & MISC_LOST_SAMPLES_BPF)) {
            out->kind = RECORD_LOST;
            out->lost = bytes_u64(body);
        }
        break;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
        out->kind = out->type == PERF_RECORD_THROTTLE ? RECORD_THROTTLE : RECORD_UNTHROTTLE;
        if (!bytes_take(body, 24)) /* time, ID, stream ID */
            break;
        if (!out->time)
            out->time = load_u64(body->at - 24);
        break;
    default:
        break;
    }
}

static int damaged_record(uint32_t type, size_t size, struct fathom_error *err)
{
    return error_set(err, EBADMSG, "damaged record: type %u, %zu bytes", type, size);
}

static int decode_sample(const struct decoder *decoder, const uint8_t *data, size_t size, struct record *out,
                         struct fathom_error *err)
{
    int64_t event = decoder_event(decoder, data, size);
    if (event < 0)
        return error_set(err, EBADMSG, "a sample has an event ID that this recording does not have");
    *out = decoder->empty_sample;
    if (!sample_decode(&decoder->layouts[event], data, size, &out->sample))
        return damaged_record(PERF_RECORD_SAMPLE, size, err);
    out->sample.event = decoder->named[event];
    out->pid = out->sample.pid;
    out->tid = out->sample.tid;
    out->time = out->sample.time;
    return 0;
}

int decoder_fill(const struct decoder *decoder, const uint8_t *data, size_t size, struct record *out,
                 struct fathom_error *err)
{
    if (size < RECORD_HEADER_SIZE || size > RECORD_SIZE_MAX)
        return error_set(err, EBADMSG, "invalid record size: %zu bytes", size);
    uint32_t type = load_u32(data);
    uint16_t misc = load_u16(data + 4);
    if (type == PERF_RECORD_SAMPLE)
        return decode_sample(decoder, data, size, out, err);

    *out = (struct record){.kind = RECORD_OTHER, .type = type};
    if (type >= USER_TYPE_START)
        return 0;
    const struct layout *layout = trailer_layout(decoder, data, size);
    const uint8_t *end = data + size;
    if (size < RECORD_HEADER_SIZE + (size_t)layout->trailer_size)
        return damaged_record(type, size, err);
    if (layout->time_back)
        out->time = load_u64(end - layout->time_back);
    if (layout->tid_back) {
        out->pid = load_u32(end - layout->tid_back);
        out->tid = load_u32(end - layout->tid_back + 4);
    }
    struct bytes body = bytes_of(data + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE - layout->trailer_size);
    decode_other(&body, misc, layout->read_format, out);
    if (out->kind == RECORD_TOTALS)
        out->totals.event = decoder->named[trailer_event(decoder, data, size)];
    return body.failed ? damaged_record(type, size, err) : 0;
}

int decoder_decode(const struct decoder *decoder, const void *data, size_t size, struct record *out,
                   struct fathom_error *err)
{
    struct record record;
    int rc = decoder_fill(decoder, data, size, &record, err);
    if (rc == 0)
        *out = record;
    return rc;
}

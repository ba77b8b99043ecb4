/*
 * repeat_recording.c - makes a long recording of a short one, for benchmarks: "repeat_recording IN OUT
 * SAMPLES" or "repeat_recording IN OUT xTIMES".
 *
 * IN is a file by `fathom record`, neither compressed nor by perf: all its events have IDENTIFIER, TID and TIME.
 *
 * SAMPLES: its 72-byte samples are written over and over with later times, in rounds of 10,000, until there are
 * SAMPLES of them; all other records are copied once, but for exits.
 *
 * xTIMES: everything that happened while it was recorded happens TIMES times, one after the other. Processes and threads that
 * were started meanwhile are other ones each time; by their numbers some take another's place in walks.h that they did not when
 * recorded, so that of many processes one stack in a hundred is not known.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "perfdata/format.h"
#include "perfdata/layout.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#define SAMPLE_BYTES 72
#define TID_OFFSET   24 /* in a sample: header, IDENTIFIER, IP */
#define TIME_OFFSET  32
#define TRAILER      24 /* of other records: TID, TIME, IDENTIFIER */
#define NAME_OFFSET  72 /* in an MMAP2 record */
#define ROUND        10000

struct recording {
    const uint8_t *records, *end;
    struct writer *writer;
    const char *out;
};

static void die(const char *what, const struct fathom_error *err)
{
    fprintf(stderr, "repeat_recording: %s: %s\n", what, err->text);
    exit(1);
}

static void append(const struct recording *to, const uint8_t *record)
{
    struct fathom_error err = {0};
    if (writer_append(to->writer, record, load_u16(record + 6), &err) < 0)
        die(to->out, &err);
}

/* SAMPLES ------------------------------------------------------------------------------------------------------ */

struct samples {
    uint8_t *bytes;
    size_t count, room;
    uint64_t last_time;
};

static void keep(struct samples *samples, const uint8_t *record)
{
    if (samples->count == samples->room) {
        samples->room = samples->room ? samples->room * 2 : 1024;
        samples->bytes = realloc(samples->bytes, samples->room * SAMPLE_BYTES);
        if (!samples->bytes)
            exit(1);
    }
    memcpy(samples->bytes + samples->count++ * SAMPLE_BYTES, record, SAMPLE_BYTES);
    uint64_t time = load_u64(record + TIME_OFFSET);
    if (time > samples->last_time)
        samples->last_time = time;
}

static int repeat_samples(const struct recording *r, uint64_t wanted)
{
    struct samples samples = {0};
    for (const uint8_t *at = r->records; at < r->end; at += load_u16(at + 6)) {
        uint32_t type = load_u32(at);
        if (type == PERF_RECORD_SAMPLE && load_u16(at + 6) == SAMPLE_BYTES)
            keep(&samples, at);
        else if (type != USER_FINISHED_ROUND && type != PERF_RECORD_EXIT)
            append(r, at);
    }
    if (!samples.count)
        return fputs("repeat_recording: no samples of 72 bytes\n", stderr), 1;
    const struct perf_event_header round = {USER_FINISHED_ROUND, 0, sizeof round};
    uint64_t time = samples.last_time;
    for (uint64_t i = 0; i < wanted; i++) {
        uint8_t *record = samples.bytes + i % samples.count * SAMPLE_BYTES;
        time += 1000;
        memcpy(record + TIME_OFFSET, &time, sizeof time);
        append(r, record);
        if (i % ROUND == ROUND - 1)
            append(r, (const uint8_t *)&round);
    }
    free(samples.bytes);
    return 0;
}

/* xTIMES ------------------------------------------------------------------------------------------------------- */

struct happened {
    struct table *started; /* IDs of threads */
    uint64_t first, last;  /* ns; 0: none */
    uint32_t lowest, highest;
};

/* Where a record has its time; NULL: perf's own ones have none. */
static uint8_t *time_of(uint8_t *record)
{
    uint32_t type = load_u32(record);
    return type == PERF_RECORD_SAMPLE ? record + TIME_OFFSET
           : type < USER_HEADER_ATTR  ? record + load_u16(record + 6) - TRAILER + 8
                                      : NULL;
}

static void note(struct happened *h, uint8_t *record)
{
    const uint8_t *at = time_of(record);
    uint64_t time = at ? load_u64(at) : 0;
    if (!time)
        return;
    h->first = h->first && h->first < time ? h->first : time;
    h->last = h->last > time ? h->last : time;
    if (load_u32(record) != PERF_RECORD_FORK)
        return;
    uint32_t tid = load_u32(record + 16);
    h->lowest = tid < h->lowest ? tid : h->lowest;
    h->highest = tid > h->highest ? tid : h->highest;
    if (!table_put(h->started, tid, NULL))
        exit(1);
}

static void move_id(const struct happened *h, uint8_t *at, uint64_t times)
{
    uint32_t id = load_u32(at);
    if (!table_find(h->started, id))
        return;
    id += (uint32_t)times * (h->highest - h->lowest + 1);
    memcpy(at, &id, sizeof id);
}

/* "[stack:TID]" has room for 7 digits. */
static void move_stack_name(const struct happened *h, uint8_t *record, uint64_t times)
{
    char *name = (char *)record + NAME_OFFSET;
    uint32_t tid;
    if (sscanf(name, "[stack:%u]", &tid) != 1)
        return;
    move_id(h, (uint8_t *)&tid, times);
    if (tid < 10000000)
        snprintf(name, 16, "[stack:%u]", tid);
}

/* As it happens again after so many times. */
static void move(const struct happened *h, uint8_t *record, uint8_t *time_at, uint64_t times)
{
    uint64_t time = load_u64(time_at) + times * (h->last - h->first + 1000000);
    uint8_t *ids = load_u32(record) == PERF_RECORD_SAMPLE ? record + TID_OFFSET : time_at - 8;
    memcpy(time_at, &time, sizeof time);
    move_id(h, ids, times);
    move_id(h, ids + 4, times);
    switch (load_u32(record)) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        move_id(h, record + 16, times);
        move_id(h, record + 20, times);
        memcpy(record + 24, &time, sizeof time);
        break;
    case PERF_RECORD_MMAP2:
        move_stack_name(h, record, times);
        break;
    case PERF_RECORD_COMM:
        break;
    default:
        return;
    }
    move_id(h, record + 8, times);
    move_id(h, record + 12, times);
}

static int repeat_all(const struct recording *r, uint64_t wanted)
{
    struct happened happened = {.started = table_new(), .lowest = UINT32_MAX};
    uint8_t record[RECORD_SIZE_MAX];
    if (!happened.started)
        exit(1);
    for (uint64_t times = 0; times <= wanted; times++)
        for (const uint8_t *at = r->records; at < r->end; at += load_u16(at + 6)) {
            memcpy(record, at, load_u16(at + 6));
            uint8_t *time_at = time_of(record);
            const bool happens = !time_at || load_u64(time_at);
            if (times == 0)
                note(&happened, record);
            else if (happens && time_at)
                move(&happened, record, time_at, times - 1);
            if (times == 1 || (times > 1 && happens))
                append(r, record);
        }
    table_free(happened.started);
    return 0;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct reader *reader;
    struct file_view view;
    const struct event *events;
    if (argc != 4)
        return fputs("usage: repeat_recording IN OUT SAMPLES|xTIMES\n", stderr), 2;
    struct recording r = {.out = argv[2]};
    if (reader_open(argv[1], NULL, &reader, &err) < 0 || file_view_read(argv[1], &view, &err) < 0)
        die(argv[1], &err);
    size_t event_count = reader_events(reader, &events);
    while (event_count && !events[event_count - 1].id_count) /* those that the reader makes of others */
        event_count--;
    if (writer_open(r.out, events, event_count, &r.writer, &err) < 0)
        die(r.out, &err);
    const struct file_header *header = (const void *)view.data;
    r.records = view.data + header->data.offset;
    r.end = r.records + header->data.size;
    int status = *argv[3] == 'x' ? repeat_all(&r, strtoull(argv[3] + 1, NULL, 10))
                                 : repeat_samples(&r, strtoull(argv[3], NULL, 10));
    if (status == 0 && writer_close(r.writer, &err) < 0)
        die(r.out, &err);
    file_view_close(&view);
    reader_close(reader);
    return status;
}

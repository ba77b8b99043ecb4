/*
 * repeat_recording.c - makes a long recording of a short one, for benchmarks: "repeat_recording IN OUT
 * SAMPLES".
 *
 * IN is a file by `fathom record`. Its 72-byte samples are written over and over with later times, in rounds
 * of 10,000, until there are SAMPLES of them; all other records are copied once, but for exits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#define SAMPLE_BYTES 72
#define TIME_OFFSET  32 /* header, IDENTIFIER, IP, TID */
#define ROUND        10000

struct samples {
    uint8_t *bytes;
    size_t count, room;
    uint64_t last_time;
};

static void die(const char *what, const struct fathom_error *err)
{
    fprintf(stderr, "repeat_recording: %s: %s\n", what, err->text);
    exit(1);
}

static void keep(struct samples *samples, const uint8_t *record)
{
    if (samples->count == samples->room) {
        samples->room = samples->room ? samples->room * 2 : 1024;
        samples->bytes = realloc(samples->bytes, samples->room * SAMPLE_BYTES);
        if (!samples->bytes)
            exit(1);
    }
    memcpy(samples->bytes + samples->count++ * SAMPLE_BYTES, record, SAMPLE_BYTES);
    uint64_t time;
    memcpy(&time, record + TIME_OFFSET, sizeof time);
    if (time > samples->last_time)
        samples->last_time = time;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct reader *reader;
    struct writer *writer;
    struct file_view view;
    struct samples samples = {0};
    const struct event *events;
    if (argc != 4)
        return fputs("usage: repeat_recording IN OUT SAMPLES\n", stderr), 2;
    if (reader_open(argv[1], NULL, &reader, &err) < 0 || file_view_read(argv[1], &view, &err) < 0)
        die(argv[1], &err);
    size_t event_count = reader_events(reader, &events);
    if (writer_open(argv[2], events, event_count, &writer, &err) < 0)
        die(argv[2], &err);
    /* struct perf_file_header: magic, size, attr_size, attrs {offset, size}, data {offset, size} */
    uint64_t offset, size;
    memcpy(&offset, view.data + 40, sizeof offset);
    memcpy(&size, view.data + 48, sizeof size);
    for (const uint8_t *at = view.data + offset; at < view.data + offset + size;) {
        struct perf_event_header header;
        memcpy(&header, at, sizeof header);
        if (header.type == PERF_RECORD_SAMPLE && header.size == SAMPLE_BYTES)
            keep(&samples, at);
        else if (header.type != USER_FINISHED_ROUND && header.type != PERF_RECORD_EXIT &&
                 writer_append(writer, at, header.size, &err) < 0)
            die(argv[2], &err);
        at += header.size;
    }
    if (!samples.count)
        return fputs("repeat_recording: no samples of 72 bytes\n", stderr), 1;
    struct perf_event_header round = {USER_FINISHED_ROUND, 0, sizeof round};
    uint64_t wanted = strtoull(argv[3], NULL, 10), time = samples.last_time;
    for (uint64_t i = 0; i < wanted; i++) {
        uint8_t *record = samples.bytes + i % samples.count * SAMPLE_BYTES;
        time += 1000;
        memcpy(record + TIME_OFFSET, &time, sizeof time);
        if (writer_append(writer, record, SAMPLE_BYTES, &err) < 0 ||
            (i % ROUND == ROUND - 1 && writer_append(writer, &round, sizeof round, &err) < 0))
            die(argv[2], &err);
    }
    if (writer_close(writer, &err) < 0)
        die(argv[2], &err);
    free(samples.bytes);
    file_view_close(&view);
    reader_close(reader);
    return 0;
}

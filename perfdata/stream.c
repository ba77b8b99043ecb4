/*
 * stream.c - writes what a recording in pipe mode has instead of header and feature sections: perf's own
 * records (tools/perf/util/synthetic-events.c, perf_event__synthesize_for_pipe()).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/features.h"

/* Writes one of perf's own records: header, `count` u64 words, data, padded to 8 bytes. Nothing if it would exceed the maximum
 * size of a record. */
static void put_record(FILE *out, uint32_t type, const uint64_t *words, size_t count, const void *data,
                       size_t size)
{
    static const char padding[8];
    size_t whole = sizeof(struct perf_event_header) + count * sizeof *words + size,
           padded = (whole + 7) & ~7ul;
    if (padded > UINT16_MAX)
        return;
    struct perf_event_header header = {.type = type, .size = (uint16_t)padded};
    fwrite(&header, sizeof header, 1, out);
    if (count)
        fwrite(words, sizeof *words, count, out);
    if (size)
        fwrite(data, 1, size, out);
    fwrite(padding, 1, padded - whole, out);
}

static void put_attr_record(FILE *out, const struct event *event)
{
    uint8_t attr[ATTR_SIZE];
    size_t ids = event->id_count * sizeof *event->ids;
    struct perf_event_header header = {.type = USER_HEADER_ATTR,
                                       .size = (uint16_t)(sizeof header + sizeof attr + ids)};
    attr_to_file(&event->attr, attr);
    fwrite(&header, sizeof header, 1, out);
    fwrite(attr, 1, sizeof attr, out);
    if (ids)
        fwrite(event->ids, 1, ids, out);
}

static void put_name_record(FILE *out, const struct event *event)
{
    uint64_t words[2] = {EVENT_UPDATE_NAME, event->id_count ? event->ids[0] : 0};
    if (event->id_count)
        put_record(out, USER_EVENT_UPDATE, words, 2, event->name, strlen(event->name) + 1);
}

/* The formats of tracepoints follow their record. */
static void put_tracing_record(FILE *out, const struct features *features)
{
    static const char padding[8];
    uint64_t size = features->tracing_size;
    if (size == 0 || size > UINT32_MAX)
        return;
    struct {
        struct perf_event_header header;
        uint32_t size;
    } record = {{.type = USER_HEADER_TRACING_DATA, .size = sizeof record}, (uint32_t)size};
    fwrite(&record, sizeof record, 1, out);
    fwrite(features->tracing, 1, size, out);
    fwrite(padding, 1, -size & 7, out);
}

static int put_feature_record(FILE *out, enum feature feature, const struct feature_source *from)
{
    char *data = NULL;
    size_t size = 0;
    uint64_t word = feature;
    FILE *part = open_memstream(&data, &size);
    if (!part)
        return -ENOMEM;
    feature_put(part, feature, from);
    int rc = fclose(part) == 0 ? 0 : -ENOMEM;
    if (rc == 0 && size)
        put_record(out, USER_HEADER_FEATURE, &word, 1, data, size);
    free(data);
    return rc;
}

int features_stream(const struct features *features, const struct event *events, size_t count, uint8_t **data,
                    size_t *size, struct fathom_error *err)
{
    struct feature_source from = {.features = features, .events = events, .count = count};
    const uint64_t start[] = {FILE_MAGIC, PIPE_HEADER_SIZE};
    char *bytes = NULL;
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].id_count * sizeof *events->ids > UINT16_MAX - 8 - ATTR_SIZE)
            return error_set(err, E2BIG, "%s has too many counters for a pipe: record into a file",
                             events[i].name);
    }
    FILE *out = open_memstream(&bytes, &length);
    if (!out)
        return error_memory(err);
    feature_source_host(&from);
    fwrite(start, sizeof start, 1, out);
    for (size_t i = 0; i < count; i++)
        put_attr_record(out, &events[i]);
    for (size_t i = 0; i < count; i++)
        put_name_record(out, &events[i]);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < FEATURES_WRITTEN; i++) {
        if (features_written[i] != FEATURE_TRACING_DATA && features_written[i] != FEATURE_BUILD_ID)
            rc = put_feature_record(out, features_written[i], &from);
    }
    put_tracing_record(out, features);
    if (fclose(out) != 0 || rc < 0) {
        free(bytes);
        return error_memory(err);
    }
    *data = (uint8_t *)bytes;
    *size = length;
    return 0;
}

static void put_build_ids(FILE *out, const struct features *features)
{
    for (size_t at = 0; at < features->build_ids_size;) {
        struct perf_event_header header;
        memcpy(&header, features->build_ids + at, sizeof header);
        const size_t size = header.size;
        header.type = USER_HEADER_BUILD_ID;
        fwrite(&header, sizeof header, 1, out);
        fwrite(features->build_ids + at + sizeof header, 1, size - sizeof header, out);
        at += size;
    }
}

/* Writes the trailer in pieces, each an update of an event of a kind that stock perf ignores
 * (perf_event__process_event_update()). */
static int put_trailer(FILE *out, const struct features *features, const struct event *events, size_t count,
                       struct fathom_error *err)
{
    size_t size;
    uint8_t *data;
    int rc = trailer_make(&features->trailer, &data, &size, err);
    const uint64_t words[] = {TRAILER_MAGIC, count && events[0].id_count ? events[0].ids[0] : 0};
    for (size_t at = 0, end = size < TRAILER_END ? 0 : size - TRAILER_END; rc == 0 && at < end;) {
        const size_t piece = end - at < TRAILER_PIECE ? end - at : TRAILER_PIECE;
        put_record(out, USER_EVENT_UPDATE, words, 2, data + at, piece);
        at += piece;
    }
    free(data);
    return rc;
}

int features_stream_end(const struct features *features, const struct event *events, size_t count,
                        uint8_t **data, size_t *size, struct fathom_error *err)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    if (!out)
        return error_memory(err);
    put_build_ids(out, features);
    int rc = put_trailer(out, features, events, count, err);
    if (fclose(out) != 0 && rc == 0)
        rc = error_memory(err);
    if (rc < 0)
        free(bytes);
    else
        *data = (uint8_t *)bytes;
    return rc;
}

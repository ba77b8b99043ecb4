/*
 * writer.c - writes a perf.data file; see writer.h.
 *
 * Nothing is created before the first records are written: a failed launch leaves an existing file in place.
 * Then the new file replaces it, and after each write its header says how far the records go, so that a
 * killed writer leaves a readable file that lacks only the features. Records go through one buffer, or bypass
 * it in large pieces. If the disk is full, the file is truncated to the last complete record and its header
 * completed, if need be without features. A stream (outfile.h) gets perf's pipe mode instead.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "perfdata/deflate.h"
#include "perfdata/features.h"
#include "perfdata/format.h"
#include "perfdata/layout.h"

#define BUFFER_BYTES      (1024 * 1024)
#define COMPRESSION_LEVEL 1           /* zstd's, as in perf record -z */
#define DIRECT_BYTES      (32 * 1024) /* above this size, a system call costs less than a copy */

struct writer {
    struct outfile *out;
    int fd;               /* -1: nothing written yet */
    struct event *events; /* the caller's, and the one from add_companion(); ids are borrowed */
    size_t event_count;
    struct decoder *decoder; /* to read the samples' times */
    struct file_header header;
    uint8_t *buffer; /* whole records only */
    size_t buffered;
    uint64_t written; /* bytes of records on disk */
    struct features features;
    struct deflate *deflate; /* NULL: records are not compressed */
    bool keep_old, whole;
    int failed; /* the first negative errno of a write; no record is written after it */
};

static int copy_events(struct writer *writer, const struct event *events, size_t count,
                       struct fathom_error *err)
{
    writer->events = calloc(count + 1, sizeof *writer->events);
    if (!writer->events)
        return error_memory(err);
    memcpy(writer->events, events, count * sizeof *events);
    writer->event_count = count;
    return 0;
}

/* For a file with only tracepoints, stock `perf report` shows their raw data, even if samples have none
 * (tools/perf/util/sort.c, get_default_sort_order() and get_trace_output()). With an additional event that
 * counts nothing, it reports as usual. */
static void add_companion(struct writer *writer)
{
    size_t count = writer->event_count;
    for (size_t i = 0; i < count; i++) {
        const struct perf_event_attr *attr = &writer->events[i].attr;
        if (attr->type != PERF_TYPE_TRACEPOINT || attr->sample_type & PERF_SAMPLE_RAW)
            return;
    }
    struct event *companion = &writer->events[count];
    companion->attr = writer->events[0].attr;
    companion->attr.type = PERF_TYPE_SOFTWARE;
    companion->attr.config = PERF_COUNT_SW_DUMMY;
    strcpy(companion->name, "dummy");
    writer->event_count++;
}

static const char *writer_path(const struct writer *writer)
{
    return outfile_path(writer->out);
}

/* Header, ids and attrs, as one write. */
static int write_head(struct writer *writer, struct fathom_error *err)
{
    size_t ids = 0;
    for (size_t i = 0; i < writer->event_count; i++)
        ids += writer->events[i].id_count;
    size_t attrs_at = sizeof(struct file_header) + ids * sizeof(uint64_t);
    size_t size = attrs_at + writer->event_count * sizeof(struct file_attr);
    uint8_t *head = calloc(1, size);
    if (!head)
        return error_memory(err);

    size_t id_at = sizeof(struct file_header);
    for (size_t i = 0; i < writer->event_count; i++) {
        const struct event *event = &writer->events[i];
        struct file_attr attr = {.ids = {id_at, event->id_count * sizeof(uint64_t)}};
        attr_to_file(&event->attr, attr.attr);
        if (event->id_count)
            memcpy(head + id_at, event->ids, attr.ids.size);
        memcpy(head + attrs_at + i * sizeof attr, &attr, sizeof attr);
        id_at += attr.ids.size;
    }
    writer->header = (struct file_header){
        .magic = FILE_MAGIC,
        .size = sizeof(struct file_header),
        .attr_size = sizeof(struct file_attr),
        .attrs = {attrs_at, size - attrs_at},
        .data = {size, 0},
    };
    memcpy(head, &writer->header, sizeof writer->header);
    int rc = file_write_all(writer->fd, head, size, writer_path(writer), err);
    free(head);
    return rc;
}

static int write_stream_head(struct writer *writer, struct fathom_error *err)
{
    uint8_t *head;
    size_t size;
    int rc = features_stream(&writer->features, writer->events, writer->event_count, &head, &size, err);
    if (rc == 0) {
        rc = file_write_all(writer->fd, head, size, writer_path(writer), err);
        free(head);
    }
    return rc;
}

/* Writes what precedes the first record. */
static int start_file(struct writer *writer, struct fathom_error *err)
{
    if (writer->fd >= 0)
        return 0;
    int rc = outfile_begin(writer->out, &writer->fd, err);
    if (rc == 0)
        rc = outfile_is_stream(writer->out) ? write_stream_head(writer, err) : write_head(writer, err);
    return rc;
}

static void writer_free(struct writer *writer)
{
    outfile_close(writer->out);
    deflate_free(writer->deflate);
    features_free(&writer->features);
    decoder_free(writer->decoder);
    free(writer->events);
    free(writer->buffer);
    free(writer);
}

int writer_new(struct outfile *file, const struct event *events, size_t count, struct writer **out,
               struct fathom_error *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(err);
    writer->fd = -1;
    writer->buffer = malloc(BUFFER_BYTES);
    int rc = writer->buffer ? copy_events(writer, events, count, err) : error_memory(err);
    if (rc == 0)
        rc = decoder_new(writer->events, writer->event_count, &writer->decoder, err);
    if (rc < 0) {
        writer_free(writer);
        return rc;
    }
    add_companion(writer);
    writer->out = file;
    *out = writer;
    return 0;
}

int writer_open(const char *path, const struct event *events, size_t count, struct writer **out,
                struct fathom_error *err)
{
    struct outfile *file = NULL;
    int rc = outfile_open(path, &file, err);
    if (rc == 0)
        rc = writer_new(file, events, count, out, err);
    if (rc < 0)
        outfile_close(file);
    return rc;
}

int writer_compress(struct writer *writer, struct fathom_error *err)
{
    writer->features.level = COMPRESSION_LEVEL;
    writer->deflate = deflate_new(COMPRESSION_LEVEL);
    return writer->deflate ? 0 : error_memory(err);
}

void writer_keep_old(struct writer *writer)
{
    writer->keep_old = true;
}

void writer_only_whole(struct writer *writer)
{
    writer->whole = true;
}

bool writer_is_stream(const struct writer *writer)
{
    return outfile_is_stream(writer->out);
}

uint64_t writer_size(const struct writer *writer)
{
    return writer->written + writer->buffered;
}

/* The size of the complete records in the first `size` bytes of the data. */
static size_t whole_records(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (size - at >= RECORD_HEADER_SIZE && load_u16(data + at + 6) <= size - at)
        at += load_u16(data + at + 6);
    return at;
}

/* Updates the size of the records in the header, for readers of a growing file or one whose writer was
 * killed. A failure shows up in the next write, or at the end. */
static int note_size(struct writer *writer, struct fathom_error *err)
{
    const size_t at = offsetof(struct file_header, data.size);
    writer->header.data.size = writer->written;
    if (pwrite(writer->fd, &writer->header.data.size, sizeof(uint64_t), (off_t)at) < 0)
        return error_system(err, errno, "cannot write to %s", writer_path(writer));
    return writer->whole ? 0 : outfile_publish(writer->out, writer->keep_old, err);
}

/* Replaces records with compressed ones. */
static int compress_records(struct writer *writer, const uint8_t **data, size_t *size,
                            struct fathom_error *err)
{
    writer->features.raw += *size;
    int rc = deflate_records(writer->deflate, *data, *size, data, size, err);
    writer->features.packed += *size;
    return rc;
}

static int write_records(struct writer *writer, const uint8_t *data, size_t size, struct fathom_error *err)
{
    if (writer->failed)
        return error_set(err, -writer->failed, "the recording %s ended early: an earlier write failed",
                         writer_path(writer));
    if (size == 0)
        return 0;
    bool stream = outfile_is_stream(writer->out);
    int rc = start_file(writer, err);
    if (rc == 0 && writer->deflate)
        rc = compress_records(writer, &data, &size, err);
    if (rc < 0) {
        writer->failed = rc;
        return rc;
    }
    rc = file_write_all(writer->fd, data, size, writer_path(writer), err);
    if (rc < 0 && !stream) {
        off_t at = lseek(writer->fd, 0, SEEK_CUR);
        off_t first = (off_t)(writer->header.data.offset + writer->written);
        size_t part = at > first ? (size_t)(at - first) : 0;
        size = whole_records(data, part < size ? part : size);
    }
    writer->written += size;
    if (!stream && writer->written) {
        int noted = note_size(writer, rc < 0 ? NULL : err);
        rc = rc < 0 ? rc : noted;
    }
    if (rc < 0)
        writer->failed = rc;
    return rc;
}

int writer_flush(struct writer *writer, struct fathom_error *err)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    return write_records(writer, writer->buffer, size, err);
}

/* Checks the sizes of the records, and notes the times of samples. */
static int look_at(struct writer *writer, const uint8_t *data, size_t size, struct fathom_error *err)
{
    for (size_t at = 0; at < size;) {
        size_t left = size - at, record = left < RECORD_HEADER_SIZE ? 0 : load_u16(data + at + 6);
        if (record < RECORD_HEADER_SIZE || record > left)
            return error_set(err, EINVAL, "a record to write does not have the size given in its header");
        if (load_u32(data + at) == PERF_RECORD_SAMPLE)
            features_time(&writer->features, decoder_time(writer->decoder, data + at, record));
        at += record;
    }
    return 0;
}

int writer_append(void *to, const void *data, size_t size, struct fathom_error *err)
{
    struct writer *writer = to;
    int rc = look_at(writer, data, size, err);
    if (rc == 0 && (writer->failed || BUFFER_BYTES - writer->buffered < size || size >= DIRECT_BYTES))
        rc = writer_flush(writer, err);
    if (rc < 0)
        return rc;
    if (size >= DIRECT_BYTES)
        return write_records(writer, data, size, err);
    memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    return 0;
}

int writer_command(struct writer *writer, int argc, char *const *argv, struct fathom_error *err)
{
    return features_command(&writer->features, argc, argv, err);
}

void writer_wall_clock(struct writer *writer)
{
    struct trailer *t = &writer->features.trailer;
    struct timespec now;
    if (t->clock_time == writer->features.last_time)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    t->clock_time = writer->features.last_time;
    t->clock_wall = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void writer_scaling(struct writer *writer, const struct scaling *scaling)
{
    writer->features.trailer.scaling = *scaling;
}

void writer_code_names(struct writer *writer, const void *data, size_t size)
{
    writer->features.trailer.code_names = data;
    writer->features.trailer.code_names_size = size;
}

void writer_host(struct writer *writer, const struct host *host)
{
    writer->features.host = host;
}

int writer_build_id(struct writer *writer, const char *path, const uint8_t *id, size_t id_size,
                    struct fathom_error *err)
{
    return features_build_id(&writer->features, path, id, id_size, err);
}

int writer_tracing_data(struct writer *writer, const void *data, size_t size, struct fathom_error *err)
{
    return features_tracing(&writer->features, data, size, err);
}

/* Writes the final header, with the size of the records. */
static int write_header(struct writer *writer, struct fathom_error *err)
{
    if (lseek(writer->fd, 0, SEEK_SET) < 0)
        return error_system(err, errno, "cannot seek in %s", writer_path(writer));
    return file_write_all(writer->fd, &writer->header, sizeof writer->header, writer_path(writer), err);
}

static int write_features(struct writer *writer, uint64_t at, struct fathom_error *err)
{
    struct feature_bytes bytes;
    int rc = features_serialise(&writer->features, writer->events, writer->event_count, at, &bytes, err);
    if (rc < 0)
        return rc;
    memcpy(writer->header.features, bytes.bits, sizeof bytes.bits);
    if (lseek(writer->fd, (off_t)at, SEEK_SET) < 0)
        rc = error_system(err, errno, "cannot seek in %s", writer_path(writer));
    else
        rc = file_write_all(writer->fd, bytes.data, bytes.size, writer_path(writer), err);
    free(bytes.data);
    return rc;
}

/* Writes what is known only at the end. Continues after a failure, and reports the first one. */
static int finish_file(struct writer *writer, int rc, struct fathom_error *err)
{
    uint64_t end = writer->header.data.offset + writer->written;
    writer->header.data.size = writer->written;
    if (rc < 0 && ftruncate(writer->fd, (off_t)end) < 0)
        writer->header.data.size = 0; /* readers then read to its end */
    int next = write_features(writer, end, rc < 0 ? NULL : err);
    if (next < 0) {
        memset(writer->header.features, 0, sizeof writer->header.features);
        if (ftruncate(writer->fd, (off_t)end) < 0)
            writer->header.data.size = 0;
    }
    rc = rc < 0 ? rc : next;
    next = write_header(writer, rc < 0 ? NULL : err);
    rc = rc < 0 ? rc : next;
    if (fsync(writer->fd) < 0 && errno != EINVAL && rc == 0)
        rc = error_system(err, errno, "cannot write to %s", writer_path(writer));
    return rc < 0 ? rc : outfile_publish(writer->out, writer->keep_old, err);
}

static int finish_stream(struct writer *writer, struct fathom_error *err)
{
    uint8_t *data;
    size_t size;
    int rc = features_stream_end(&writer->features, writer->events, writer->event_count, &data, &size, err);
    if (rc < 0)
        return rc;
    rc = size ? file_write_all(writer->fd, data, size, writer_path(writer), err) : 0;
    free(data);
    return rc;
}

int writer_close(struct writer *writer, struct fathom_error *err)
{
    int rc = writer->failed;
    if (rc < 0)
        error_system(err, -rc,
                     writer->written ? "%s holds only what was recorded before a write failed"
                                     : "nothing was written to %s",
                     writer_path(writer));
    else
        rc = writer_flush(writer, err);
    if (rc == 0)
        rc = start_file(writer, err);
    if (writer->fd < 0 || (rc < 0 && writer->written == 0))
        ; /* the old file stays */
    else if (!outfile_is_stream(writer->out))
        rc = finish_file(writer, rc, err);
    else if (rc == 0)
        rc = finish_stream(writer, err);
    writer_free(writer);
    return rc;
}

void writer_discard(struct writer *writer)
{
    if (writer)
        writer_free(writer);
}

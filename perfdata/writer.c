/*
 * writer.c - a perf.data file from its first header to its last; see writer.h.
 *
 * The header stands on the disk from the start with a data size of 0. Records follow through one buffer, or
 * past it where they come in large pieces. When the disk is full, the file is cut back to the last whole
 * record and its header completed, features or not.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata/features.h"
#include "perfdata/format.h"
#include "perfdata/layout.h"

#define BUFFER_BYTES (1024 * 1024)
#define DIRECT_BYTES (32 * 1024) /* from here on a system call costs less than a copy */

struct writer {
    int fd;
    char *path;
    struct event *events; /* the caller's, and what add_companion() adds; ids are borrowed */
    size_t event_count;
    struct decoder *decoder; /* for the samples' times */
    struct file_header header;
    uint8_t *buffer; /* whole records only */
    size_t buffered;
    uint64_t written; /* bytes of records that are on the disk */
    struct features features;
    int failed; /* the first negative errno of a write; no record is written after it */
};

static int open_output(const char *path, struct fathom_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0 && errno != ENXIO)
        return error_system(err, errno, "cannot create %s", path);
    if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        if (fd >= 0)
            close(fd);
        return error_set(err, ESPIPE,
                         "%s is a pipe or terminal: a recording's header is written last, so it needs a "
                         "regular file",
                         path);
    }
    return fd;
}

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

/* Of a file with nothing but tracepoints stock `perf report` shows their raw data, and looks for it where a
 * sample has none (tools/perf/util/sort.c, get_default_sort_order() and get_trace_output()). With an event
 * that counts nothing beside them it reports as usual. */
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
    int rc = file_write_all(writer->fd, head, size, writer->path, err);
    free(head);
    return rc;
}

static void writer_free(struct writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    features_free(&writer->features);
    decoder_free(writer->decoder);
    free(writer->events);
    free(writer->buffer);
    free(writer->path);
    free(writer);
}

int writer_open(const char *path, const struct event *events, size_t count, struct writer **out,
                struct fathom_error *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(err);
    int rc = 0;
    writer->fd = -1;
    writer->path = strdup(path);
    writer->buffer = malloc(BUFFER_BYTES);
    if (!writer->path || !writer->buffer) {
        rc = error_memory(err);
        goto out;
    }
    rc = copy_events(writer, events, count, err);
    if (rc == 0)
        rc = decoder_new(writer->events, writer->event_count, &writer->decoder, err);
    if (rc < 0)
        goto out;
    add_companion(writer);
    rc = open_output(path, err);
    if (rc < 0)
        goto out;
    writer->fd = rc;
    rc = write_head(writer, err);
out:
    if (rc < 0)
        writer_free(writer);
    else
        *out = writer;
    return rc < 0 ? rc : 0;
}

uint64_t writer_size(const struct writer *writer)
{
    return writer->written + writer->buffered;
}

/* The bytes of whole records among the first `size` of what was to be written. */
static size_t whole_records(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (size - at >= RECORD_HEADER_SIZE && load_u16(data + at + 6) <= size - at)
        at += load_u16(data + at + 6);
    return at;
}

static int write_records(struct writer *writer, const uint8_t *data, size_t size, struct fathom_error *err)
{
    if (writer->failed)
        return error_set(err, -writer->failed, "the recording %s ended early: an earlier write had failed",
                         writer->path);
    int rc = file_write_all(writer->fd, data, size, writer->path, err);
    if (rc < 0) {
        writer->failed = rc;
        off_t at = lseek(writer->fd, 0, SEEK_CUR);
        off_t start = (off_t)(writer->header.data.offset + writer->written);
        size_t part = at > start ? (size_t)(at - start) : 0;
        size = whole_records(data, part < size ? part : size);
    }
    writer->written += size;
    return rc;
}

static int flush(struct writer *writer, struct fathom_error *err)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    return write_records(writer, writer->buffer, size, err);
}

/* Goes through the records once: their sizes must be right, and samples have times. */
static int look_at(struct writer *writer, const uint8_t *data, size_t size, struct fathom_error *err)
{
    for (size_t at = 0; at < size;) {
        size_t left = size - at, record = left < RECORD_HEADER_SIZE ? 0 : load_u16(data + at + 6);
        if (record < RECORD_HEADER_SIZE || record > left)
            return error_set(err, EINVAL, "a record to be written does not have the size that it says");
        if (load_u32(data + at) == PERF_RECORD_SAMPLE)
            features_time(&writer->features, decoder_time(writer->decoder, data + at, record));
        at += record;
    }
    return 0;
}

int writer_append(struct writer *writer, const void *data, size_t size, struct fathom_error *err)
{
    int rc = look_at(writer, data, size, err);
    if (rc == 0 && (writer->failed || BUFFER_BYTES - writer->buffered < size || size >= DIRECT_BYTES))
        rc = flush(writer, err);
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

int writer_build_id(struct writer *writer, const char *path, const uint8_t *id, size_t id_size,
                    struct fathom_error *err)
{
    return features_build_id(&writer->features, path, id, id_size, err);
}

int writer_tracing_data(struct writer *writer, const void *data, size_t size, struct fathom_error *err)
{
    return features_tracing(&writer->features, data, size, err);
}

/* The final header: now the file tells how far its records go. */
static int write_header(struct writer *writer, struct fathom_error *err)
{
    if (lseek(writer->fd, 0, SEEK_SET) < 0)
        return error_system(err, errno, "cannot seek in %s", writer->path);
    return file_write_all(writer->fd, &writer->header, sizeof writer->header, writer->path, err);
}

static int write_features(struct writer *writer, uint64_t at, struct fathom_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    int rc = features_serialise(&writer->features, writer->events, writer->event_count, at, &data, &size,
                                writer->header.features, err);
    if (rc < 0)
        return rc;
    if (lseek(writer->fd, (off_t)at, SEEK_SET) < 0)
        rc = error_system(err, errno, "cannot seek in %s", writer->path);
    else
        rc = file_write_all(writer->fd, data, size, writer->path, err);
    free(data);
    return rc;
}

int writer_close(struct writer *writer, struct fathom_error *err)
{
    int rc = writer->failed;
    if (rc < 0)
        error_system(err, -rc, "%s holds only what was recorded before a write failed", writer->path);
    else
        rc = flush(writer, err);

    /* From here on the first failure is the one that is told, and all the rest is tried all the same. */
    uint64_t end = writer->header.data.offset + writer->written;
    writer->header.data.size = writer->written;
    if (rc < 0 && ftruncate(writer->fd, (off_t)end) < 0)
        writer->header.data.size = 0; /* read to its end, then */
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
        rc = error_system(err, errno, "cannot write to %s", writer->path);
    writer_free(writer);
    return rc;
}

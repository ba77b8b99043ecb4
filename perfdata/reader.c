/*
 * reader.c - walks the records of a recording and hands them on in order of time; see reader.h.
 */
#include "perfdata/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perfdata/head.h"
#include "perfdata/inflate.h"
#include "perfdata/input.h"
#include "perfdata/layout.h"

struct reader {
    struct input input;
    struct head head;
    struct decoder *decoder;
    const struct log *log;
    struct reader_summary summary;
};

/* One pass. */
struct pass {
    struct reader *reader;
    struct order *order;
    struct inflate *inflate; /* NULL: no compressed record so far */
    order_sink *sink;        /* the caller's */
    void *context;
};

static void reader_free(struct reader *reader)
{
    decoder_free(reader->decoder);
    head_free(&reader->head);
    input_close(&reader->input);
    free(reader);
}

int reader_open(const char *path, const struct log *log, struct reader **out, struct fathom_error *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_memory(err);
    reader->log = log;
    int rc = input_open(path, &reader->input, err);
    if (rc < 0)
        goto out;
    rc = head_read(&reader->head, reader->input.data, reader->input.size, path, err);
    if (rc < 0)
        goto out;
    rc = decoder_new(reader->head.events, reader->head.count, &reader->decoder, err);
    if (rc == 0 && reader->head.truncated)
        log_write(log, LOG_WARNING,
                  "%s was not finished: it is read as far as it goes, and says nothing of the command", path);
out:
    if (rc < 0)
        reader_free(reader);
    else
        *out = reader;
    return rc;
}

void reader_close(struct reader *reader)
{
    if (reader)
        reader_free(reader);
}

size_t reader_events(const struct reader *reader, const struct event **out)
{
    *out = reader->head.events;
    return reader->head.count;
}

int reader_main_event(const struct reader *reader, const char *name, uint32_t *event,
                      struct fathom_error *err)
{
    const struct event *events = reader->head.events;
    for (uint32_t i = 0; i < reader->head.count; i++) {
        bool dummy =
            events[i].attr.type == PERF_TYPE_SOFTWARE && events[i].attr.config == PERF_COUNT_SW_DUMMY;
        if (name ? strncasecmp(events[i].name, name, strlen(name)) == 0 : !events[i].audit && !dummy) {
            *event = i;
            return 0;
        }
    }
    if (!name)
        return error_set(err, EBADMSG, "the recording has no event to report");
    return error_set(err, ENOENT, "the recording has no event '%s'; its first is '%s'", name,
                     reader->head.count ? events[0].name : "(none)");
}

const char *reader_command(const struct reader *reader)
{
    return reader->head.command;
}

void reader_summary(const struct reader *reader, struct reader_summary *out)
{
    *out = reader->summary;
}

static int count_and_pass_on(void *context, const struct record *record, struct fathom_error *err)
{
    struct pass *pass = context;
    struct reader_summary *summary = &pass->reader->summary;
    summary->records++;
    switch (record->kind) {
    case RECORD_SAMPLE:
        summary->samples++;
        break;
    case RECORD_LOST:
        summary->lost += record->lost;
        break;
    case RECORD_THROTTLE:
        summary->throttled++;
        break;
    default:
        break;
    }
    return pass->sink(pass->context, record, err);
}

static int push_inflated(void *context, const uint8_t *data, size_t size, struct fathom_error *err)
{
    struct pass *pass = context;
    if (load_u32(data) == USER_FINISHED_ROUND)
        return order_round(pass->order, err);
    return order_push_copy(pass->order, data, size, err);
}

/* One piece of the stream. Where that is damaged, what follows of it is lost, and the summary says so. */
static int run_compressed(struct pass *pass, const uint8_t *at, uint32_t type, uint32_t size,
                          struct fathom_error *err)
{
    struct reader *reader = pass->reader;
    const uint8_t *data = at + RECORD_HEADER_SIZE;
    size_t bytes = size - RECORD_HEADER_SIZE;
    reader->summary.compressed = true;
    if (!pass->inflate && !(pass->inflate = inflate_new()))
        return error_memory(err);
    if (inflate_is_damaged(pass->inflate))
        return 0;
    if (type == USER_COMPRESSED2) {
        uint64_t piece = bytes < 8 ? 0 : load_u64(data);
        data += 8;
        bytes = bytes < 8 || piece > bytes - 8 ? 0 : (size_t)piece;
    }
    struct fathom_error problem;
    int rc = inflate_piece(pass->inflate, data, bytes, reader->head.mmap_size, push_inflated, pass, &problem);
    if (rc < 0 && inflate_is_damaged(pass->inflate)) {
        log_write(reader->log, LOG_WARNING, "%s", problem.text);
        reader->summary.truncated = true;
        return 0;
    }
    return rc < 0 ? error_set(err, -rc, "%s", problem.text) : 0;
}

static int walk(struct pass *pass, struct fathom_error *err)
{
    struct reader *reader = pass->reader;
    const uint8_t *data = reader->input.data;
    uint64_t at = reader->head.records;
    const uint64_t end = reader->head.records_end;
    uint32_t type, size;
    int rc = 0;
    while (rc >= 0 && at < end) {
        uint64_t step = head_step(&reader->head, data + at, end - at, &type, &size);
        if (!step) {
            reader->summary.truncated = true;
            break;
        }
        if (type == USER_FINISHED_ROUND)
            rc = order_round(pass->order, err);
        else if (type == USER_COMPRESSED || type == USER_COMPRESSED2)
            rc = run_compressed(pass, data + at, type, size, err);
        else
            rc = order_push(pass->order, data + at, size, err);
        at += step;
    }
    if (pass->inflate && inflate_is_open(pass->inflate))
        reader->summary.truncated = true;
    return rc;
}

int reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err)
{
    struct pass pass = {.reader = reader, .sink = sink, .context = context};
    reader->summary = (struct reader_summary){.truncated = reader->head.truncated, .pipe = reader->head.pipe};
    pass.order = order_new(reader->decoder, false, count_and_pass_on, &pass);
    if (!pass.order)
        return error_memory(err);
    int rc = walk(&pass, err);
    if (rc >= 0)
        rc = order_flush(pass.order, err);
    reader->summary.damaged = order_damaged(pass.order);
    inflate_free(pass.inflate);
    order_free(pass.order);
    return rc < 0 ? rc : 0;
}

/* trace_read.c - reads a call trace, which may be hostile; see trace.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "hcct/trace.h"

struct reading {
    struct trace trace;
    size_t function_capacity, place_capacity, thread_capacity, event_capacity, tick_capacity;
    size_t depth; /* frames that the thread is in */
    bool ended;
    const char *name;
    struct fathom_error *err;
};

static int damaged_trace(const struct reading *r, const char *what)
{
    return error_set(r->err, EBADMSG, "%s is damaged: %s", r->name, what);
}

/* A copy without control characters. NULL: out of memory. */
static const char *copy_text(struct trace *t, const char *text)
{
    char *copy = arena_strdup(t->names, text);
    if (copy)
        text_clean(copy);
    return copy;
}

static int read_functions(struct reading *r, struct bytes *b)
{
    struct trace *t = &r->trace;
    while (bytes_left(b) && !b->failed) {
        const char *image = bytes_string(b), *name = bytes_string(b);
        uint64_t address = bytes_uleb(b);
        if (b->failed)
            break;
        struct trace_function f = {copy_text(t, image), copy_text(t, name), address};
        if (!f.image || !f.name || !vec_push(t->functions, t->function_count, r->function_capacity, f))
            return error_memory(r->err);
    }
    return b->failed ? damaged_trace(r, "a function is cut short") : 0;
}

static int read_places(struct reading *r, struct bytes *b)
{
    struct trace *t = &r->trace;
    while (bytes_left(b) && !b->failed) {
        uint64_t function = bytes_uleb(b), site = bytes_uleb(b);
        if (b->failed || function >= t->function_count || t->place_count >= TRACE_PLACES_MAX)
            return damaged_trace(r, "a call of no function");
        struct trace_place place = {(uint32_t)function, site};
        if (!vec_push(t->places, t->place_count, r->place_capacity, place))
            return error_memory(r->err);
    }
    return 0;
}

static int read_thread(struct reading *r, struct bytes *b)
{
    struct trace *t = &r->trace;
    uint64_t pid = bytes_uleb(b), tid = bytes_uleb(b);
    if (b->failed || pid > UINT32_MAX || tid > UINT32_MAX)
        return damaged_trace(r, "a thread without a number");
    struct trace_thread thread = {(uint32_t)pid, (uint32_t)tid, t->event_count, t->event_count};
    if (!vec_push(t->threads, t->thread_count, r->thread_capacity, thread))
        return error_memory(r->err);
    r->depth = 0;
    return 0;
}

static int add_event(struct reading *r, uint32_t event, uint32_t ticks)
{
    struct trace *t = &r->trace;
    if (!vec_reserve(t->events, t->event_count, r->event_capacity, 1) ||
        !vec_reserve(t->ticks, t->event_count, r->tick_capacity, 1))
        return error_memory(r->err);
    t->events[t->event_count] = event;
    t->ticks[t->event_count++] = ticks;
    return 0;
}

static int read_event(struct reading *r, struct bytes *b)
{
    struct trace *t = &r->trace;
    uint64_t word = bytes_uleb(b), value = word >> 2, ticks = 0;
    int rc = 0;
    unsigned kind = word & 3;
    if (kind == TRACE_EXIT) {
        if (b->failed || value > r->depth)
            return damaged_trace(r, "a return without a call");
        for (uint64_t i = 0; i < value && rc == 0; i++)
            rc = add_event(r, TRACE_RETURN, 0);
        r->depth -= value;
        return rc;
    }
    if (kind == TRACE_ENTER)
        ticks = bytes_uleb(b);
    if (b->failed || value >= t->place_count || kind > TRACE_RESUME)
        return damaged_trace(r, "a call of no known place");
    t->entered += kind == TRACE_ENTER;
    r->depth++;
    return add_event(r, (uint32_t)value | (kind == TRACE_RESUME ? TRACE_RESUMED : 0),
                     ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
}

static int read_events(struct reading *r, struct bytes *b)
{
    struct trace *t = &r->trace;
    int rc = t->thread_count ? 0 : damaged_trace(r, "events of no thread");
    while (rc == 0 && bytes_left(b))
        rc = read_event(r, b);
    if (rc == 0)
        t->threads[t->thread_count - 1].end = t->event_count;
    return rc;
}

static int read_end(struct reading *r, struct bytes *b)
{
    uint64_t entered = bytes_u64(b);
    r->ended = true;
    return b->failed || entered != r->trace.entered ? damaged_trace(r, "its end counts other events") : 0;
}

static int read_block(struct reading *r, struct bytes *b)
{
    uint32_t kind = bytes_u32(b), size = bytes_u32(b);
    uint64_t sum = bytes_u64(b);
    const uint8_t *data = size <= TRACE_BLOCK_MAX ? bytes_take(b, size) : NULL;
    if (!data)
        return error_set(r->err, EBADMSG, "%s is cut short, or damaged", r->name);
    if (checksum_of(data, size) != sum)
        return damaged_trace(r, "a block has another checksum");
    struct bytes payload = bytes_of(data, size);
    switch (kind) {
    case TRACE_FUNCTIONS:
        return read_functions(r, &payload);
    case TRACE_PLACES:
        return read_places(r, &payload);
    case TRACE_THREAD:
        return read_thread(r, &payload);
    case TRACE_EVENTS:
        return read_events(r, &payload);
    case TRACE_END:
        return read_end(r, &payload);
    default:
        return damaged_trace(r, "an unknown block");
    }
}

int trace_parse(const void *data, size_t size, const char *name, struct trace *out, struct fathom_error *err)
{
    struct reading r = {.name = name, .err = err};
    struct bytes b = bytes_of(data, size);
    const uint8_t *head = bytes_take(&b, TRACE_HEAD);
    if (!head || memcmp(head, TRACE_MAGIC, sizeof TRACE_MAGIC - 1) != 0)
        return error_set(err, ENOMSG, "%s is not a call trace", name);
    if (head[sizeof TRACE_MAGIC - 1] != TRACE_VERSION)
        return error_set(err, ENOTSUP, "%s is a call trace of version %u, not %u", name,
                         head[sizeof TRACE_MAGIC - 1], TRACE_VERSION);
    r.trace.names = arena_new(0);
    int rc = r.trace.names ? 0 : error_memory(err);
    while (rc == 0 && !r.ended)
        rc = read_block(&r, &b);
    if (rc == 0)
        *out = r.trace;
    else
        trace_free(&r.trace);
    return rc;
}

int trace_read(const char *path, struct trace *out, struct fathom_error *err)
{
    struct file_view view;
    int rc = file_view_read(path, &view, err);
    if (rc < 0)
        return rc;
    rc = trace_parse(view.data, view.size, path, out, err);
    file_view_close(&view);
    return rc;
}

void trace_free(struct trace *t)
{
    free(t->functions);
    free(t->places);
    free(t->threads);
    free(t->events);
    free(t->ticks);
    arena_free(t->names);
    *t = (struct trace){0};
}

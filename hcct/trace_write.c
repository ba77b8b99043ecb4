/* trace_write.c - writes a call trace; see trace.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/file.h"
#include "hcct/trace.h"

#define BLOCK_HEAD 16u

struct trace_writer {
    int fd;
    const char *path;
    bool has_head;
    uint32_t kind; /* of the block being filled; 0: none */
    size_t used;   /* bytes of its payload */
    uint64_t entered;
    uint8_t block[BLOCK_HEAD + TRACE_BLOCK_MAX];
};

struct trace_writer *trace_writer_new(int fd, const char *path)
{
    struct trace_writer *w = calloc(1, sizeof *w);
    if (w) {
        w->fd = fd;
        w->path = path;
    }
    return w;
}

static void put_value(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static int flush_block(struct trace_writer *w, struct fathom_error *err)
{
    static const uint8_t head[TRACE_HEAD] = TRACE_MAGIC "\x01";
    int rc = w->has_head ? 0 : file_write_all(w->fd, head, sizeof head, w->path, err);
    if (rc < 0)
        return rc;
    w->has_head = true;
    if (!w->kind)
        return 0;
    put_value(w->block, w->kind, 4);
    put_value(w->block + 4, w->used, 4);
    put_value(w->block + 8, checksum_of(w->block + BLOCK_HEAD, w->used), 8);
    rc = file_write_all(w->fd, w->block, BLOCK_HEAD + w->used, w->path, err);
    w->kind = 0;
    w->used = 0;
    return rc;
}

/* Makes space for this many bytes in a block of this kind. */
static int reserve_bytes(struct trace_writer *w, enum trace_kind kind, size_t bytes, struct fathom_error *err)
{
    int rc = w->kind && (w->kind != kind || bytes > TRACE_BLOCK_MAX - w->used) ? flush_block(w, err) : 0;
    w->kind = kind;
    return rc;
}

static void add_number(struct trace_writer *w, uint64_t value)
{
    uint8_t *at = w->block + BLOCK_HEAD + w->used;
    w->used += (size_t)(bytes_put_uleb(at, value) - at);
}

static void add_text(struct trace_writer *w, const char *text, size_t size)
{
    memcpy(w->block + BLOCK_HEAD + w->used, text, size);
    w->used += size;
}

int trace_write_function(struct trace_writer *w, const struct trace_function *function,
                         struct fathom_error *err)
{
    size_t image = strlen(function->image) + 1, name = strlen(function->name) + 1;
    if (image > TRACE_BLOCK_MAX / 4 || name > TRACE_BLOCK_MAX / 4)
        return error_set(err, ENAMETOOLONG, "the name of a function is too long for %s", w->path);
    int rc = reserve_bytes(w, TRACE_FUNCTIONS, image + name + BYTES_ULEB_MAX, err);
    if (rc < 0)
        return rc;
    add_text(w, function->image, image);
    add_text(w, function->name, name);
    add_number(w, function->address);
    return 0;
}

int trace_write_place(struct trace_writer *w, struct trace_place place, struct fathom_error *err)
{
    int rc = reserve_bytes(w, TRACE_PLACES, 2 * BYTES_ULEB_MAX, err);
    if (rc < 0)
        return rc;
    add_number(w, place.function);
    add_number(w, place.site);
    return 0;
}

int trace_write_thread(struct trace_writer *w, uint32_t pid, uint32_t tid, struct fathom_error *err)
{
    int rc = flush_block(w, err);
    if (rc < 0)
        return rc;
    w->kind = TRACE_THREAD;
    add_number(w, pid);
    add_number(w, tid);
    return flush_block(w, err);
}

int trace_write_event(struct trace_writer *w, enum trace_event_kind kind, uint32_t value, uint64_t ticks,
                      struct fathom_error *err)
{
    int rc = reserve_bytes(w, TRACE_EVENTS, 2 * BYTES_ULEB_MAX, err);
    if (rc < 0)
        return rc;
    add_number(w, (uint64_t)value << 2 | kind);
    if (kind == TRACE_ENTER) {
        add_number(w, ticks);
        w->entered++;
    }
    return 0;
}

int trace_writer_end(struct trace_writer *w, struct fathom_error *err)
{
    int rc = flush_block(w, err);
    if (rc < 0)
        return rc;
    w->kind = TRACE_END;
    w->used = 8;
    put_value(w->block + BLOCK_HEAD, w->entered, 8);
    return flush_block(w, err);
}

void trace_writer_free(struct trace_writer *w)
{
    free(w);
}

/*
 * process_file.c - see process_file.h.
 *
 * A file is read twice: when it is opened, for the paths, as a trace may refer to any; then, on demand, for the
 * objects. Both begin with the ancestors' files.
 */
#include "streams/trace/process_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/ordered.h"
#include "base/vec.h"
#include "streams/trace/dense.h"

#define ANCESTORS_MOST 64 /* nested forks */

struct history {          /* one file, up to the part that counts */
    uint32_t pid, number; /* in its name */
    struct file_view view;
    struct process_header header;
    struct bytes left; /* not replayed yet */
    uint64_t last;     /* address */
};

struct process_file {
    struct history histories[ANCESTORS_MOST]; /* the process's own first, then its parent's, and so on */
    uint32_t count;
    uint32_t current; /* being replayed */
    bool damaged, heap_lost;
    struct process_path paths[PROCESS_CONTEXTS_MOST];
    struct ordered *live; /* start -> index in objects */
    struct process_object *objects;
    size_t object_count, object_capacity;
    uint64_t *unused; /* indexes in objects */
    size_t unused_count, unused_capacity;
    uint64_t serial;
};

struct record {
    enum process_record what;
    uint64_t address, size, id;
    uint32_t depth;
    bool cut;
    struct bytes pcs;
};

/* Reads a file's bytes up to `used`. */
static int read_history(const char *directory, uint32_t pid, uint32_t number, uint64_t used,
                        struct history *h, struct fathom_error *err)
{
    char *path;
    h->pid = pid;
    h->number = number;
    if (asprintf(&path, "%s/%" PRIu32 "-%" PRIu32 ".process", directory, pid, number) < 0)
        return error_memory(err);
    size_t size = 0;
    int rc = dense_open(path, sizeof h->header, &h->view, err);
    if (rc == 0 && h->view.size >= sizeof h->header)
        memcpy(&h->header, h->view.data, sizeof h->header);
    if (rc == 0 && (h->header.magic != PROCESS_MAGIC || h->header.version != PROCESS_VERSION ||
                    h->header.used < sizeof h->header))
        rc = error_set(err, EINVAL, "%s is not the file of a traced process, or of another version", path);
    free(path);
    if (rc == 0)
        rc = dense_read(&h->view, used < h->header.used ? used : h->header.used, &size, err);
    if (rc < 0)
        return rc;
    h->left =
        bytes_of(h->view.data + sizeof h->header, size > sizeof h->header ? size - sizeof h->header : 0);
    return 0;
}

/* 1: a record; 0: the end; -EBADMSG: damaged from here on. */
static int next_record(struct bytes *left, uint64_t *last, struct record *out)
{
    if (left->failed || !bytes_left(left))
        return left->failed ? -EBADMSG : 0;
    *out = (struct record){.what = bytes_u8(left)};
    if (out->what == PROCESS_CONTEXT) {
        out->id = bytes_uleb(left);
        uint64_t depth = bytes_uleb(left);
        out->cut = depth & 1;
        out->depth = depth / 2 <= PROCESS_FRAMES_MOST ? (uint32_t)(depth / 2) : 0;
        left->failed |= depth / 2 > PROCESS_FRAMES_MOST || !out->id || out->id >= PROCESS_CONTEXTS_MOST;
        out->pcs = *left;
        for (uint32_t i = 0; i < out->depth; i++)
            bytes_uleb(left);
    } else if (out->what == PROCESS_ALLOCATED || out->what == PROCESS_FREED) {
        out->address = *last += unzigzag(bytes_uleb(left));
        out->size = out->what == PROCESS_ALLOCATED ? bytes_uleb(left) : 0;
        out->id = out->what == PROCESS_ALLOCATED ? bytes_uleb(left) : 0;
    } else {
        left->failed = true;
    }
    return left->failed ? -EBADMSG : 1;
}

/* Stores a path. A descendant's replaces one of an ancestor, whose parent had not written it yet at the fork. */
static int keep_path(struct process_file *f, struct record *r)
{
    uint64_t *pcs = malloc((r->depth ? r->depth : 1) * sizeof *pcs), last = 0;
    if (!pcs)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->depth; i++)
        pcs[i] = last += unzigzag(bytes_uleb(&r->pcs));
    free((void *)f->paths[r->id].pcs);
    f->paths[r->id] = (struct process_path){pcs, r->depth, r->cut};
    return 0;
}

static int read_paths(struct process_file *f, struct bytes left)
{
    struct record r;
    uint64_t last = 0;
    int rc;
    while ((rc = next_record(&left, &last, &r)) > 0)
        if (r.what == PROCESS_CONTEXT && keep_path(f, &r) < 0)
            return -ENOMEM;
    f->damaged |= rc < 0;
    return 0;
}

/* Whether the file has been read: one that is its own ancestor adds nothing. */
static bool is_read(const struct process_file *f, uint32_t pid, uint32_t number)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->histories[i].pid == pid && f->histories[i].number == number)
            return true;
    return false;
}

/* Reads the ancestors' files, up to the first missing one. */
static void read_ancestors(struct process_file *f, const char *directory)
{
    const struct process_header *child = &f->histories[0].header;
    for (; child->parent; child = &f->histories[f->count++].header) {
        struct history *h = f->count < ANCESTORS_MOST ? &f->histories[f->count] : NULL;
        if (!h || is_read(f, child->parent, child->parent_number) ||
            read_history(directory, child->parent, child->parent_number, child->parent_used, h, NULL) < 0) {
            if (h)
                file_view_close(&h->view);
            f->damaged = true;
            return;
        }
    }
}

int process_file_open(const char *directory, uint32_t pid, uint32_t number, struct process_file **out,
                      struct fathom_error *err)
{
    struct process_file *f = calloc(1, sizeof *f);
    if (!f || !(f->live = ordered_new())) {
        free(f);
        return error_memory(err);
    }
    f->count = 1;
    int rc = read_history(directory, pid, number, UINT64_MAX, &f->histories[0], err);
    if (rc == 0)
        read_ancestors(f, directory);
    for (uint32_t i = f->count; rc == 0 && i-- > 0;)
        if (read_paths(f, f->histories[i].left) < 0)
            rc = error_memory(err);
    if (rc < 0) {
        process_file_close(f);
        return rc;
    }
    f->current = f->count - 1;
    *out = f;
    return 0;
}

void process_file_close(struct process_file *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->count; i++)
        file_view_close(&f->histories[i].view);
    for (uint32_t id = 0; id < PROCESS_CONTEXTS_MOST; id++)
        free((void *)f->paths[id].pcs);
    ordered_free(f->live);
    free(f->objects);
    free(f->unused);
    free(f);
}

const struct process_header *process_file_header(const struct process_file *f)
{
    return &f->histories[0].header;
}

bool process_file_damaged(const struct process_file *f)
{
    return f->damaged;
}

const struct process_path *process_file_path(const struct process_file *f, uint64_t id)
{
    return id < PROCESS_CONTEXTS_MOST && f->paths[id].pcs ? &f->paths[id] : NULL;
}

static uint64_t last_byte(uint64_t start, uint64_t size)
{
    uint64_t rest = size ? size - 1 : 0;
    return rest <= UINT64_MAX - start ? start + rest : UINT64_MAX;
}

static int forget_object(struct process_file *f, uint64_t start, uint64_t place)
{
    ordered_remove(f->live, start);
    return vec_push(f->unused, f->unused_count, f->unused_capacity, place) ? 0 : -ENOMEM;
}

/* Ends objects that a new one overlaps: a signal handler that interrupted the runtime frees objects without a
 * record. */
static int forget_overlapped(struct process_file *f, uint64_t start, uint64_t size)
{
    uint64_t at, place, last = last_byte(start, size);
    while (ordered_at_most(f->live, last, &at, &place) && last_byte(at, f->objects[place].size) >= start)
        if (forget_object(f, at, place) < 0)
            return -ENOMEM;
    return 0;
}

static int keep_object(struct process_file *f, const struct record *r)
{
    struct process_object object = {r->address, r->size, r->id, f->serial++};
    if (forget_overlapped(f, r->address, r->size) < 0)
        return -ENOMEM;
    uint64_t place = f->object_count;
    if (f->unused_count)
        f->objects[place = f->unused[--f->unused_count]] = object;
    else if (!vec_push(f->objects, f->object_count, f->object_capacity, object))
        return -ENOMEM;
    return ordered_put(f->live, r->address, place) ? 0 : -ENOMEM;
}

static int replay_record(struct process_file *f, const struct record *r)
{
    uint64_t at, place;
    if (r->what == PROCESS_ALLOCATED)
        return keep_object(f, r);
    if (r->what == PROCESS_FREED && ordered_at_most(f->live, r->address, &at, &place) && at == r->address)
        return forget_object(f, at, place);
    return 0;
}

/* Replays a history up to the time when the file had `to` bytes. */
static int replay_history(struct process_file *f, struct history *h, uint64_t to)
{
    struct record r;
    int rc = 1;
    while ((uint64_t)(h->left.at - h->view.data) < to && (rc = next_record(&h->left, &h->last, &r)) > 0)
        if (replay_record(f, &r) < 0)
            return -ENOMEM;
    f->damaged |= rc < 0;
    uint64_t lost = h->header.heap_lost;
    f->heap_lost |= !h->header.heap || rc < 0 || (lost && lost < to);
    return 0;
}

int process_file_advance(struct process_file *f, uint64_t to, struct fathom_error *err)
{
    for (; f->current > 0; f->current--)
        if (replay_history(f, &f->histories[f->current], f->histories[f->current - 1].header.parent_used) < 0)
            return error_memory(err);
    return replay_history(f, &f->histories[0], to) < 0 ? error_memory(err) : 0;
}

const struct process_object *process_file_find(const struct process_file *f, uint64_t address)
{
    uint64_t at, place;
    if (f->heap_lost || !ordered_at_most(f->live, address, &at, &place) ||
        last_byte(at, f->objects[place].size) < address)
        return NULL;
    return &f->objects[place];
}

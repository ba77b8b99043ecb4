/* call_logs.c - see call_logs.h. Logs and stores are hostile: their writers are the trained programs. */
#include "pathmap/train/call_logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "pathmap/wire/call_log.h"

#define EVENTS 65536u /* read at a time */

struct step { /* what is needed of a node */
    uint32_t parent, function, site, height;
    uint32_t at; /* its index on the current path, if it is there */
};

struct reading {
    const char *directory;
    const struct call_log_visitor *visitor;
    struct call_logs_read *out;
    struct fathom_error *err;
    bool first; /* this is the first process: unreadable logs are counted only once */
    struct store_file store;
    struct step *steps; /* by node - store.node_first */
    uint32_t *path;     /* nodes from the outermost one */
    uint32_t *missing;
    size_t depth, path_capacity, missing_capacity;
    struct call_log_event *events;
};

static const struct step *step_of(const struct reading *r, uint32_t node)
{
    static const struct step none;
    bool there = node >= r->store.node_first && node < r->store.node_end;
    return there ? &r->steps[node - r->store.node_first] : &none;
}

/* Reads the nodes. Functions that the store does not have become 0, and so do their nodes. */
static int read_nodes(struct reading *r)
{
    struct store_file *s = &r->store;
    uint32_t first, end;
    free(r->steps);
    r->steps = calloc((size_t)s->node_end - s->node_first + 1, sizeof *r->steps);
    if (!r->steps)
        return -ENOMEM;
    for (end = store_file_next(s, 0, &first); first < end; end = store_file_next(s, end, &first)) {
        for (uint32_t at = first; at < end; at++) {
            struct store_node n;
            if (store_file_node(s, at, &n) &&
                (n.function < s->header.function_count || n.function == STORE_ROOT))
                r->steps[at - s->node_first] =
                    (struct step){n.parent, n.function, n.site, store_height(&n), 0};
        }
    }
    return 0;
}

static int visit_call(struct reading *r, uint32_t node, uint32_t returned, bool resumed, uint32_t ticks)
{
    struct step *s = &r->steps[node - r->store.node_first];
    struct call_log_call call = {returned, resumed, s->function, s->site, ticks};
    s->at = (uint32_t)r->depth;
    if (!vec_push(r->path, r->depth, r->path_capacity, node))
        return error_memory(r->err);
    return r->visitor->call(r->visitor->context, &r->store, &call, r->err);
}

static bool is_on_path(const struct reading *r, uint32_t node)
{
    uint32_t at = step_of(r, node)->at;
    return at < r->depth && r->path[at] == node;
}

/* Whether the node exists and is deeper in the stack than its parent, so that no walk of parents has a cycle. */
static bool is_below_parent(const struct reading *r, uint32_t node)
{
    const struct step *s = step_of(r, node), *above = step_of(r, s->parent);
    return s->function && (above->function == STORE_ROOT || s->height > above->height);
}

/* Returns to the node above a call, or continues on its stack. *returned: frames that were left and are not
 * reported yet. 1: there is no such node. */
static int return_to(struct reading *r, uint32_t above, uint32_t *returned)
{
    size_t count = 0;
    for (; step_of(r, above)->function != STORE_ROOT && !is_on_path(r, above);
         above = step_of(r, above)->parent) {
        if (!is_below_parent(r, above)) {
            while (count) /* nor does any of these exist */
                r->steps[r->missing[--count] - r->store.node_first].function = 0;
            return 1;
        }
        if (!vec_push(r->missing, count, r->missing_capacity, above))
            return error_memory(r->err);
    }
    size_t depth = step_of(r, above)->function == STORE_ROOT ? 0 : step_of(r, above)->at + 1;
    *returned = (uint32_t)(r->depth - depth);
    r->depth = depth;
    int rc = 0;
    while (count && rc == 0) {
        rc = visit_call(r, r->missing[--count], *returned, true, 0);
        *returned = 0;
    }
    return rc;
}

static int read_event(struct reading *r, const struct call_log_event *event)
{
    uint32_t returned = 0;
    const struct step *s = step_of(r, event->node);
    int rc = !s->function || s->function == STORE_ROOT ? 1 : return_to(r, s->parent, &returned);
    if (rc == 0) {
        r->out->calls++;
        rc = visit_call(r, event->node, returned, false, event->ticks);
    }
    r->out->unsound += rc > 0;
    return rc < 0 ? rc : 0;
}

/* Reads the events. Places without one are skipped: those behind the last event, and those that were never
 * written. */
static int read_events(struct reading *r, int fd)
{
    off_t at = sizeof(struct call_log_header), data;
    r->depth = 0;
    while ((data = lseek(fd, at, SEEK_DATA)) >= 0) {
        at = data > at ? data - data % (off_t)sizeof *r->events : at;
        ssize_t size = pread(fd, r->events, EVENTS * sizeof *r->events, at);
        size_t count = size < 0 ? 0 : (size_t)size / sizeof *r->events;
        for (size_t i = 0; i < count; i++) {
            int rc = r->events[i].node ? read_event(r, &r->events[i]) : 0;
            if (rc < 0)
                return rc;
        }
        if (!count)
            break;
        at += (off_t)(count * sizeof *r->events);
    }
    return 0;
}

/* Reads a log, whose name has its thread, if it belongs to the process of this store. */
static int read_log(struct reading *r, const char *name)
{
    struct call_log_header header;
    char *path;
    if (asprintf(&path, "%s/%s", r->directory, name) < 0)
        return error_memory(r->err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
    free(path);
    uint32_t tid = (uint32_t)strtoul(name + sizeof CALL_LOG_PREFIX - 1, NULL, 10);
    if (fd < 0 || pread(fd, &header, sizeof header, 0) != sizeof header || header.magic != CALL_LOG_MAGIC) {
        r->out->unread += r->first;
    } else if (header.store == r->store.header.token) {
        rc = r->visitor->thread(r->visitor->context, &r->store, tid, r->err);
        if (rc == 0)
            rc = read_events(r, fd);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

static int is_log(const struct dirent *entry)
{
    return strncmp(entry->d_name, CALL_LOG_PREFIX, sizeof CALL_LOG_PREFIX - 1) == 0;
}

static int is_store(const struct dirent *entry)
{
    return strncmp(entry->d_name, STORE_PREFIX, sizeof STORE_PREFIX - 1) == 0;
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static int read_process(struct reading *r, const char *store, bool first, struct dirent **logs, int log_count)
{
    char *path;
    if (asprintf(&path, "%s/%s", r->directory, store) < 0)
        return error_memory(r->err);
    int opened = store_file_open(path, &r->store, NULL), rc = 0;
    free(path);
    if (opened < 0) {
        r->out->unread++;
        return 0;
    }
    r->first = first;
    r->out->cut += r->store.header.logs_cut;
    r->out->dropped +=
        r->store.header.dropped + r->store.header.dropped_depth + r->store.header.dropped_stack;
    if (read_nodes(r) < 0) {
        r->out->unread++;
        log_count = 0;
    }
    if (rc == 0)
        rc = r->visitor->process(r->visitor->context, &r->store, r->err);
    for (int i = 0; i < log_count && rc == 0; i++)
        rc = read_log(r, logs[i]->d_name);
    store_file_close(&r->store);
    return rc;
}

int call_logs_read(const char *directory, const struct call_log_visitor *visitor, struct call_logs_read *out,
                   struct fathom_error *err)
{
    struct reading r = {.directory = directory, .visitor = visitor, .out = out, .err = err};
    struct dirent **stores, **logs;
    int store_count = scandir(directory, &stores, is_store, versionsort);
    if (store_count < 0)
        return error_system(err, errno, "cannot read %s", directory);
    int log_count = scandir(directory, &logs, is_log, versionsort);
    int rc = log_count < 0 ? error_system(err, errno, "cannot read %s", directory) : 0;
    r.events = malloc(EVENTS * sizeof *r.events);
    if (rc == 0 && !r.events)
        rc = error_memory(err);
    for (int i = 0; i < store_count && rc == 0; i++)
        rc = read_process(&r, stores[i]->d_name, i == 0, logs, log_count);
    free_entries(stores, store_count);
    if (log_count >= 0)
        free_entries(logs, log_count);
    free(r.steps);
    free(r.path);
    free(r.missing);
    free(r.events);
    return rc;
}

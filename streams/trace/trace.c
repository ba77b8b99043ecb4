/* trace.c - see trace.h. */
#include "streams/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "streams/trace/burst_file.h"
#include "streams/trace/directory.h"

struct thread { /* of the current process */
    const struct trace_thread_file *file;
    struct burst_file *bursts;
    struct burst_record next; /* a BURST_RECORD; */
    bool more;                /* false: there is none */
    bool begins;              /* it is the first of a burst */
    uint64_t position;        /* in the process's file: the heap's state for this record */
    uint64_t path;            /* current path of the burst */
    uint64_t pc;              /* of the previous record, */
    size_t nth;               /* and which of its instruction's sites that was */
};

struct trace {
    char *directory;
    const struct log *log;
    struct traced_images *images;
    struct trace_thread_file *files;
    size_t file_count;
    size_t at; /* index in the files at which the next process begins */
    struct trace_process process;
    struct thread *threads; /* its threads */
    size_t thread_count;
    struct thread *current; /* the thread whose burst continues; NULL: none */
    struct trace_counts counts;
    bool again; /* the trace is read again: damage was already reported */
};

int trace_open(const char *directory, struct image_cache *cache, const struct log *log, struct trace **out,
               struct fathom_error *err)
{
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->log = log;
    t->directory = realpath(directory, NULL);
    int rc = t->directory ? 0 : error_system(err, errno, "cannot read the trace %s", directory);
    if (rc == 0)
        rc = trace_directory_list(t->directory, &t->files, &t->file_count, err);
    if (rc == 0 && !t->file_count)
        rc = error_set(err, ENODATA, "%s has no trace: no burst began, or it is no trace's directory",
                       directory);
    if (rc == 0)
        rc = traced_images_new(t->directory, cache, log, &t->images, err);
    if (rc == 0)
        *out = t;
    else
        trace_close(t);
    return rc;
}

static void end_process(struct trace *t)
{
    for (size_t i = 0; i < t->thread_count; i++)
        burst_file_close(t->threads[i].bursts);
    free(t->threads);
    places_close(t->process.places);
    process_file_close(t->process.noted);
    t->threads = NULL;
    t->thread_count = 0;
    t->current = NULL;
    t->process = (struct trace_process){0};
}

void trace_close(struct trace *t)
{
    if (!t)
        return;
    end_process(t);
    traced_images_free(t->images);
    trace_directory_free(t->files, t->file_count);
    free(t->directory);
    free(t);
}

const struct trace_counts *trace_counts(const struct trace *t)
{
    return &t->counts;
}

static void report_damage(struct trace *t, const char *text)
{
    if (!t->again)
        log_write(t->log, LOG_WARNING, "%s", text);
    t->counts.damaged++;
}

/* Advances by one record. */
static void step_thread(struct trace *t, struct thread *th)
{
    int rc = th->bursts ? burst_file_next(th->bursts, &th->next) : 0;
    th->more = rc > 0;
    if (rc < 0) {
        struct fathom_error err;
        error_set(&err, -rc, "%s is damaged: it is read as far as it goes", th->file->path);
        report_damage(t, err.text);
    }
}

/* Handles controls up to the next record. Returns whether the heap changes or a burst begins; *path: whether the
 * call path changes. */
static bool take_controls(struct trace *t, struct thread *th, bool *path)
{
    bool moved = false;
    *path = false;
    for (; th->more && th->next.what != BURST_RECORD; step_thread(t, th)) {
        switch (th->next.what) {
        case BURST_BEGINS:
            t->counts.bursts++;
            th->begins = moved = true;
            th->path = 0;
            th->pc = 0;
            break;
        case BURST_HEAP:
            th->position = th->next.number;
            moved = true;
            break;
        case BURST_CONTEXT:
            th->path = th->next.number;
            *path = true;
            break;
        case BURST_LOST:
            t->counts.lost += th->next.number;
            break;
        default:
            break;
        }
    }
    return moved || !th->more;
}

static int open_thread(struct trace *t, struct thread *th, const struct trace_thread_file *file)
{
    struct fathom_error why = {0};
    bool path;
    th->file = file;
    int rc = burst_file_open(file->path, &th->bursts, &why);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        report_damage(t, why.text);
    step_thread(t, th);
    take_controls(t, th, &path);
    return 0;
}

static int open_noted(struct trace *t, struct fathom_error *err)
{
    struct fathom_error why = {0};
    if (t->process.number == STREAM_NO_PROCESS)
        return 0;
    int rc = process_file_open(t->directory, t->process.pid, t->process.number, &t->process.noted, &why);
    if (rc == -ENOMEM)
        return error_memory(err);
    if (rc < 0)
        report_damage(t, why.text);
    else if (process_file_damaged(t->process.noted))
        report_damage(
            t, "some paths and objects of a process are unknown: what was noted of it, or of a process "
               "that it was forked from, is damaged or missing, or that is too many forks back");
    return 0;
}

static int open_process(struct trace *t, struct fathom_error *err)
{
    char path[4096 + 32];
    size_t end = t->at;
    uint32_t pid = t->files[t->at].pid, number = t->files[t->at].header.process;
    while (end < t->file_count && t->files[end].pid == pid && t->files[end].header.process == number)
        end++;
    t->process.pid = pid;
    t->process.number = number;
    snprintf(path, sizeof path, "%.4095s/%u-%u.maps", t->directory, pid, number);
    struct fathom_error why = {0};
    int rc = places_open(path, t->images, &t->process.places, &why);
    if (!t->process.places)
        return error_memory(err);
    if (rc < 0)
        report_damage(t, why.text);
    rc = open_noted(t, err);
    t->threads = rc == 0 ? calloc(end - t->at, sizeof *t->threads) : NULL;
    if (rc == 0 && !t->threads)
        rc = error_memory(err);
    for (; rc == 0 && t->at < end; t->at++)
        if (open_thread(t, &t->threads[t->thread_count++], &t->files[t->at]) < 0)
            rc = error_memory(err);
    return rc;
}

/* The thread whose next record comes first by its state of the heap; NULL: there are no more. */
static struct thread *choose_thread(struct trace *t)
{
    struct thread *first = NULL;
    for (size_t i = 0; i < t->thread_count; i++) {
        struct thread *th = &t->threads[i];
        if (th->more && (!first || th->position < first->position))
            first = th;
    }
    return first;
}

static int follow_heap(struct trace *t, const struct thread *th, struct fathom_error *err)
{
    return t->process.noted && th->position ? process_file_advance(t->process.noted, th->position, err) : 0;
}

static struct trace_event event_of(const struct trace *t, const struct thread *th, enum trace_what what)
{
    return (struct trace_event){.what = what, .process = &t->process, .tid = th->file->tid, .path = th->path};
}

/* Continues with a burst of some thread. 0: there are no more. */
static int next_burst(struct trace *t, struct trace_event *out, struct fathom_error *err)
{
    while (!(t->current = choose_thread(t))) {
        end_process(t);
        if (t->at == t->file_count) {
            t->at = 0;
            t->again = true;
            return 0;
        }
        int rc = open_process(t, err);
        if (rc < 0)
            return rc;
    }
    t->current->begins = false;
    *out = event_of(t, t->current, TRACE_BURST);
    int rc = follow_heap(t, t->current, err);
    return rc < 0 ? rc : 1;
}

/* Chooses the site of a record among its instruction's, which log one after another. */
static const struct duplicate_site *choose_site(struct thread *th, const struct traced_image *image,
                                                uint64_t address)
{
    size_t count;
    const struct duplicate_site *sites = site_list_at(&image->sites, address, &count);
    th->nth = sites && th->pc == address ? (th->nth + 1) % count : 0;
    th->pc = address;
    return sites ? &sites[th->nth] : NULL;
}

/* false: no list of places contains its instruction. */
static bool make_reference(struct trace *t, struct thread *th, struct trace_event *out)
{
    struct place place;
    if (!places_at(t->process.places, th->next.pc, &place) || !place.image)
        return false;
    *out = event_of(t, th, TRACE_REFERENCE);
    out->image = place.image;
    out->site = choose_site(th, place.image, place.address);
    out->datum = th->next.datum;
    return out->site;
}

/* 1: *out is the next event of the current burst; 0: it has none. */
static int next_of_burst(struct trace *t, struct thread *th, struct trace_event *out,
                         struct fathom_error *err)
{
    bool path, known = false;
    while (!known && th->more && th->next.what == BURST_RECORD) {
        known = make_reference(t, th, out);
        t->counts.records++;
        t->counts.unknown += !known;
        step_thread(t, th);
    }
    if (known)
        return 1;
    bool moved = take_controls(t, th, &path);
    if (moved && (th->begins || choose_thread(t) != th)) {
        t->current = NULL;
        return 0;
    }
    int rc = moved ? follow_heap(t, th, err) : 0;
    if (rc == 0 && path)
        *out = event_of(t, th, TRACE_PATH);
    return rc < 0 ? rc : path;
}

int trace_next(struct trace *t, struct trace_event *out, struct fathom_error *err)
{
    int rc = 0;
    while (rc == 0 && t->current)
        rc = next_of_burst(t, t->current, out, err);
    return rc ? rc : next_burst(t, out, err);
}

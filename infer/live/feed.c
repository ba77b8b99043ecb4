/* feed.c - see feed.h. */
#include "infer/live/feed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/order.h"

/* Waking the thread for every few records would cost more time than handling them. */
#define REST_NS    30000000u /* minimum time between two readings, */
#define REST_BYTES 65536u    /* unless this many bytes are waiting */

/* Raw records, one after the other. */
struct queue {
    uint8_t *bytes;
    size_t used, capacity;
};

struct feed {
    struct feed_input in;
    struct table *ids; /* sample ID -> index of the event */
    pthread_t thread;
    pthread_mutex_t lock; /* protects the next eight */
    pthread_cond_t filled;
    struct queue filling;
    bool held; /* the last record is kept in memory until the next sample was added */
    bool stop, busy, rests;
    uint64_t added, looked;    /* counts of feed_add() calls: all; those whose records were taken */
    struct fathom_error error; /* that ended the thread; code 0: none, or feed_add() has returned it */
    /* Used by the thread only. */
    struct queue reading;
    struct decoder *decoder;
    struct order *order;
    struct image_cache *images;
    struct processes *processes;
    struct table *execs; /* PID -> time of its last exec, ns */
};

/* Whether the record is a fork that is older than the latest exec of its process: it came late, from another CPU. 0 or 1;
 * -ENOMEM. */
static int is_stale(struct feed *f, const struct record *record)
{
    if (record->kind == RECORD_COMM && record->comm.exec) {
        uint64_t *time = table_put(f->execs, record->pid, NULL);
        if (!time)
            return -ENOMEM;
        *time = record->time;
    }
    const uint64_t *time =
        record->kind == RECORD_FORK && record->pid == record->tid ? table_find(f->execs, record->pid) : NULL;
    return time && record->time < *time;
}

/* An order_sink. */
static int take_record(void *feed, const struct record *record, struct fathom_error *err)
{
    struct feed *f = feed;
    int stale = is_stale(f, record);
    if (stale)
        return stale < 0 ? error_memory(err) : 0;
    int rc = f->in.take(f->in.context, f->processes, record, err);
    return rc < 0 || record->kind == RECORD_SAMPLE ? rc : processes_apply(f->processes, record, err);
}

static int read_all(struct feed *f, struct fathom_error *err)
{
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < f->reading.used;) {
        struct perf_event_header header;
        memcpy(&header, f->reading.bytes + at, sizeof header);
        rc = order_push(f->order, f->reading.bytes + at, header.size, err);
        at += header.size;
    }
    if (rc == 0)
        rc = order_flush(f->order, err);
    f->reading.used = 0;
    return rc;
}

/* Whether there are records to read. */
static bool is_ready(const struct feed *f)
{
    return f->filling.used >= (f->rests ? REST_BYTES : 1) && !f->held;
}

/* Waits, with the lock held, until there are records, and at least until the given time unless REST_BYTES are waiting. Going
 * back to sleep after an early wake-up costs as much as the wake-up, so the thread rests only if there are records before that
 * time. */
static void wait_for_records(struct feed *f, uint64_t until)
{
    const struct timespec end = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (!f->stop && !is_ready(f))
        pthread_cond_wait(&f->filled, &f->lock);
    f->rests = clock_ns() < until;
    while (f->rests && !f->stop && !is_ready(f))
        f->rests = pthread_cond_clockwait(&f->filled, &f->lock, CLOCK_MONOTONIC, &end) == 0;
    f->rests = false;
}

/* Swaps the filled queue with the one that was read. */
static void swap_queues(struct feed *f)
{
    const struct queue empty = f->reading;
    f->reading = f->filling;
    f->filling = empty;
}

static void *run_thread(void *feed)
{
    struct feed *f = feed;
    struct fathom_error err;
    uint64_t until = 0;
    int rc = 0;
    pthread_mutex_lock(&f->lock);
    while (!f->stop && rc == 0) {
        wait_for_records(f, until);
        if (!is_ready(f))
            continue;
        swap_queues(f);
        const uint64_t added = f->added;
        until = f->in.at_once ? 0 : clock_ns() + REST_NS;
        f->busy = true;
        pthread_mutex_unlock(&f->lock);
        rc = read_all(f, &err);
        pthread_mutex_lock(&f->lock);
        f->looked = added;
        f->busy = false;
    }
    if (rc == 0) { /* nothing is added any more */
        swap_queues(f);
        rc = read_all(f, &err);
    }
    if (rc < 0)
        f->error = err;
    f->stop = true;
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void clear_feed(struct feed *f)
{
    table_free(f->ids);
    order_free(f->order);
    decoder_free(f->decoder);
    processes_free(f->processes);
    table_free(f->execs);
    image_cache_free(f->images);
    free(f->reading.bytes);
    free(f->filling.bytes);
    pthread_cond_destroy(&f->filled);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static bool index_ids(struct feed *f)
{
    for (size_t i = 0; i < f->in.count; i++)
        for (size_t k = 0; k < f->in.events[i].id_count; k++) {
            if (!table_set(f->ids, f->in.events[i].ids[k], i))
                return false;
        }
    return true;
}

/* Blocks all signals in the new thread: they are for the thread that records. */
static int start_thread(struct feed *f)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&f->thread, NULL, run_thread, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int feed_start(const struct feed_input *input, struct feed **out, struct fathom_error *err)
{
    struct feed *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(err);
    f->in = *input;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->filled, NULL);
    f->ids = table_new();
    f->execs = table_new();
    int rc = f->ids && f->execs && index_ids(f) ? decoder_new(input->events, input->count, &f->decoder, err)
                                                : error_memory(err);
    if (rc == 0) {
        f->order = order_new(f->decoder, false, take_record, f);
        f->images = image_cache_new(&(struct image_options){.live = true, .parts_apart = true});
        f->processes = f->images ? processes_new(f->images, NULL) : NULL;
        rc = f->order && f->processes ? start_thread(f) : ENOMEM;
        rc = rc ? error_system(err, rc, "cannot start the thread that reads records") : 0;
    }
    if (rc < 0)
        clear_feed(f);
    else
        *out = f;
    return rc;
}

static bool is_wanted(struct feed *f, const struct perf_event_header *header)
{
    uint64_t id;
    if (header->type != PERF_RECORD_SAMPLE)
        return true;
    if (header->size < sizeof *header + sizeof id)
        return false;
    memcpy(&id, header + 1, sizeof id);
    const uint64_t *index = table_find(f->ids, id);
    enum feed_choice choice = index && f->in.choose
                                  ? f->in.choose(f->in.context, &f->in.events[*index], f->filling.used)
                                  : FEED_LEAVE;
    f->held = choice == FEED_HOLD;
    return choice != FEED_LEAVE;
}

int feed_add(struct feed *f, const void *records, size_t size, struct fathom_error *err)
{
    const uint8_t *at = records, *end = at + size;
    int rc = 0;
    pthread_mutex_lock(&f->lock);
    f->added++;
    for (struct perf_event_header header; at < end && !f->stop && rc == 0; at += header.size) {
        memcpy(&header, at, sizeof header);
        if (!is_wanted(f, (const void *)at))
            continue;
        if (!vec_reserve(f->filling.bytes, f->filling.used, f->filling.capacity, header.size)) {
            rc = error_memory(err);
            continue;
        }
        memcpy(f->filling.bytes + f->filling.used, at, header.size);
        f->filling.used += header.size;
    }
    if (f->error.code) {
        rc = -f->error.code;
        if (err)
            *err = f->error;
        f->error.code = 0;
    }
    if (is_ready(f))
        pthread_cond_signal(&f->filled);
    pthread_mutex_unlock(&f->lock);
    return rc;
}

uint64_t feed_looked(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    const uint64_t looked = f->filling.used || f->busy ? f->looked : f->added;
    pthread_mutex_unlock(&f->lock);
    return looked;
}

void feed_stop(struct feed *f, struct image_cache **images)
{
    if (images)
        *images = NULL;
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_signal(&f->filled);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    if (images) {
        *images = f->images;
        f->images = NULL;
    }
    clear_feed(f);
}

/* stack_learner.c - see stack_learner.h. */
#include "infer/live/stack_learner.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/announced.h"
#include "perfdata/order.h"
#include "process/unwind.h"

#define QUEUE_BYTES (16u << 20) /* stacks are left out above that, other records are not */
#define FRAMES_MAX  512

/* Records in a row. */
struct queue {
    uint8_t *bytes;
    size_t used, room;
};

struct stack_learner {
    struct stack_learner_input in;
    struct table *ids; /* of the stack records' event */
    bool next;         /* the next sample is that of a stack record which was taken */
    pthread_t thread;
    pthread_mutex_t lock; /* of the next four */
    pthread_cond_t filled;
    struct queue filling;
    bool stop;
    struct stack_learner_summary summary;
    /* The thread's. */
    struct queue reading;
    struct decoder *decoder;
    struct order *order;
    struct announced *announced;
    struct image_cache *images;
    struct processes *processes;
    struct unwind_frame frames[FRAMES_MAX];
    struct unwind_words words;
};

/* Unwinds a new stack. One with a signal frame, or without an end, is never known. */
static int learn(struct stack_learner *l, const struct sample *sample, struct fathom_error *err)
{
    enum unwind_end end;
    struct process *process = process_find(l->processes, sample->pid);
    l->summary.stacks++;
    if (!process || !sample->stack)
        return 0;
    size_t count = unwind_words(process, sample, l->frames, FRAMES_MAX, &l->words, &end);
    if (count == 0 || end != UNWIND_ROOT || l->words.partial)
        return 0;
    l->summary.known++;
    return l->in.know(l->in.context,
                      &(struct known_stack){.pid = sample->pid,
                                            .tid = sample->tid,
                                            .ip = sample->reg_ip,
                                            .sp = sample->sp,
                                            .bp = sample->bp,
                                            .has_bp = l->words.has_bp,
                                            .number = sample->stack_number,
                                            .words = l->words.words,
                                            .count = l->words.count},
                      err);
}

/* Whether a record makes what was known of its process invalid. */
static bool is_change(const struct stack_learner *l, const struct record *record)
{
    const struct process *process;
    const struct mapping *old;
    switch (record->kind) {
    case RECORD_COMM:
        return record->comm.exec;
    case RECORD_EXIT:
        return record->pid == record->tid;
    case RECORD_MMAP:
        process = process_find(l->processes, record->pid);
        old = process && record->mmap.executable ? process_mapping(process, record->mmap.address) : NULL;
        return old && (!old->path || !record->mmap.path || strcmp(old->path, record->mmap.path) != 0);
    default:
        return false;
    }
}

/* An order_sink. */
static int take(void *learner, const struct record *given, struct fathom_error *err)
{
    struct stack_learner *l = learner;
    struct record record = *given;
    int rc = announced_take(l->announced, &record, err);
    if (rc)
        return rc < 0 ? rc : 0;
    if (record.kind == RECORD_SAMPLE)
        return record.sample.known == SAMPLE_STACK_NEW ? learn(l, &record.sample, err) : 0;
    if (is_change(l, &record))
        l->in.forget(l->in.context, record.pid);
    return processes_apply(l->processes, &record, err);
}

static int read_all(struct stack_learner *l, struct fathom_error *err)
{
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < l->reading.used;) {
        struct perf_event_header header;
        memcpy(&header, l->reading.bytes + at, sizeof header);
        rc = order_push(l->order, l->reading.bytes + at, header.size, err);
        at += header.size;
    }
    if (rc == 0)
        rc = order_flush(l->order, err);
    l->reading.used = 0;
    return rc;
}

/* A failure ends learning; what is known stays so. */
static void *run(void *learner)
{
    struct stack_learner *l = learner;
    struct fathom_error err;
    int rc = 0;
    pthread_mutex_lock(&l->lock);
    while (!l->stop && rc == 0) {
        if (l->filling.used == 0) {
            pthread_cond_wait(&l->filled, &l->lock);
            continue;
        }
        struct queue empty = l->reading;
        l->reading = l->filling;
        l->filling = empty;
        pthread_mutex_unlock(&l->lock);
        rc = read_all(l, &err);
        pthread_mutex_lock(&l->lock);
    }
    l->stop = true;
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void clear(struct stack_learner *l)
{
    order_free(l->order);
    announced_free(l->announced);
    decoder_free(l->decoder);
    processes_free(l->processes);
    image_cache_free(l->images);
    table_free(l->ids);
    unwind_words_free(&l->words);
    free(l->reading.bytes);
    free(l->filling.bytes);
    pthread_cond_destroy(&l->filled);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static int keep_ids(struct stack_learner *l)
{
    for (size_t i = 0; i < l->in.count; i++)
        for (size_t k = 0; l->in.events[i].stacks && k < l->in.events[i].id_count; k++)
            if (!table_put(l->ids, l->in.events[i].ids[k], NULL))
                return -ENOMEM;
    return 0;
}

/* Signals are for the thread that records. */
static int start_thread(struct stack_learner *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int stack_learner_start(const struct stack_learner_input *input, struct stack_learner **out,
                        struct fathom_error *err)
{
    struct stack_learner *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(err);
    l->in = *input;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->filled, NULL);
    int rc = decoder_new(input->events, input->count, &l->decoder, err);
    if (rc == 0) {
        l->order = order_new(l->decoder, false, take, l);
        l->announced = announced_new(input->events, input->count);
        l->images = image_cache_new(&(struct image_options){0});
        l->processes = l->images ? processes_new(l->images, NULL) : NULL;
        l->ids = table_new();
        bool good = l->order && l->announced && l->processes && l->ids && keep_ids(l) == 0;
        rc = good ? start_thread(l) : ENOMEM;
        rc = rc ? error_system(err, rc, "cannot start the thread that learns stacks") : 0;
    }
    if (rc < 0)
        clear(l);
    else
        *out = l;
    return rc;
}

/* Whether the learner needs this record. */
static bool is_wanted(struct stack_learner *l, const struct perf_event_header *header)
{
    uint64_t id;
    if (header->type != PERF_RECORD_SAMPLE)
        return true;
    if (header->size < sizeof *header + sizeof id)
        return false;
    memcpy(&id, header + 1, sizeof id);
    bool stack = table_find(l->ids, id), full = l->filling.used > QUEUE_BYTES;
    bool wanted = stack ? !full : l->next;
    l->summary.left_out += stack && full;
    l->next = stack && wanted;
    return wanted;
}

int stack_learner_add(struct stack_learner *l, const void *records, size_t size, struct fathom_error *err)
{
    const uint8_t *at = records, *end = at + size;
    int rc = 0;
    pthread_mutex_lock(&l->lock);
    for (struct perf_event_header header; at < end && !l->stop && rc == 0; at += header.size) {
        memcpy(&header, at, sizeof header);
        if (!is_wanted(l, (const void *)at))
            continue;
        if (!vec_reserve(l->filling.bytes, l->filling.used, l->filling.room, header.size)) {
            rc = error_memory(err);
            continue;
        }
        memcpy(l->filling.bytes + l->filling.used, at, header.size);
        l->filling.used += header.size;
    }
    if (l->filling.used)
        pthread_cond_signal(&l->filled);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

void stack_learner_stop(struct stack_learner *l, struct stack_learner_summary *summary)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_signal(&l->filled);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    if (summary)
        *summary = l->summary;
    clear(l);
}

#include "api/record/walk_sink.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/stack_pairs.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/live/stack_learner.h"
#include "perfdata/stack_record.h"
#include "process/walked.h"

#define WAIT_BYTES (2 * STACK_LEARNER_QUEUE) /* the most that the learner can have */
#define WAIT_NS                                                                                              \
    900000000 /* with FLUSH_NS, the time that fathom-record(1) states; opening clang's libraries takes 1.5 s */
#define KEPT_NS UINT64_C(3000000000) /* there is no copy of such a stack */
/* Copies of stacks to keep of walks that ended early: this many bytes at once (a fifth of a minute of clang++), and then per second as
 * many as one of its stacks has, 58 MB an hour. */
#define KEPT_BYTES UINT64_C(4194304)
#define KEPT_RATE  16384
#define BYTE_NS    (UINT64_C(1000000000) / KEPT_RATE)
#define KEPT_EVERY 100
#define RECORD_MAX STACK_PAIRS_RECORD
/* Limit of frames found between two calls of walk_sink_add(), 24 bytes each: more than clang++ has in a second. A record of some hundred
 * bytes can yield STACK_FRAMES_MAX frames. */
#define FOUND_MAX 700000u

/* A waiting stack record, with the STACK_RECORD_MORE records before it and its sample after it. */
struct waiting {
    uint8_t *records; /* NULL: already passed on */
    uint32_t more_size, stack_size, size;
    uint32_t kept; /* number of the kept stack that it announces; 0: it has a copy */
    uint64_t key;
    uint64_t call, since; /* of walk_sink_add(); ns */
};

struct result {
    uint64_t key;
    uint32_t number;
    uint64_t time;
    size_t first; /* frame */
    struct walked walked;
};

struct results {
    struct result *all;
    size_t count, capacity;
    struct walked_frame *frames;
    size_t frame_count, frame_capacity;
};

struct walk_sink {
    collector_sink *next;
    void *context;                                  /* of next */
    void (*untold)(void *context, uint32_t number); /* may be NULL */
    void *untold_context;
    struct stack_pairs *pairs;
    uint64_t calls;
    struct waiting *queue;
    size_t first, count, capacity; /* entries before `first` were passed on */
    uint64_t dropped;              /* number of entries removed from the queue before queue[0] */
    uint64_t due;         /* entries that must be passed on before the next mark; UINT64_MAX: not yet known */
    struct table *places; /* key -> number of entries before it */
    size_t waiting;       /* bytes */
    struct walks *walks;
    uint64_t written;
    uint64_t kept_until; /* when the kept bytes are within KEPT_RATE again, ns */
    uint64_t left_out;
    uint64_t made[RECORD_MAX / 8 + 1];
    pthread_mutex_t lock;
    struct table *
        told; /* numbers of kept stacks whose frames were written: changed, and seen by the learner's thread, under the lock */
    struct results found; /* by the learner's thread: under the lock */
    struct results taken;
};

static void free_results(struct results *results)
{
    free(results->all);
    free(results->frames);
}

void walk_sink_free(struct walk_sink *s)
{
    if (!s)
        return;
    for (size_t i = s->first; i < s->count; i++)
        free(s->queue[i].records);
    free(s->queue);
    free_results(&s->found);
    free_results(&s->taken);
    table_free(s->places);
    table_free(s->told);
    walks_free(s->walks);
    stack_pairs_free(s->pairs);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* A key for a stack record: several waiting ones may have the number of the same kept stack. */
static uint64_t key_of(uint32_t number, const struct sample *sample)
{
    return hash_u64(hash_u64(hash_u64(sample->time) + number) + sample->tid);
}

bool walk_sink_wants(void *sink, uint32_t number)
{
    struct walk_sink *s = sink;
    pthread_mutex_lock(&s->lock);
    const bool wants = !table_find(s->told, number);
    pthread_mutex_unlock(&s->lock);
    return wants;
}

void walk_sink_untold(struct walk_sink *s, void (*untold)(void *context, uint32_t number), void *context)
{
    s->untold = untold;
    s->untold_context = context;
}

void walk_sink_walked(void *sink, const struct sample *sample, uint32_t number,
                      const struct unwind_frame *frames, size_t count, enum unwind_end end)
{
    struct walk_sink *s = sink;
    struct results *r = &s->found;
    pthread_mutex_lock(&s->lock);
    struct result result = {.key = key_of(sample->stack_number, sample),
                            .number = number,
                            .time = sample->time,
                            .first = r->frame_count};
    /* Else it remains a copy. Allocate one frame more, so that it works for 0 frames too. */
    if (r->frame_count + count <= FOUND_MAX &&
        vec_reserve(r->frames, r->frame_count, r->frame_capacity, count + 1)) {
        walked_make(sample, frames, count, end, r->frames + r->frame_count, &result.walked);
        result.walked.kept = number >= STACK_NUMBER_KEPT;
        if (vec_push(r->all, r->count, r->capacity, result))
            r->frame_count += count;
    }
    pthread_mutex_unlock(&s->lock);
}

/* Makes a record in s->made, with the walk in place of the copy, or in addition to the copy or to the places of a kept stack. 0: it does
 * not fit. */
static size_t make_record(struct walk_sink *s, const struct waiting *w, const struct result *result,
                          bool keep)
{
    struct record record;
    struct stack_record head;
    struct perf_event_header header;
    const uint8_t *stack = w->records + w->more_size;
    if (stack_pairs_decode(s->pairs, stack, w->stack_size, &record) < 0)
        return 0;
    const struct sample *sample = &record.sample;
    memcpy(&head, sample->raw, sizeof head);
    const uint8_t *parts = sample->raw + sizeof head, *rest = sample->raw + sample->raw_size;
    const size_t before = (size_t)(sample->raw - stack), behind = w->stack_size - before - sample->raw_size;
    head.kind = w->kept ? STACK_RECORD_NEW : head.kind;
    head.number = result->number;
    const size_t copy = keep || w->kept ? head.size : 0,
                 frames_at = before + sizeof head + sizeof(struct stack_part);
    uint8_t *made = (uint8_t *)s->made;
    if (frames_at + copy + behind + 8 > RECORD_MAX)
        return 0;
    const size_t frames = walks_write(s->walks, sample->tid, sample->time, head.number, &result->walked,
                                      made + frames_at, RECORD_MAX - frames_at - copy - behind - 8);
    if (!frames)
        return 0;
    const struct stack_part part = {STACK_PART_FRAMES, 0, (uint32_t)frames};
    head.size = (uint32_t)(sizeof part + frames + copy);
    const size_t used = sizeof head + head.size;
    const uint32_t raw_size = (uint32_t)(((used + 4 + 7) & ~(size_t)7) - 4);
    memcpy(&header, stack, sizeof header);
    header.size = (uint16_t)(before + raw_size + behind);
    memcpy(made, stack, before);
    memcpy(made, &header, sizeof header);
    memcpy(made + before - sizeof raw_size, &raw_size, sizeof raw_size);
    memcpy(made + before, &head, sizeof head);
    memcpy(made + before + sizeof head, &part, sizeof part);
    memcpy(made + frames_at + frames, parts, copy);
    memset(made + before + used, 0, raw_size - used);
    memcpy(made + before + raw_size, rest, behind);
    return header.size;
}

/* Whether to keep the copy of a stack whose walk ended early. */
static bool may_keep(struct walk_sink *s, const struct waiting *w, uint64_t time)
{
    const uint64_t until =
        (s->kept_until > time ? s->kept_until : time) + (w->more_size + w->stack_size) * BYTE_NS;
    if (until - time > KEPT_BYTES * BYTE_NS)
        return false;
    s->kept_until = until;
    return true;
}

/* Without memory nothing is lost: the frames are just written again. */
static void note_told(struct walk_sink *s, uint32_t number)
{
    pthread_mutex_lock(&s->lock);
    table_put(s->told, number, NULL);
    pthread_mutex_unlock(&s->lock);
}

/* Reports that a record is passed on unchanged, if it announces a kept stack. */
static void tell_untold(struct walk_sink *s, uint32_t kept)
{
    if (kept && s->untold && !table_find(s->told, kept))
        s->untold(s->untold_context, kept);
}

/* Passes on a waiting record: with its walk, or unchanged (NULL). */
static int pass_record(struct walk_sink *s, struct waiting *w, const struct result *result,
                       struct fathom_error *err)
{
    const bool early = result && result->walked.end != UNWIND_ROOT && result->walked.end != UNWIND_SIGNAL,
               keep = result && !early && !w->kept && ++s->written % KEPT_EVERY == 0;
    size_t made = 0, more = 0; /* bytes of the records before it that are passed on with the made record */
    if (result && !(early && may_keep(s, w, result->time)))
        made = make_record(s, w, result, keep);
    if (keep)
        more = made ? w->more_size : 0;
    if (keep && !made)
        made = make_record(s, w, result, false);
    if (made && w->kept == result->number)
        note_told(s, w->kept);
    else if (!made)
        tell_untold(s, w->kept);
    s->left_out += early && made;
    int rc = more ? s->next(s->context, w->records, more, err) : 0;
    if (rc == 0 && made)
        rc = s->next(s->context, s->made, made, err);
    const size_t done = made ? w->more_size + w->stack_size : 0;
    if (rc == 0)
        rc = s->next(s->context, w->records + done, w->size - done, err);
    table_remove(s->places, w->key);
    s->waiting -= w->size;
    free(w->records);
    w->records = NULL;
    return rc;
}

static struct waiting *find_waiting(struct walk_sink *s, uint64_t key)
{
    const uint64_t *place = table_find(s->places, key);
    return place ? &s->queue[*place - s->dropped] : NULL;
}

/* Passes on records whose stacks were walked. */
static int pass_walked(struct walk_sink *s, struct fathom_error *err)
{
    struct results *r = &s->taken;
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    const struct results empty = *r;
    *r = s->found;
    s->found = empty;
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < r->count && rc == 0; i++) {
        struct result *result = &r->all[i];
        struct waiting *w = find_waiting(s, result->key);
        result->walked.frames = r->frames + result->first;
        rc = w ? pass_record(s, w, result, err) : 0;
    }
    r->count = r->frame_count = 0;
    return rc;
}

/* Passes on records that will not be walked, and removes from the queue what was passed on. */
static int pass_late(struct walk_sink *s, uint64_t looked, struct fathom_error *err)
{
    const uint64_t now = clock_ns();
    int rc = 0;
    for (; s->first < s->count && rc == 0; s->first++) {
        struct waiting *w = &s->queue[s->first];
        if (w->records && w->call > looked && now - w->since < (w->kept ? KEPT_NS : WAIT_NS))
            break;
        rc = w->records ? pass_record(s, w, NULL, err) : 0;
    }
    if (s->first > s->count / 2) {
        s->count -= s->first;
        memmove(s->queue, s->queue + s->first, s->count * sizeof *s->queue);
        s->dropped += s->first;
        s->first = 0;
    }
    return rc;
}

/* Whether a record has a stack that can be walked, or a kept stack whose frames must be written. */
static bool is_wanted(void *sink, const struct sample *sample)
{
    const struct walk_sink *s = sink;
    struct stack_record head;
    if (!sample->raw || sample->raw_size < sizeof head)
        return false;
    memcpy(&head, sample->raw, sizeof head);
    return head.magic == STACK_RECORD_MAGIC && head.version == STACK_RECORD_VERSION && head.size > 0 &&
           head.size <= sample->raw_size - sizeof head &&
           (head.kind == STACK_RECORD_NEW || head.kind == STACK_RECORD_AGAIN ||
            (head.kind == STACK_RECORD_SAME && head.number >= STACK_NUMBER_KEPT &&
             !table_find(s->told, head.number)));
}

/* Queues a stack record and its sample. false: the queue is full. */
static bool let_wait(struct walk_sink *s, const struct stack_pair *pair, uint32_t number, uint32_t kept)
{
    bool added;
    const uint32_t more_size = (uint32_t)pair->more_size, stack_size = pair->stack_record->size,
                   size = more_size + stack_size + pair->sample_record->size;
    if (s->waiting + size > WAIT_BYTES || !vec_reserve(s->queue, s->count, s->capacity, 1))
        return false;
    const uint64_t key = key_of(number, pair->stack);
    uint64_t *place = table_put(s->places, key, &added);
    if (!place || !added)
        return false;
    *place = s->dropped + s->count;
    uint8_t *records = malloc(size);
    if (!records) {
        table_remove(s->places, key);
        return false;
    }
    if (more_size)
        memcpy(records, pair->more, more_size);
    memcpy(records + more_size, pair->stack_record, stack_size);
    memcpy(records + more_size + stack_size, pair->sample_record, pair->sample_record->size);
    s->queue[s->count++] = (struct waiting){.records = records,
                                            .more_size = more_size,
                                            .stack_size = stack_size,
                                            .size = size,
                                            .kept = kept,
                                            .key = key,
                                            .call = s->calls,
                                            .since = clock_ns()};
    s->waiting += size;
    return true;
}

static int put_off(void *sink, const struct stack_pair *pair, struct fathom_error *err)
{
    struct walk_sink *s = sink;
    struct stack_record head;
    (void)err;
    memcpy(&head, pair->stack->raw, sizeof head);
    const uint32_t kept = head.kind == STACK_RECORD_SAME ? head.number : 0;
    if (let_wait(s, pair, head.number, kept))
        return STACK_PAIR_TAKE;
    tell_untold(s, kept);
    return STACK_PAIR_LEAVE;
}

/* At a mark, a reader delivers all records no younger than the youngest record before the last mark (order.h). Records of the round
 * after that mark may be as old, so all records up to the mark that ended that round must be passed on first. */
static bool take_mark(void *sink)
{
    struct walk_sink *s = sink;
    const uint64_t come = s->dropped + s->count, passed = s->dropped + s->first;
    if (s->due > come)
        s->due = come;
    const bool ready = passed >= s->due;
    if (ready)
        s->due = UINT64_MAX;
    return ready;
}

static int pass_on(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct walk_sink *s = sink;
    return s->next(s->context, records, size, err);
}

int walk_sink_new(const struct event *events, size_t count, collector_sink *next, void *context,
                  struct walk_sink **out, struct fathom_error *err)
{
    struct walk_sink *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->next = next;
    s->context = context;
    pthread_mutex_init(&s->lock, NULL);
    s->places = table_new();
    s->told = table_new();
    s->walks = walks_new();
    const struct stack_pairs_input input = {.events = events,
                                            .count = count,
                                            .is_wanted = is_wanted,
                                            .take = put_off,
                                            .pass_mark = take_mark,
                                            .next = pass_on,
                                            .context = s};
    int rc = s->places && s->told && s->walks ? stack_pairs_new(&input, &s->pairs, err) : error_memory(err);
    if (rc < 0)
        walk_sink_free(s);
    else
        *out = s;
    return rc;
}

int walk_sink_add(struct walk_sink *s, uint64_t looked, const void *records, size_t size,
                  struct fathom_error *err)
{
    s->calls++;
    int rc = pass_walked(s, err);
    if (rc == 0)
        rc = pass_late(s, looked, err);
    return rc == 0 ? stack_pairs_add(s->pairs, records, size, err) : rc;
}

uint64_t walk_sink_left_out(const struct walk_sink *s)
{
    return s->left_out;
}

int walk_sink_finish(struct walk_sink *s, struct fathom_error *err)
{
    int rc = pass_walked(s, err);
    if (rc == 0)
        rc = pass_late(s, UINT64_MAX, err);
    return rc == 0 ? stack_pairs_finish(s->pairs, err) : rc;
}

/* waits.c - see waits.h. */
#include "collector/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collector/events/event_attr.h"
#include "collector/rings/clock_pair.h"
#include "collector/rings/records.h"
#include "collector/targets/proc.h"

/* A wait of which one of two records was read. They can be in two rings, each followed by other records of
 * the thread. */
struct half_told {
    struct wait_record begins, ends; /* magic 0: not read */
    uint64_t ended;                  /* recording's clock, ns */
    uint64_t waited, ready;          /* ns of it that samples already cover */
    size_t next_free;                /* in the list of unused items: index + 1; 0: none */
};

/* A thread's waits that are not long: the sum over the last reported ones, weighted for those that they stand
 * for, and the total over all of them meanwhile; ns. */
struct short_waits {
    uint64_t counted; /* struct wait_record */
    double told, all;
    double written; /* of all of them */
};

#define ATTACHED_FIRST                                                                                       \
    0xe0000000u /* numbers of stacks, above those that the program uses and below STACK_NUMBER_KEPT */
#define ATTACHED_BYTES 49152u     /* maximum bytes read of a stack */
#define LASTING_EVERY  500000000u /* ns between two checks of waits in progress */
#define LASTING_LEAST  100000000u /* ns: least length to be reported, with its own weight */

struct waits {
    uint64_t id, wakers_id, stacks_id; /* wakers_id 0: not requested */
    uint64_t clock;                    /* recording's clock minus CLOCK_MONOTONIC, ns, modulo 2^64 */
    uint64_t from, until; /* time during which the events are on, recording's clock; 0: unknown yet */
    uint64_t looked;      /* last check of waits in progress, same clock */
    unsigned compared;
    struct table *half_told; /* TID and number -> index in `items` + 1 */
    struct half_told *items;
    size_t count, capacity, free; /* free: index + 1 of an unused item; 0: none */
    struct table *short_places;   /* TID -> index in `shorts` + 1 */
    struct short_waits *shorts;
    size_t short_count, short_capacity;
    uint32_t stack_tid;
    uint64_t stack_time; /* of the last stack record, if no sample used it yet; 0: one did */
    bool lasts;          /* the wait being written has not ended yet */
    uint32_t attached;   /* number of stacks written for threads that waited at the start */
};

/* Fills in an event of samples with raw data and these fields; mark: attr.config1. */
static void make_event(struct event *event, uint64_t *id, enum perf_sw_ids counts, uint64_t mark,
                       uint64_t fields, const char *name)
{
    *event = (struct event){
        .attr = {.type = PERF_TYPE_SOFTWARE, .config = counts, .config1 = mark}, .ids = id, .id_count = 1};
    snprintf(event->name, sizeof event->name, "%s", name);
    attr_set_layout(true, &event->attr);
    event->attr.sample_type |= PERF_SAMPLE_RAW | fields;
    event->attr.sample_period = 1;
    event->attr.inherit = 0;
}

int waits_new(const struct waits_options *options, struct event *events, struct waits **out,
              struct fathom_error *err)
{
    uint64_t monotonic, recording;
    const bool wakers = options->wakers_id;
    *out = NULL;
    const int rc = clock_pair_read(&monotonic, &recording);
    if (rc < 0)
        return error_system(err, -rc,
                            "waits cannot be recorded (--off-cpu): the recording's clock cannot be read");
    struct waits *w = malloc(sizeof *w);
    uint64_t *id = malloc(sizeof *id), *wakers_id = wakers ? malloc(sizeof *wakers_id) : NULL;
    if (w)
        *w = (struct waits){.id = options->id,
                            .wakers_id = options->wakers_id,
                            .stacks_id = options->stacks_id,
                            .clock = recording - monotonic,
                            .compared = options->compared,
                            .half_told = table_new(),
                            .short_places = table_new()};
    if (!w || !w->half_told || !w->short_places || !id || (wakers && !wakers_id)) {
        waits_free(w);
        free(id);
        free(wakers_id);
        return error_memory(err);
    }
    *id = options->id;
    /* a clock of the thread, so that it counts ns */
    make_event(&events[0], id, PERF_COUNT_SW_TASK_CLOCK, EVENT_WAITS_MARK,
               PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD, EVENT_WAITS_NAME);
    events[0].attr.config2 = options->wall ? EVENT_WALL_REPORTED : 0;
    if (wakers) {
        *wakers_id = options->wakers_id;
        make_event(&events[1], wakers_id, PERF_COUNT_SW_DUMMY, EVENT_WAKEUPS_MARK, 0, EVENT_WAKEUPS_NAME);
    }
    *out = w;
    return 0;
}

void waits_free(struct waits *w)
{
    if (!w)
        return;
    table_free(w->half_told);
    table_free(w->short_places);
    free(w->items);
    free(w->shorts);
    free(w);
}

static uint64_t key_of(const struct wait_record *r)
{
    return (uint64_t)r->tid << 32 | r->number;
}

/* NULL: out of memory. */
static struct half_told *find_half(struct waits *w, const struct wait_record *r)
{
    uint64_t *place = table_put(w->half_told, key_of(r), NULL);
    if (place && *place == 0 && w->free) {
        *place = w->free;
        w->free = w->items[*place - 1].next_free;
        w->items[*place - 1] = (struct half_told){0};
    } else if (place && *place == 0) {
        *place = vec_push(w->items, w->count, w->capacity, (struct half_told){0}) ? w->count : 0;
    }
    return place && *place ? &w->items[*place - 1] : NULL;
}

/* The layout that waits_new() requests. */
struct wait_sample {
    struct sample_record sample;
    uint64_t address, period;
    uint32_t raw_size;
    struct wait_raw raw;
    uint64_t abi, bp, sp, ip;
};

/* The same, of a waker. */
struct waker_sample {
    struct sample_record sample;
    uint32_t raw_size;
    struct waker_raw raw;
    uint64_t abi, bp, sp, ip;
};
_Static_assert(ATTR_REGISTERS == (1 << 6 | 1 << 7 | 1 << 8), "the registers of struct wait_sample");

/* Writes a sample of so many ns. 0: it only has the stack of a wait that will end later. */
static int write_sample(const struct waits *w, const struct wait_record *b, unsigned reason, uint64_t weight,
                        uint64_t time, struct batch *batch, struct fathom_error *err)
{
    const struct wait_sample s = {
        .sample = {.header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof s},
                   .id = w->id,
                   .ip = b->ip,
                   .pid = b->pid,
                   .tid = b->tid,
                   .time = time},
        .address = b->lock,
        .period = weight,
        .raw_size = sizeof s.raw,
        .raw = {reason, w->lasts && b->number != WAIT_UNNUMBERED ? WAIT_LASTS : b->number, 0},
        .abi = PERF_SAMPLE_REGS_ABI_64,
        .bp = b->bp,
        .sp = b->sp,
        .ip = b->ip};
    return batch_pass(batch, &s, sizeof s, err);
}

static uint64_t short_key(uint32_t tid, unsigned reason)
{
    return (uint64_t)tid * WAIT_REASONS + (reason - WAIT_RUNNABLE) % WAIT_REASONS;
}

static struct short_waits *find_short(struct waits *w, uint32_t tid, unsigned reason)
{
    uint64_t *place = table_put(w->short_places, short_key(tid, reason), NULL);
    if (place && *place == 0 &&
        vec_push(w->shorts, w->short_count, w->short_capacity, (struct short_waits){0}))
        *place = w->short_count;
    return place && *place ? &w->shorts[*place - 1] : NULL;
}

/* Resets a thread's sums at its first reported wait: another thread with the same TID may have been counted
 * before. */
static void forget_short(const struct waits *w, uint32_t tid)
{
    for (unsigned reason = WAIT_RUNNABLE; reason < WAIT_RUNNABLE + WAIT_REASONS; reason++) {
        const uint64_t *place = table_find(w->short_places, short_key(tid, reason));
        if (place && *place)
            w->shorts[*place - 1] = (struct short_waits){0};
    }
}

#define SHORTS_USED 32  /* number of last reported waits to use */
#define LEFT_MOST   2.0 /* maximum factor by which a weight is corrected for the error of earlier ones */

/* The weight of a part of a wait, of so many ns, for this reason. Being reported makes a wait somewhat
 * longer, as it leaves caches cold: so short ones are scaled by the ratio of the total that the program
 * counted to the sum expected from the reported ones (a ratio estimator), and corrected by the remaining
 * error of earlier weights: each thread's samples of a reason add up to what was counted. Both factors are
 * from the waits before this one: with its own length in them, paths of long waits would get too little
 * weight, and those of short ones too much. */
static double weight_of(struct waits *w, const struct wait_record *begins, const struct wait_record *ends,
                        unsigned reason, uint64_t ns)
{
    const uint64_t counted = reason == WAIT_RUNNABLE ? ends->ready_shorts : ends->shorts;
    const double told = (double)ns * (begins->scale ? (double)begins->scale / WAIT_SCALE_ONE : 1);
    const double prior =
        VERIFY_WAIT_EVERY; /* for the first few: as if one more had been reported without scaling */
    struct short_waits *s = ends->length < VERIFY_WAIT_LONG ? find_short(w, begins->tid, reason) : NULL;
    if (!s || told <= 0)
        return ends->length < VERIFY_WAIT_LONG ? told : (double)ns;
    const double left = 1 + ((double)s->counted - s->written) / (s->all + prior);
    const double own = told * (s->all + prior) / (s->told + prior);
    const double weight = own * (left > LEFT_MOST ? LEFT_MOST : left < 1 / LEFT_MOST ? 1 / LEFT_MOST : left);
    if (counted > s->counted) { /* else a later wait was read first, from another ring */
        s->all += (double)(counted - s->counted) - s->all / SHORTS_USED;
        s->counted = counted;
    }
    s->told += told - s->told / SHORTS_USED;
    s->written += weight;
    return weight;
}

/* The part of a wait that is within the recording: the program runs from the time it is loaded. */
static struct wait_record within_recording(const struct waits *w, const struct wait_record *ends,
                                           uint64_t time)
{
    struct wait_record r = *ends;
    const uint64_t over = w->until && time > w->until ? time - w->until : 0, end = time - over,
                   most = end > w->from ? end - w->from : 0;
    r.ready = r.ready > over ? r.ready - over : 0;
    r.length = r.length > over ? r.length - over : 0;
    r.length = r.length < most ? r.length : most;
    r.ready = r.ready < r.length ? r.ready : r.length;
    return r;
}

static uint64_t less(uint64_t whole, uint64_t told)
{
    return whole > told ? whole - told : 0;
}

/* Writes a sample of a part of a wait, with its weight. `whole`: length of the wait; `own`: the part that
 * counts, ns. */
static int write_part(struct waits *w, const struct half_told *h, unsigned reason, uint64_t whole,
                      uint64_t own, struct batch *batch, unsigned *made, struct fathom_error *err)
{
    if (!own || !whole)
        return 0;
    const double weight = weight_of(w, &h->begins, &h->ends, reason, whole) * ((double)own / (double)whole);
    ++*made;
    return write_sample(w, &h->begins, reason, weight < 0x1p64 ? (uint64_t)weight : UINT64_MAX, h->ended,
                        batch, err);
}

/* Writes the samples of a wait that has ended, or that lasts until now: the part within the recording, less
 * what earlier samples cover. */
static int write_wait(struct waits *w, struct half_told *h, struct batch *batch, unsigned *made,
                      struct fathom_error *err)
{
    const struct wait_record own = within_recording(w, &h->ends, h->ended);
    const uint64_t ready = less(own.ready, h->ready), waited = less(own.length - own.ready, h->waited);
    int rc = write_part(w, h, h->begins.reason, h->ends.length - h->ends.ready, waited, batch, made, err);
    if (rc == 0)
        rc = write_part(w, h, WAIT_RUNNABLE, h->ends.ready, ready, batch, made, err);
    h->waited += waited;
    h->ready += ready;
    return rc;
}

void waits_note_stack(struct waits *w, uint32_t tid, uint64_t time)
{
    w->stack_tid = tid;
    w->stack_time = time;
}

/* The wait's stack is in the previous record, if there is one. */
static int begin_wait(struct waits *w, const struct wait_record *r, struct batch *batch,
                      struct fathom_error *err)
{
    const uint64_t time = w->stack_tid == r->tid ? w->stack_time : 0;
    w->stack_time = 0;
    return time ? write_sample(w, r, r->reason, 0, time, batch, err) : 0;
}

/* Beginning of a record of the event of stacks. */
struct stack_start {
    struct sample_record sample;
    uint32_t raw_size;
    struct stack_record head;
} __attribute__((packed));

/* A stack record read by us. */
struct read_stack {
    struct stack_start start;
    struct stack_part registers_part;
    uint64_t mask, registers[2];
    struct stack_part bytes_part;
    int64_t offset;
    uint8_t bytes[ATTACHED_BYTES + 8];
} __attribute__((packed));

/* Writes a new stack. size: bytes after the head. */
static int write_stack(struct waits *w, const struct wait_record *b, struct stack_start *s, size_t size,
                       uint64_t time, struct batch *batch, struct fathom_error *err)
{
    const size_t whole = (sizeof *s + size + 7) & ~(size_t)7;
    s->sample = (struct sample_record){
        .header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = (uint16_t)whole},
        .id = w->stacks_id,
        .pid = b->pid,
        .tid = b->tid,
        .time = time};
    s->raw_size = (uint32_t)(whole - offsetof(struct stack_start, head));
    s->head = (struct stack_record){.magic = STACK_RECORD_MAGIC,
                                    .version = STACK_RECORD_VERSION,
                                    .kind = STACK_RECORD_NEW,
                                    .page_bits = verify_page_bits(w->compared),
                                    .compared = (uint8_t)w->compared,
                                    .number = ATTACHED_FIRST + w->attached++,
                                    .size = (uint32_t)size,
                                    .ip = b->ip,
                                    .sp = b->sp};
    return batch_pass(batch, s, whole, err);
}

/* Writes a wait whose stack was not read: its samples say so themselves, as the last announcement for this
 * place remains valid. */
static int write_unread(struct waits *w, const struct wait_record *r, uint64_t time, struct batch *batch,
                        unsigned *made, struct fathom_error *err)
{
    struct half_told whole = {.begins = *r, .ends = *r, .ended = time};
    whole.begins.number = WAIT_UNNUMBERED; /* r->number is that of the wait before */
    return write_wait(w, &whole, batch, made, err);
}

/* Writes a wait of which both records were read. */
static int write_told(struct waits *w, struct half_told *h, struct batch *batch, unsigned *made,
                      struct fathom_error *err)
{
    const int rc = write_wait(w, h, batch, made, err);
    table_remove(w->half_told, key_of(&h->begins));
    h->next_free = w->free;
    w->free = (size_t)(h - w->items) + 1;
    return rc;
}

/* The waker's stack is in the previous record, if it has one. */
static int write_waker(struct waits *w, const struct waker_record *r, uint64_t time, struct batch *batch,
                       struct fathom_error *err)
{
    const bool own = r->kind == WAKER_THREAD, told = w->stack_time && w->stack_tid == r->tid;
    struct waker_sample s = {
        .sample = {.header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof s},
                   .id = w->wakers_id,
                   .ip = own ? r->ip : 0,
                   .pid = r->pid,
                   .tid = r->tid,
                   .time = own && told ? w->stack_time : time},
        .raw_size = sizeof s.raw,
        .raw = {r->kind, r->woken, r->wait, ""},
        .abi = own ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE,
        .bp = r->bp,
        .sp = r->sp,
        .ip = r->ip};
    if (r->kind == WAKER_OTHER || r->kind == WAKER_KERNEL)
        memcpy(s.raw.name, r->comm, sizeof s.raw.name - 1);
    if (own)
        w->stack_time = 0;
    else
        s.sample.header.size -= (uint16_t)(sizeof s - offsetof(struct waker_sample, bp));
    return batch_pass(batch, &s, s.sample.header.size, err);
}

static int take_wait(struct waits *w, const struct wait_record *r, uint64_t time, struct batch *batch,
                     unsigned *made, struct fathom_error *err)
{
    if (r->kind == WAIT_UNREAD)
        return write_unread(w, r, time, batch, made, err);
    struct half_told *h = find_half(w, r);
    if (!h)
        return error_memory(err);
    int rc = 0;
    if (r->kind == WAIT_BEGINS) {
        if (r->number == 1)
            forget_short(w, r->tid);
        h->begins = *r;
        rc = begin_wait(w, r, batch, err);
    } else {
        h->ends = *r;
        h->ended = time;
    }
    return rc == 0 && h->begins.magic && h->ends.magic ? write_told(w, h, batch, made, err) : rc;
}

int waits_take(struct waits *w, const struct sample *sample, struct batch *batch, unsigned *made,
               struct fathom_error *err)
{
    struct wait_record r;
    struct waker_record waker;
    int rc;
    *made = 0;
    if (record_view(sample->raw, sample->raw_size, &r, sizeof r) && r.magic == WAIT_RECORD_MAGIC)
        rc = take_wait(w, &r, sample->time, batch, made, err);
    else if (w->wakers_id && record_view(sample->raw, sample->raw_size, &waker, sizeof waker) &&
             waker.magic == WAKER_RECORD_MAGIC)
        rc = write_waker(w, &waker, sample->time, batch, err);
    else
        return 0;
    return rc < 0 ? rc : 1;
}

/* Whether the thread is still off CPU, in a wait at this SP. */
static bool still_waits(pid_t pid, pid_t tid, uint64_t sp)
{
    struct proc_wait wait;
    return proc_thread_waits(pid, tid, &wait) == 0 && wait.sp == sp;
}

/* Reads the stack of a thread that has been waiting since before the recording. */
static int read_attached(struct waits *w, const struct wait_record *b, uint64_t now, struct batch *batch,
                         struct fathom_error *err)
{
    struct read_stack *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    const size_t size = proc_read_memory((pid_t)b->pid, b->sp, s->bytes, ATTACHED_BYTES) & ~(size_t)7;
    s->registers_part = (struct stack_part){STACK_PART_REGISTERS, 0, sizeof s->mask + sizeof s->registers};
    s->mask = 1u << 7 | 1u << 8; /* SP, IP */
    s->registers[0] = b->sp;
    s->registers[1] = b->ip;
    s->bytes_part = (struct stack_part){STACK_PART_BYTES, 0, (uint32_t)(sizeof s->offset + size)};
    const size_t parts =
        offsetof(struct read_stack, bytes) - offsetof(struct read_stack, registers_part) + size;
    int rc = size ? write_stack(w, b, &s->start, parts, now, batch, err) : 0;
    free(s);
    if (rc == 0 && size)
        rc = write_sample(w, b, b->reason, 0, now, batch, err);
    return rc;
}

int waits_attach(struct waits *w, struct verify *verify, pid_t pid, pid_t tid, struct batch *batch,
                 struct fathom_error *err)
{
    struct proc_wait wait;
    if (proc_thread_waits(pid, tid, &wait) != 0)
        return 0;
    const uint64_t now = clock_ns() + w->clock;
    const enum wait_reason reason = wait_reason(1, wait.call);
    /* otherwise it got a CPU meanwhile */
    if (!verify_waits(verify, tid, reason) || !still_waits(pid, tid, wait.sp))
        return 0;
    const struct wait_record begins = {.magic = WAIT_RECORD_MAGIC,
                                       .kind = WAIT_BEGINS,
                                       .reason = (uint8_t)reason,
                                       .pid = (uint32_t)pid,
                                       .tid = (uint32_t)tid,
                                       .scale = WAIT_SCALE_ONE,
                                       .ip = wait.pc,
                                       .sp = wait.sp,
                                       .lock = wait_lock(reason, wait.call, wait.first)};
    struct half_told *h = find_half(w, &begins);
    if (!h)
        return error_memory(err);
    h->begins = begins;
    return read_attached(w, &begins, now, batch, err);
}

/* Context of a walk over the waits in progress. */
struct lasting {
    struct waits *waits;
    uint64_t now; /* by the recording's clock */
    struct batch *batch;
    unsigned *made;
};

static int finish_wait(void *context, const struct wait_record *wait, struct fathom_error *err)
{
    const struct lasting *l = context;
    return take_wait(l->waits, wait, l->now, l->batch, l->made, err);
}

/* A wait without a known stack is reported when it ends. */
static int tell_wait(void *context, const struct wait_record *wait, struct fathom_error *err)
{
    const struct lasting *l = context;
    const uint64_t *place = wait->kind == WAIT_ENDS && wait->length >= LASTING_LEAST
                                ? table_find(l->waits->half_told, key_of(wait))
                                : NULL;
    struct half_told *h = place && *place ? &l->waits->items[*place - 1] : NULL;
    if (!h || !h->begins.magic || h->ends.magic)
        return 0;
    h->ends = *wait;
    h->ended = l->now;
    const int rc = write_wait(l->waits, h, l->batch, l->made, err);
    h->ends.magic = 0;
    return rc;
}

static int see_lasting(const struct lasting *l, const struct verify *verify, verify_see_wait *see,
                       struct fathom_error *err)
{
    *l->made = 0;
    l->waits->lasts = true;
    const int rc = verify_waiting(verify, see, (void *)l, err);
    l->waits->lasts = false;
    return rc;
}

void waits_begin(struct waits *w)
{
    w->from = w->from ? w->from : clock_ns() + w->clock;
}

void waits_end(struct waits *w)
{
    w->until = w->until ? w->until : clock_ns() + w->clock;
}

int waits_finish(struct waits *w, const struct verify *verify, struct batch *batch, unsigned *made,
                 struct fathom_error *err)
{
    const struct lasting l = {.waits = w, .now = clock_ns() + w->clock, .batch = batch, .made = made};
    return see_lasting(&l, verify, finish_wait, err);
}

int waits_tell(struct waits *w, const struct verify *verify, struct batch *batch, unsigned *made,
               struct fathom_error *err)
{
    const struct lasting l = {.waits = w, .now = clock_ns() + w->clock, .batch = batch, .made = made};
    *made = 0;
    if (l.now - w->looked < LASTING_EVERY)
        return 0;
    w->looked = l.now;
    return see_lasting(&l, verify, tell_wait, err);
}

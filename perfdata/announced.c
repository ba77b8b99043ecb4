/* announced.c - see announced.h. */
#include "perfdata/announced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/script_record.h"
#include "perfdata/scripts.h"
#include "perfdata/stack_parts.h"
#include "perfdata/walks.h"

/* Bytes of a stack whose record has yet to come. */
struct more {
    struct stack_record head;
    uint32_t tid;
    uint32_t from, end; /* range of bytes from SP; end 0: none */
};

struct announced {
    const struct event *events;
    size_t count;
    bool *followed; /* by event: whether the BPF program sees it, as a sample of it had a record */
    /* thread, page of code and SP -> what was announced last: a record's number, and `places` << 32 */
    struct table *last;
    struct table *places_of; /* hash of places -> index in `places` + 1 */
    struct stack_places *places;
    size_t place_count, place_capacity;
    /* TID with announcements -> how often they were dropped; part of the keys of `last` */
    struct table *lives;
    uint64_t damaged, unresolved;
    bool any;          /* a stack record was seen */
    uint8_t page_bits; /* as in the first record */
    uint8_t compared;  /* the same */
    bool from_sp;      /* as in struct sample */
    bool pending;      /* the last record's sample, the thread's next one, has not come yet */
    uint32_t checks;   /* the number of the stack that it should be; 0: none */
    uint32_t pending_tid;
    uint64_t pending_time;
    struct stack_parts parts; /* of the last record; bytes: NULL if its stack is not new */
    struct scripts *scripts;  /* NULL: not used */
    struct walks *walks;
    struct walked walked; /* of the last record, like the next */
    bool has_walked;
    bool no_places;
    struct stack_places last_places; /* count: 0: the record has none */
    struct more more;                /* its bytes are in `unfolded` */
    /* the stack of the last record, if it has a run, words, or more bytes that came before; otherwise unused */
    uint8_t *unfolded;
    size_t unfolded_capacity;
};

static bool is_sampled(const struct event *event)
{
    bool dummy = event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
    return !event->audit && !event->stacks && !dummy && (event->attr.freq || event->attr.sample_period);
}

/* If the BPF program can see only one event, it is that one. */
static void follow_only(struct announced *a)
{
    size_t sampled = 0, last = 0;
    for (size_t i = 0; i < a->count; i++)
        if (is_sampled(&a->events[i])) {
            sampled++;
            last = i;
        }
    if (sampled == 1)
        a->followed[last] = true;
}

void announced_leave_places(struct announced *a)
{
    a->no_places = true;
}

struct announced *announced_new(const struct event *events, size_t count)
{
    struct announced *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (struct announced){.events = events,
                            .count = count,
                            .followed = calloc(count, sizeof *a->followed),
                            .last = table_new(),
                            .lives = table_new(),
                            .places_of = table_new(),
                            .walks = walks_new()};
    if (a->followed && a->last && a->lives && a->places_of && a->walks) {
        follow_only(a);
        return a;
    }
    announced_free(a);
    return NULL;
}

void announced_use_scripts(struct announced *a, struct scripts *scripts)
{
    a->scripts = scripts;
    scripts_restart(scripts);
}

void announced_free(struct announced *a)
{
    if (!a)
        return;
    table_free(a->last);
    table_free(a->lives);
    table_free(a->places_of);
    free(a->places);
    walks_free(a->walks);
    free(a->followed);
    free(a->unfolded);
    free(a);
}

uint64_t announced_damaged(const struct announced *a)
{
    return a->damaged + (a->scripts ? scripts_damaged(a->scripts) : 0);
}

uint64_t announced_unresolved(const struct announced *a)
{
    return a->unresolved;
}

static uint64_t key_of(const struct announced *a, uint32_t tid, uint64_t ip, uint64_t sp)
{
    const uint64_t *life = table_find(a->lives, tid);
    return hash_u64(hash_u64(sp) + (ip >> a->page_bits)) ^
           hash_u64((tid | (life ? *life << 32 : 0)) + UINT64_C(0x9e3779b97f4a7c15));
}

/* Drops the announcements of a thread. The program may still rely on them, and then says nothing. */
static void forget_announcements(struct announced *a, uint32_t tid)
{
    uint64_t *life = table_find(a->lives, tid);
    if (life)
        ++*life;
}

/* Drops the announcements of a thread or process that starts anew. */
static void forget_thread(struct announced *a, uint32_t tid)
{
    forget_announcements(a, tid);
    if (a->scripts)
        scripts_forget(a->scripts, tid);
}

/* Whether a record may follow those before it. */
static bool is_plausible(const struct announced *a, const struct stack_record *r)
{
    return r->page_bits < 64 && (!a->any || (r->page_bits == a->page_bits && r->compared == a->compared)) &&
           r->kind >= STACK_RECORD_NEW && r->kind <= STACK_RECORD_MORE &&
           (r->kind == STACK_RECORD_NONE) == (r->number == 0) &&
           (r->kind == STACK_RECORD_RETURNED) == (r->number == STACK_RECORD_LATE) &&
           (r->kind == STACK_RECORD_GONE) == (r->number == STACK_RECORD_NOWHERE);
}

/* Whether a record is about the stack with the bytes in `more`. */
static bool is_of_more(const struct more *more, uint32_t tid, const struct stack_record *record)
{
    return more->end && more->tid == tid && more->head.number == record->number &&
           more->head.sp == record->sp && more->head.ip == record->ip;
}

/* Takes bytes of a stack whose record has yet to come; bytes in any other order than that of writing are useless. 1, or
 * -ENOMEM. */
static int take_more(struct announced *a, uint32_t tid, const struct stack_parts *parts,
                     struct fathom_error *err)
{
    struct more *more = &a->more;
    if (!is_of_more(more, tid, &parts->head))
        *more = (struct more){parts->head, tid, parts->more_at, parts->more_at};
    if (parts->more_at != more->end) {
        a->damaged++;
        more->end = 0;
        return 1;
    }
    if (!vec_reserve(a->unfolded, more->end, a->unfolded_capacity, parts->size))
        return error_memory(err);
    memcpy(a->unfolded + parts->more_at, parts->bytes, parts->size);
    more->end += parts->size;
    return 1;
}

/* Puts together the bytes of a new stack: its own, then those that came before its record, then the outermost ones. false: out
 * of memory. */
static bool join_bytes(struct announced *a)
{
    struct stack_parts *parts = &a->parts;
    const struct more *more = &a->more;
    if (!parts->bytes || parts->size != more->from || parts->switch_at || stack_parts_folded(parts)) {
        a->damaged += parts->bytes != NULL;
        return true;
    }
    parts->cut = !parts->outer || parts->outer_at - parts->head.sp != more->end;
    const uint32_t outer = parts->cut ? 0 : STACK_RECORD_OUTER;
    if (!vec_reserve(a->unfolded, more->end, a->unfolded_capacity, outer))
        return false;
    memcpy(a->unfolded, parts->bytes, parts->size);
    if (outer)
        memcpy(a->unfolded + more->end, parts->outer, outer);
    parts->bytes = a->unfolded;
    parts->size = more->end + outer;
    return true;
}

/* Takes the bytes of a new stack. false: out of memory. */
static bool take_bytes(struct announced *a, uint32_t tid)
{
    struct stack_parts *parts = &a->parts;
    if (is_of_more(&a->more, tid, &parts->head))
        return join_bytes(a);
    if (!stack_parts_folded(parts))
        return true;
    if (!vec_reserve(a->unfolded, 0, a->unfolded_capacity, stack_parts_whole(parts)))
        return false;
    stack_parts_unfold(parts, a->unfolded);
    parts->size = stack_parts_whole(parts);
    parts->bytes = a->unfolded;
    return true;
}

/* Takes the frames of a stack that was walked while recording. If they cannot be read, only the fact that it is new is known. 0
 * or -ENOMEM. */
static int take_walk(struct announced *a, const struct sample *sample)
{
    const struct stack_parts *parts = &a->parts;
    if (!parts->frames)
        return 0;
    int rc =
        walks_read(a->walks, sample->tid, parts->head.number, parts->frames, parts->frames_size, &a->walked);
    a->has_walked = rc > 0;
    a->damaged += rc == -EBADMSG;
    a->unresolved += rc == 0 && !parts->bytes;
    return rc == -ENOMEM ? rc : 0;
}

/* The stack's places according to the record: index in a->places + 1; 0: none; UINT32_MAX: out of memory. */
static uint32_t take_places(struct announced *a)
{
    const struct stack_placed *placed = &a->parts.placed;
    struct stack_places places = {
        .base = placed->base, .depth = placed->depth, .count = (uint32_t)placed->count};
    uint64_t hash = hash_u64(hash_u64(places.base) + places.depth);
    bool added;
    if (placed->count)
        memcpy(places.at, a->parts.placed_files, placed->count * sizeof *places.at);
    a->last_places = places;
    if (!placed->count || a->no_places)
        return 0;
    for (uint32_t i = 0; i < places.count; i++)
        hash = hash_u64(hash + places.at[i]);
    uint64_t *index = table_put(a->places_of, hash, &added);
    if (!index)
        return UINT32_MAX;
    if (!added && memcmp(&a->places[*index - 1], &places, sizeof places) == 0)
        return (uint32_t)*index;
    if (a->place_count >= UINT32_MAX - 1 || !vec_push(a->places, a->place_count, a->place_capacity, places))
        return UINT32_MAX;
    *index = a->place_count;
    return (uint32_t)*index;
}

/* Raw data without our mark belongs to another program, or is damaged. It is unknown what a damaged record announced, so all
 * earlier announcements of its thread are dropped. */
static int take_record(struct announced *a, const struct sample *sample, struct fathom_error *err)
{
    struct stack_parts parts;
    uint32_t magic = 0;
    if (sample->raw_size >= sizeof magic)
        memcpy(&magic, sample->raw, sizeof magic);
    if (magic == SCRIPT_RECORD_MAGIC)
        return a->scripts ? scripts_take(a->scripts, sample, err) : 1;
    a->pending = false;
    if (!stack_parts_read(sample->raw, sample->raw_size, &parts) || !is_plausible(a, &parts.head)) {
        a->damaged += magic == STACK_RECORD_MAGIC;
        a->more.end = 0;
        forget_announcements(a, sample->tid);
        return 1;
    }
    const struct stack_record record = parts.head;
    if (record.kind == STACK_RECORD_MORE)
        return take_more(a, sample->tid, &parts, err);
    a->any = true;
    a->page_bits = record.page_bits;
    a->compared = record.compared;
    a->from_sp = record.version > STACK_RECORD_BARE && record.compared == STACK_RECORD_ALL;
    uint64_t *last = table_put(a->lives, sample->tid, NULL);
    if (last)
        last = table_put(a->last, key_of(a, sample->tid, record.ip, record.sp), NULL);
    if (!last)
        return error_memory(err);
    a->checks = record.kind == STACK_RECORD_AGAIN ? (uint32_t)*last : 0;
    a->parts = parts;
    a->last_places.count = 0;
    const uint32_t places = take_places(a);
    if (places == UINT32_MAX)
        return error_memory(err);
    *last = record.number | (uint64_t)places << 32;
    bool is_read = record.kind == STACK_RECORD_NEW || record.kind == STACK_RECORD_AGAIN;
    a->pending = true;
    a->pending_tid = sample->tid;
    a->pending_time = sample->time;
    a->has_walked = false;
    if (!is_read)
        a->parts.bytes = NULL;
    else if (!take_bytes(a, sample->tid) || take_walk(a, sample) < 0)
        return error_memory(err);
    a->more.end = 0;
    if (is_read && sample->stack) { /* from stack_sample.h */
        a->parts.bytes = sample->stack;
        a->parts.size = sample->stack_size;
        a->parts.cut = sample->stack_size >= STACK_RECORD_MAX;
        a->parts.registers = sample->registers;
        a->parts.mask = sample->register_mask;
    }
    return 1;
}

/* Whether the last record is about this sample. If it is, but has another PC or SP, it is damaged. */
static bool take_pending(struct announced *a, const struct sample *sample)
{
    if (!a->pending || a->pending_tid != sample->tid)
        return false;
    a->pending = false;
    if (a->pending_time != sample->time)
        return false;
    bool own = a->parts.head.sp == sample->sp && (a->parts.head.ip ^ sample->reg_ip) >> a->page_bits == 0;
    if (!own && sample->has_regs) {
        a->damaged++;
        forget_announcements(a, sample->tid);
    }
    return own;
}

static void fill_in(struct announced *a, struct sample *sample)
{
    bool pending = take_pending(a, sample);
    const struct perf_event_attr *attr = &a->events[sample->event].attr;
    a->followed[sample->event] |= pending || (a->any && (attr_is_waits(attr) || attr_is_wakeups(attr)));
    if (a->scripts && a->followed[sample->event])
        sample->script = scripts_of(a->scripts, sample->tid);
    if (sample->wait && (uint32_t)sample->wake == WAIT_UNNUMBERED) {
        sample->known = SAMPLE_STACK_REFUSED;
        return;
    }
    const uint64_t *last = a->followed[sample->event] && sample->has_regs
                               ? table_find(a->last, key_of(a, sample->tid, sample->reg_ip, sample->sp))
                               : NULL;
    if (!last)
        return;
    const uint32_t number = (uint32_t)*last, places = (uint32_t)(*last >> 32);
    sample->known = number == STACK_RECORD_LATE      ? SAMPLE_STACK_RETURNED
                    : number == STACK_RECORD_NOWHERE ? SAMPLE_STACK_GONE
                    : number                         ? SAMPLE_STACK_SAME
                                                     : SAMPLE_STACK_REFUSED;
    sample->compared = a->compared;
    sample->from_sp = a->from_sp;
    sample->stack_number = sample->known == SAMPLE_STACK_SAME ? number : 0;
    sample->placed = places                            ? &a->places[places - 1]
                     : pending && a->last_places.count ? &a->last_places
                                                       : NULL;
    const struct stack_parts *parts = &a->parts;
    if (!pending || (!parts->bytes && !a->has_walked))
        return;
    sample->known = a->has_walked && a->walked.kept ? SAMPLE_STACK_KEPT : SAMPLE_STACK_NEW;
    sample->code = parts->code.version ? &parts->code : NULL;
    sample->checks_number = a->checks;
    sample->walk = a->has_walked ? &a->walked : NULL;
    sample->stack_switch = a->has_walked ? a->walked.switch_at : 0;
    if (!parts->bytes)
        return;
    sample->stack_read = parts->size;
    sample->below = parts->below;
    sample->outer = parts->outer;
    sample->outer_at = parts->outer_at;
    sample->stack_switch = parts->switch_at + sizeof(uint64_t) <= parts->size ? parts->switch_at : 0;
    if (!sample->stack) {
        sample->stack = parts->bytes;
        sample->stack_size = parts->size;
        sample->stack_cut = parts->cut;
    }
    if (parts->registers && __builtin_popcountll(parts->mask) > __builtin_popcountll(sample->register_mask)) {
        sample->registers = parts->registers;
        sample->register_mask = parts->mask;
    }
}

struct sample announced_as_read(const struct sample *sample)
{
    struct sample read = *sample;
    if (sample->known == SAMPLE_STACK_NEW && sample->stack_read < sample->stack_size) {
        read.stack_size = sample->stack_read;
        read.stack_cut = sample->stack_read >= STACK_RECORD_MAX;
    }
    return read;
}

int announced_take(struct announced *a, struct record *record, struct fathom_error *err)
{
    if (record->kind == RECORD_FORK)
        forget_thread(a, record->tid);
    else if (record->kind == RECORD_COMM && record->comm.exec)
        forget_thread(a, record->pid);
    if (record->kind != RECORD_SAMPLE || record->sample.event >= a->count)
        return 0;
    const struct event *event = &a->events[record->sample.event];
    if (event->stacks)
        return take_record(a, &record->sample, err);
    if (!event->audit)
        fill_in(a, &record->sample);
    return 0;
}

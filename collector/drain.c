/* drain.c - moves records from the rings to the sink; see drain.h. */
#include "collector/drain.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "collector/stack_order.h"
#include "collector/targets/touch.h"
#include "perfdata/stack_dump.h"
#include "perfdata/stack_record.h"

/* A fork, or an exec (tid and parent 0). */
struct start {
    uint64_t time; /* ns */
    pid_t pid, tid, parent;
    bool exec;
};

/* A thread's end, for the program that compares stacks. */
struct end {
    pid_t tid, id; /* id: as which it was followed */
    bool followed; /* still: its process goes on */
};

#define RELEASE_BYTES (64u << 10) /* give this much back to the kernel at a time */

/* The record types whose first fields we read (include/uapi/linux/perf_event.h). */
struct fork_record {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};
struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};
struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};
struct lost_samples_record {
    struct perf_event_header header;
    uint64_t lost;
};

/* Copies the record's start into *to; false when it is shorter. */
static bool view(const void *record, size_t size, void *to, size_t want)
{
    if (size < want)
        return false;
    memcpy(to, record, want);
    return true;
}

static int pass_on(const struct drain *drain, const void *record, size_t size, uint8_t **copy,
                   struct fathom_error *err)
{
    int rc = 0;
    *copy = batch_reserve(drain->to->batch, size, &rc, err);
    if (*copy)
        memcpy(*copy, record, size);
    return rc;
}

/* The id and fields of a sample; false: of an unknown event, or damaged. */
static bool read_sample(const struct drain *drain, const void *record, size_t size, uint64_t *id,
                        struct record *out)
{
    struct sample_record start;
    if (!view(record, size, &start, sizeof start))
        return false;
    *id = start.id;
    /* With a single event the decoder does not look at the id. */
    return counters_event(drain->counters, start.id) < drain->event_count &&
           decoder_decode(drain->decoder, record, size, out, NULL) == 0;
}

/* Whether an event by CPU took the sample in a process that is not recorded. */
static bool is_foreign(const struct drain *drain, const struct sample *sample)
{
    return drain->members && !drain->events[sample->event].attr.inherit &&
           !members_has(drain->members, (pid_t)sample->pid, (pid_t)sample->tid);
}

/* Trims the dump of a sample to its valid bytes, and to the stack's base (0: unknown). Returns the record's
 * new size.
 *
 * The kernel copies a dump from the user's SP upward, and sample->sp is the user's SP whichever registers the
 * decoder takes it from. An event that fires in the kernel has only REGS_USER. For another event's sample in
 * the kernel, the decoder prefers REGS_USER; for a sample in user mode it takes REGS_INTR, which are the same
 * registers then (kernel/events/core.c, perf_sample_regs_user()). */
static size_t trim_dump(uint8_t *record, size_t size, const struct sample *sample, uint64_t base)
{
    uint64_t valid = sample->stack_size;
    uint64_t end = sample->sp + valid;
    if (base > sample->sp && base - sample->sp < valid)
        valid = base - sample->sp;
    else if (base > end && valid + sizeof(uint64_t) <= sample->stack_room)
        stack_touch((pid_t)sample->pid, end, base);
    return stack_dump_trim(record, size, sample, valid);
}

static bool is_new(const struct sample *sample)
{
    struct stack_record stack;
    return view(sample->raw, sample->raw_size, &stack, sizeof stack) && stack.kind == STACK_RECORD_NEW;
}

static int take_sample(struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    uint64_t id, base = 0, *count = NULL;
    struct record decoded;
    const struct sample *sample = &decoded.sample;
    if (!read_sample(drain, record, size, &id, &decoded))
        decoded = (struct record){0}; /* passed on as it is: the reader will count it as damaged */
    else if (is_foreign(drain, sample))
        return 0;
    else if (counters_unsettled(drain->counters) && counters_twice(drain->counters, id, (pid_t)sample->tid))
        return 0;
    else if (drain->events[sample->event].audit) {
        count = &drain->summary->audit_samples;
        drain->dumps[sample->event]++;
    } else if (drain->events[sample->event].stacks)
        drain->summary->stacks_new += is_new(sample);
    else
        count = &drain->summary->samples;
    if (count)
        ++*count;
    int rc = 0;
    if (sample->sp)
        rc = stackbases_sample(drain->bases, sample, drain->to, &base, err);
    uint8_t *copy;
    if (rc == 0)
        rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    if (drain->stack_time)
        memcpy(copy + offsetof(struct sample_record, time), &drain->stack_time, sizeof drain->stack_time);
    if (base && drain->verify)
        verify_base(drain->verify, (pid_t)sample->tid, base);
    if (base && count && !sample->stack_room && !drain->start_count && !counters_unsettled(drain->counters))
        drain->plain = (struct drain_plain){id, sample->pid, sample->tid, size, count};
    if (sample->stack_room)
        size = trim_dump(copy, size, sample, base);
    batch_commit(drain->to->batch, size);
    return 0;
}

/* A thread's end. What is recorded is followed by its threads, or by CPU as a member. */
static int take_exit(struct drain *drain, pid_t pid, pid_t tid, struct fathom_error *err)
{
    struct end end = {.tid = tid, .id = drain->members ? members_id(drain->members, pid, tid) : tid};
    end.followed = drain->members && !members_end(drain->members, pid, tid);
    if (!drain->verify)
        return 0;
    return vec_push(drain->ends, drain->end_count, drain->end_room, end) ? 0 : error_memory(err);
}

static int take_task(struct drain *drain, const struct fork_record *task, struct fathom_error *err)
{
    if (task->header.type == PERF_RECORD_EXIT)
        return take_exit(drain, (pid_t)task->pid, (pid_t)task->tid, err);
    if (drain->verify && !drain->members)
        verify_follow(drain->verify, (pid_t)task->tid, true);
    return 0;
}

/* After the round: another ring may have had the thread's start, or samples. */
static void tell_ends(struct drain *drain)
{
    for (size_t i = 0; i < drain->end_count; i++) {
        const struct end *end = &drain->ends[i];
        verify_base(drain->verify, end->tid, 0);
        if (!end->followed)
            verify_follow(drain->verify, end->id, false);
    }
    drain->end_count = 0;
}

/* Records about stacks that did not fit are lost like others, but stand for no samples: those that were left out for
 * them are counted by themselves. Takes them out of `lost`, the count of a LOST record; returns what is left. */
static uint64_t without_stacks(struct drain *drain, uint64_t lost)
{
    if (!drain->verify)
        return lost;
    struct verify_counts counts;
    verify_counts(drain->verify, &counts);
    uint64_t stacks = counts.unwritten - drain->unwritten;
    if (stacks > lost)
        stacks = lost;
    drain->unwritten += stacks;
    return lost - stacks;
}

/* A LOST record, which is passed on if it tells of more than stacks. */
static int take_lost(struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    struct lost_record lost;
    uint8_t *copy;
    memcpy(&lost, record, sizeof lost);
    lost.lost = without_stacks(drain, lost.lost);
    if (!lost.lost)
        return 0;
    int rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    memcpy(copy, &lost, sizeof lost);
    batch_commit(drain->to->batch, size);
    drain->summary->lost += lost.lost;
    drain->told += lost.lost;
    return 0;
}

/* Any record but a sample. */
static int take_other(struct drain *drain, const void *record, size_t size, uint32_t type,
                      struct fathom_error *err)
{
    struct lost_samples_record lost_samples;
    uint8_t *copy;
    if (type == PERF_RECORD_LOST && size >= sizeof(struct lost_record))
        return take_lost(drain, record, size, err);
    int rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    batch_commit(drain->to->batch, size);
    struct fork_record task; /* EXIT has the same fields */
    if ((type == PERF_RECORD_EXIT || type == PERF_RECORD_FORK) && view(record, size, &task, sizeof task))
        rc = take_task(drain, &task, err);
    if (type == PERF_RECORD_LOST_SAMPLES && view(record, size, &lost_samples, sizeof lost_samples)) {
        drain->summary->lost += lost_samples.lost; /* lost by the CPU itself: not in the rings' counts */
    } else if (type == PERF_RECORD_THROTTLE) {
        drain->summary->throttled++;
    }
    return rc;
}

/* The record at a position, contiguous; NULL: damaged (which the kernel never writes). */
static const struct perf_event_header *record_at(const struct ring *ring, uint64_t at, uint64_t head,
                                                 void *scratch)
{
    /* Records are multiples of 8 bytes, and so is the ring: a header never wraps around its end. */
    const struct perf_event_header *header = ring_view(ring, at, sizeof *header, scratch);
    size_t size = header->size;
    if (size < sizeof *header || size % 8 || size > head - at)
        return NULL;
    return ring_view(ring, at, size, scratch);
}

/* Whether it is a sample of the same thread and event as the previous one, whose stack base is known: id, pid
 * and tid are at fixed offsets. */
static bool is_plain(const struct drain *drain, const struct perf_event_header *header)
{
    struct sample_record start;
    if (header->type != PERF_RECORD_SAMPLE || header->size != drain->plain.size)
        return false;
    memcpy(&start, header, sizeof start);
    return start.id == drain->plain.id && start.pid == drain->plain.pid && start.tid == drain->plain.tid;
}

/* Size of the contiguous run of plain samples at a position; 0: none. */
static size_t plain_run(const struct drain *drain, const struct ring *ring, uint64_t at, uint64_t head)
{
    size_t start = (size_t)(at & (ring->size - 1)), size = drain->plain.size, used = 0;
    uint64_t left = ring->size - start;
    if (size == 0)
        return 0;
    if (left > head - at)
        left = head - at;
    if (left > RELEASE_BYTES)
        left = RELEASE_BYTES;
    while (left - used >= size && is_plain(drain, (const void *)(ring->data + start + used)))
        used += size;
    return used;
}

static int drain_ring(struct drain *drain, struct ring *ring, void *scratch, struct fathom_error *err)
{
    uint64_t at = ring->tail, head = ring->head;
    int rc = 0;
    while (rc == 0 && at < head) {
        size_t run = plain_run(drain, ring, at, head);
        if (run) {
            rc = batch_pass(drain->to->batch, ring->data + (at & (ring->size - 1)), run, err);
            *drain->plain.count += run / drain->plain.size;
            at += run;
            if (at - ring->tail >= RELEASE_BYTES)
                ring_release(ring, at);
            continue;
        }
        const struct perf_event_header *header = record_at(ring, at, head, scratch);
        if (!header) {
            ring_release(ring, head);
            return error_set(err, EBADMSG, "the kernel's ring buffer holds a damaged record");
        }
        size_t size = header->size;
        drain->stack_time = 0;
        if (stack_order_concerns(drain, header) && stack_order_wait(drain, ring, at, head, header))
            break;
        rc = header->type == PERF_RECORD_SAMPLE ? take_sample(drain, header, size, err)
                                                : take_other(drain, header, size, header->type, err);
        at += size;
        if (at - ring->tail >= RELEASE_BYTES)
            ring_release(ring, at);
    }
    ring_release(ring, at);
    if (drain->verify)
        verify_room(drain->verify, ring->cpu, ring_stack_room(ring));
    return rc;
}

static int keep_start(struct drain *drain, struct start start, struct fathom_error *err)
{
    return vec_push(drain->starts, drain->start_count, drain->start_room, start) ? 0 : error_memory(err);
}

/* Notes forks and execs, the time of the first record, and threads whose events were opened twice. */
static int look_at(struct drain *drain, const struct perf_event_header *header, uint64_t *time,
                   struct fathom_error *err)
{
    struct fork_record fork;
    struct comm_record comm;
    struct record decoded;
    uint64_t id;
    *time = decoder_time(drain->decoder, header, header->size);
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        if (read_sample(drain, header, header->size, &id, &decoded))
            counters_settle(drain->counters, id, (pid_t)decoded.tid);
        else
            *time = 0;
        return 0;
    case PERF_RECORD_FORK:
        if (!view(header, header->size, &fork, sizeof fork))
            return 0;
        return keep_start(
            drain,
            (struct start){
                .time = *time, .pid = (pid_t)fork.pid, .tid = (pid_t)fork.tid, .parent = (pid_t)fork.ptid},
            err);
    case PERF_RECORD_COMM:
        if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC) || !view(header, header->size, &comm, sizeof comm))
            return 0;
        return keep_start(drain, (struct start){.time = *time, .pid = (pid_t)comm.pid, .exec = true}, err);
    default:
        return 0;
    }
}

/* The first pass over a ring. *floor: lowered to the time of its first record. */
static int look_ahead(struct drain *drain, const struct ring *ring, uint64_t *floor, void *scratch,
                      struct fathom_error *err)
{
    const struct perf_event_header *header;
    const bool unsettled = counters_unsettled(drain->counters);
    int rc = 0;
    for (uint64_t at = ring->tail; rc == 0 && at < ring->head; at += header->size) {
        uint64_t time;
        header = record_at(ring, at, ring->head, scratch);
        if (!header)
            break; /* the second pass will report it */
        if (at != ring->tail && header->type == PERF_RECORD_SAMPLE && !unsettled)
            continue;
        rc = look_at(drain, header, &time, err);
        if (at == ring->tail && time < *floor)
            *floor = time;
    }
    return rc;
}

static bool follow(struct drain *drain, pid_t pid, pid_t tid)
{
    if (drain->verify)
        verify_follow(drain->verify, members_id(drain->members, pid, tid), true);
    return true;
}

/* Finds newly started processes to record: a sample drained in this round may be of a process whose start
 * lies beyond what is drained from another ring. Each start is reported only once: reported again after the
 * process's end was drained from another ring, it would stay a member for ever. */
static int look_for_members(struct drain *drain, struct ring *ring, void *scratch, struct fathom_error *err)
{
    const struct perf_event_header *header;
    bool good = true;
    uint64_t at = ring->ahead > ring->tail ? ring->ahead : ring->tail;
    const uint64_t end = ring->page ? ring_head(ring) : at;
    for (; good && at < end; at += header->size) {
        struct fork_record fork;
        struct comm_record comm;
        header = record_at(ring, at, end, scratch);
        if (!header)
            break;
        if (header->type == PERF_RECORD_FORK && view(header, header->size, &fork, sizeof fork))
            good = members_start(drain->members, (pid_t)fork.pid, (pid_t)fork.tid) &&
                   follow(drain, (pid_t)fork.pid, (pid_t)fork.tid);
        else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC &&
                 view(header, header->size, &comm, sizeof comm) && (pid_t)comm.pid == drain->expected)
            good = members_add(drain->members, (pid_t)comm.pid, (pid_t)comm.tid) &&
                   follow(drain, (pid_t)comm.pid, (pid_t)comm.tid);
    }
    ring->ahead = at;
    return good ? 0 : error_memory(err);
}

static int by_time(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Each ring is in time order, but not relative to the others: a program may run on several CPUs in one round.
 */
static int tell_starts(struct drain *drain, struct fathom_error *err)
{
    int rc = 0;
    if (drain->start_count)
        qsort(drain->starts, drain->start_count, sizeof *drain->starts, by_time);
    for (size_t i = 0; i < drain->start_count && rc == 0; i++) {
        const struct start *s = &drain->starts[i];
        rc = s->exec ? stackbases_exec(drain->bases, s->pid, s->time, drain->to, err)
                     : stackbases_fork(drain->bases, s->pid, s->tid, s->parent, s->time, err);
    }
    return rc;
}

int drain_round(struct drain *drain, bool *any, struct fathom_error *err)
{
    struct ring *rings;
    size_t count = counters_rings(drain->counters, &rings);
    uint64_t scratch[(1 << 16) / 8], floor = UINT64_MAX;
    bool found = false;
    int rc = 0;
    drain->start_count = 0;
    drain->plain.size = 0;
    for (size_t i = 0; i < count; i++) {
        rings[i].head = rings[i].page ? ring_head(&rings[i]) : rings[i].tail;
        found |= rings[i].head != rings[i].tail;
    }
    if (any)
        *any = found;
    if (!found)
        return 0;
    for (size_t i = 0; drain->members && i < count && rc == 0; i++)
        rc = look_for_members(drain, &rings[i], scratch, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = look_ahead(drain, &rings[i], &floor, scratch, err);
    stackbases_round(drain->bases, floor);
    if (rc == 0)
        rc = tell_starts(drain, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (rings[i].head != rings[i].tail)
            rc = drain_ring(drain, &rings[i], scratch, err);
    tell_ends(drain);
    if (drain->members)
        members_round(drain->members);
    if (rc == 0)
        rc = sideband_round(drain->to, err);
    return rc ? rc : batch_flush(drain->to->batch, err);
}

int drain_losses(struct drain *drain, struct fathom_error *err)
{
    uint64_t lost = counters_lost(drain->counters);
    if (drain->verify) {
        struct verify_counts counts;
        verify_counts(drain->verify, &counts);
        lost = (lost > counts.unwritten ? lost - counts.unwritten : drain->told) + counts.lost;
    }
    if (lost <= drain->told)
        return 0;
    int rc = sideband_lost(drain->to, lost - drain->told, err);
    if (rc)
        return rc;
    drain->summary->lost += lost - drain->told;
    drain->told = lost;
    return batch_flush(drain->to->batch, err);
}

int drain_totals(struct drain *drain, struct fathom_error *err)
{
    struct counters_totals totals;
    counters_totals(drain->counters, 0, &totals);
    int rc = sideband_totals(drain->to, &drain->events[0], &totals, err);
    return rc ? rc : batch_flush(drain->to->batch, err);
}

void drain_free(struct drain *drain)
{
    free(drain->starts);
    free(drain->ends);
    drain->starts = NULL;
    drain->ends = NULL;
}

/* drain.c - moves records from the rings to the sink; see drain.h. */
#include "collector/drain.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "collector/rings/records.h"
#include "collector/stack_order.h"
#include "collector/targets/touch.h"
#include "collector/waits.h"
#include "perfdata/stack_dump.h"
#include "perfdata/stack_record.h"

/* A fork, or an exec (tid and parent 0). */
struct start {
    uint64_t time; /* ns */
    pid_t pid, tid, parent;
    bool exec;
};

#define RELEASE_BYTES (64u << 10) /* bytes to return to the kernel at a time */

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
    if (!record_view(record, size, &start, sizeof start))
        return false;
    *id = start.id;
    /* With a single event the decoder does not check the id. */
    return counters_event(drain->counters, start.id) < drain->event_count &&
           decoder_decode(drain->decoder, record, size, out, NULL) == 0;
}

/* Whether an event by CPU took the sample in a process that is not recorded. PID 0 is an idle CPU, or a
 * process outside of our PID namespace. */
static bool is_foreign(const struct drain *drain, const struct sample *sample)
{
    if (drain->self)
        return sample->pid == (uint32_t)drain->self || sample->pid == 0;
    return drain->tasks.members && !drain->events[sample->event].attr.inherit &&
           !members_has(drain->tasks.members, (pid_t)sample->pid, (pid_t)sample->tid);
}

/* Trims the dump of a sample to its valid bytes, and to the stack's base (0: unknown). Returns the record's
 * new size. The kernel copies a dump from the user's SP upward, and sample->sp is the user's SP whichever
 * registers the decoder uses: an event that fires in the kernel has only REGS_USER. For another event's
 * sample in the kernel, the decoder prefers REGS_USER; for a sample in user mode it uses REGS_INTR, which are
 * the same registers then (kernel/events/core.c, perf_sample_regs_user()). */
static size_t trim_dump(uint8_t *record, size_t size, const struct sample *sample, uint64_t base)
{
    uint64_t valid = sample->stack_size;
    uint64_t end = sample->sp + valid;
    if (base > sample->sp && base - sample->sp < valid)
        valid = base - sample->sp;
    else if (base > end && valid + sizeof(uint64_t) <= sample->stack_capacity)
        stack_touch((pid_t)sample->pid, end, base);
    return stack_dump_trim(record, size, sample, valid);
}

static bool note_sampled(struct drain *drain, const struct sample *sample)
{
    uint32_t id = drain->by_tid ? sample->tid : sample->pid;
    if (id != drain->last_sampled && !table_put(drain->sampled, id, NULL))
        return false;
    drain->last_sampled = id;
    return true;
}

static bool is_new(const struct sample *sample)
{
    struct stack_record stack;
    return record_view(sample->raw, sample->raw_size, &stack, sizeof stack) && stack.kind == STACK_RECORD_NEW;
}

/* 1: the record is about a wait, and was taken; 0: it is not; -ENOMEM, or an error of the sink. That a thread
 * gets a CPU is recorded in the thread that loses it, whatever process that is in. */
static int take_wait(struct drain *drain, const struct sample *sample, struct fathom_error *err)
{
    unsigned made;
    if (!drain->waits || !drain->events[sample->event].stacks)
        return 0;
    const int rc = waits_take(drain->waits, sample, drain->to->batch, &made, err);
    drain->summary->samples += made;
    return rc == 1 && !note_sampled(drain, sample) ? error_memory(err) : rc;
}

static int take_sample(struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    uint64_t id, base = 0, *count = NULL;
    struct record decoded;
    const struct sample *sample = &decoded.sample;
    const bool good = read_sample(drain, record, size, &id, &decoded);
    int rc = good ? take_wait(drain, sample, err) : 0;
    if (rc)
        return rc < 0 ? rc : 0;
    if (!good)
        decoded = (struct record){0}; /* passed on as it is: the reader will count it as damaged */
    else if (is_foreign(drain, sample))
        return 0;
    else if (counters_unsettled(drain->counters) && counters_twice(drain->counters, id, (pid_t)sample->tid))
        return 0;
    else if (drain->events[sample->event].audit) {
        count = &drain->summary->audit_samples;
    } else if (drain->events[sample->event].stacks)
        drain->summary->stacks_new += is_new(sample);
    else
        count = &drain->summary->samples;
    if (count) {
        ++*count;
        drain->taken[sample->event]++;
    }
    rc = count == &drain->summary->samples && !note_sampled(drain, sample) ? error_memory(err) : 0;
    if (rc == 0 && drain->meets && count)
        rc = drain_meet(drain, (pid_t)sample->pid, err);
    if (rc == 0 && sample->sp)
        rc = stackbases_sample(drain->bases, sample, drain->to, &base, err);
    if (rc == 0 && base)
        rc = tasks_base(&drain->tasks, (pid_t)sample->tid, base, err);
    uint8_t *copy;
    if (rc == 0)
        rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    if (drain->waits && good)
        waits_note_stack(drain->waits, sample->tid,
                         !drain->events[sample->event].stacks ? 0
                         : drain->stack_time                  ? drain->stack_time
                                                              : sample->time);
    if (drain->stack_time)
        memcpy(copy + offsetof(struct sample_record, time), &drain->stack_time, sizeof drain->stack_time);
    if (base && count && !sample->stack_capacity && !drain->start_count &&
        !counters_unsettled(drain->counters))
        drain->plain = (struct drain_plain){id, sample->pid, sample->tid, size, count, sample->event};
    if (sample->stack_capacity)
        size = trim_dump(copy, size, sample, base);
    batch_commit(drain->to->batch, size);
    return 0;
}

/* Takes a LOST record, which is passed on if it is not only about stacks. */
static int take_lost(struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    struct lost_record lost;
    uint8_t *copy;
    memcpy(&lost, record, sizeof lost);
    lost.lost = losses_take(&drain->losses, drain->tasks.verify, lost.lost);
    if (!lost.lost)
        return 0;
    int rc = pass_on(drain, record, size, &copy, err);
    if (rc)
        return rc;
    memcpy(copy, &lost, sizeof lost);
    batch_commit(drain->to->batch, size);
    drain->summary->lost += lost.lost;
    return 0;
}

/* Notes mappings of code outside of files: it may be a file's code that was moved. */
static int note_mapping(struct drain *drain, const void *record, size_t size, struct fathom_error *err)
{
    struct record mapped;
    if (decoder_decode(drain->decoder, record, size, &mapped, NULL) < 0 || mapped.kind != RECORD_MMAP ||
        !mapped.mmap.executable || !mapped.mmap.path || mapped.pid > INT32_MAX ||
        !moved_text_may_be((pid_t)mapped.pid, mapped.mmap.path))
        return 0;
    return moved_texts_note(&drain->moved, (pid_t)mapped.pid, mapped.time) ? 0 : error_memory(err);
}

/* Takes any record but a sample. */
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
    if ((type == PERF_RECORD_EXIT || type == PERF_RECORD_FORK) &&
        record_view(record, size, &task, sizeof task))
        rc = tasks_take(&drain->tasks, &task, err);
    if (rc == 0 && type == PERF_RECORD_MMAP2)
        rc = note_mapping(drain, record, size, err);
    if (type == PERF_RECORD_LOST_SAMPLES && record_view(record, size, &lost_samples, sizeof lost_samples)) {
        drain->summary->lost +=
            lost_samples.lost; /* lost by the CPU itself: not included in the rings' counts */
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
    const struct stack_order order = {drain->counters, drain->events, drain->event_count};
    uint64_t at = ring->tail, head = ring->head;
    int rc = 0;
    while (rc == 0 && at < head) {
        size_t run = plain_run(drain, ring, at, head);
        if (run) {
            rc = batch_pass(drain->to->batch, ring->data + (at & (ring->size - 1)), run, err);
            *drain->plain.count += run / drain->plain.size;
            drain->taken[drain->plain.event] += run / drain->plain.size;
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
        if (drain->tasks.verify && stack_order_concerns(&order, header) &&
            !stack_order_ready(&order, ring, at, head, header, &drain->stack_time))
            break;
        rc = header->type == PERF_RECORD_SAMPLE ? take_sample(drain, header, size, err)
                                                : take_other(drain, header, size, header->type, err);
        at += size;
        if (at - ring->tail >= RELEASE_BYTES)
            ring_release(ring, at);
    }
    ring_release(ring, at);
    if (drain->tasks.verify)
        verify_room(drain->tasks.verify, ring->cpu, ring_stack_room(ring));
    return rc;
}

static int keep_start(struct drain *drain, struct start start, struct fathom_error *err)
{
    return vec_push(drain->starts, drain->start_count, drain->start_capacity, start) ? 0 : error_memory(err);
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
        if (!record_view(header, header->size, &fork, sizeof fork))
            return 0;
        return keep_start(
            drain,
            (struct start){
                .time = *time, .pid = (pid_t)fork.pid, .tid = (pid_t)fork.tid, .parent = (pid_t)fork.ptid},
            err);
    case PERF_RECORD_COMM:
        if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC) ||
            !record_view(header, header->size, &comm, sizeof comm))
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

/* Makes members of all threads of a running process. */
static bool start_members(struct members *members, pid_t pid)
{
    pid_t *tids = NULL;
    size_t count = 0;
    bool good = members_start(members, pid, pid);
    if (proc_threads(pid, &tids, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && good; i++)
        good = members_start(members, pid, tids[i]);
    free(tids);
    return good;
}

int drain_meet(struct drain *drain, pid_t pid, struct fathom_error *err)
{
    struct members *members = drain->tasks.members;
    if (pid <= 0 || pid == drain->self || (members && members_has(members, pid, pid)))
        return 0;
    int rc = synth_process(pid, drain->mappings, drain->to, err);
    if (rc == -ESRCH) {
        rc = table_put(drain->unmet, (uint32_t)pid, NULL) ? 0 : error_memory(err);
    }
    return rc || !members || start_members(members, pid) ? rc : error_memory(err);
}

/* Takes a record about a process in the cgroup: one that entered the cgroup while it ran and now starts
 * others, or one that does an exec. A process whose start is reported only now leaves `unmet`: it was looked
 * up too early, as its start is in another ring than the record of what it started. */
static int take_cgroup_task(struct drain *drain, const struct perf_event_header *header,
                            struct fathom_error *err)
{
    struct fork_record fork;
    struct comm_record comm;
    if (header->type == PERF_RECORD_FORK && record_view(header, header->size, &fork, sizeof fork)) {
        table_remove(drain->unmet, fork.pid);
        return drain_meet(drain, (pid_t)fork.ppid, err);
    }
    if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC &&
        record_view(header, header->size, &comm, sizeof comm) &&
        !members_start(drain->tasks.members, (pid_t)comm.pid, (pid_t)comm.tid))
        return error_memory(err);
    return 0;
}

/* Finds newly started processes to record (tasks.h). */
static int look_for_tasks(struct drain *drain, struct ring *ring, void *scratch, struct fathom_error *err)
{
    const struct perf_event_header *header;
    uint64_t at = ring->ahead > ring->tail ? ring->ahead : ring->tail;
    const uint64_t end = ring->page ? ring_head(ring) : at;
    int rc = 0;
    for (; rc == 0 && at < end; at += header->size) {
        header = record_at(ring, at, end, scratch);
        if (!header)
            break;
        rc = drain->meets ? take_cgroup_task(drain, header, err) : 0;
        if (rc == 0)
            rc = tasks_look_ahead(&drain->tasks, header, err);
    }
    ring->ahead = at;
    return rc;
}

/* Each ring is in time order, but not relative to the others: a program may run on several CPUs in one round.
 */
static int tell_starts(struct drain *drain, struct fathom_error *err)
{
    int rc = 0;
    sort_by(drain->starts, drain->start_count, time);
    for (size_t i = 0; i < drain->start_count && rc == 0; i++) {
        const struct start *s = &drain->starts[i];
        if (!s->exec && s->tid == s->pid) { /* a process, perhaps with the number of an earlier one */
            table_remove(drain->sampled, (uint32_t)s->pid);
            drain->last_sampled = 0;
        }
        if (s->exec || s->tid == s->pid)
            moved_texts_start(&drain->moved, s->pid);
        rc = s->exec ? stackbases_exec(drain->bases, s->pid, s->time, drain->to, err)
                     : stackbases_fork(drain->bases, s->pid, s->tid, s->parent, s->time, err);
    }
    return rc;
}

int drain_init(struct drain *drain, struct fathom_error *err)
{
    drain->sampled = table_new();
    drain->unmet = table_new();
    return drain->sampled && drain->unmet ? tasks_init(&drain->tasks, err) : error_memory(err);
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
    for (size_t i = 0; (drain->tasks.members || drain->tasks.verify) && i < count && rc == 0; i++)
        rc = look_for_tasks(drain, &rings[i], scratch, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = look_ahead(drain, &rings[i], &floor, scratch, err);
    stackbases_round(drain->bases, floor);
    if (rc == 0)
        rc = tell_starts(drain, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (rings[i].head != rings[i].tail)
            rc = drain_ring(drain, &rings[i], scratch, err);
    tasks_round(&drain->tasks);
    if (rc == 0)
        rc = moved_texts_tell(&drain->moved, drain->to, err);
    if (rc == 0)
        rc = sideband_round(drain->to, err);
    return rc ? rc : batch_flush(drain->to->batch, err);
}

int drain_waits(struct drain *drain, bool finish, struct fathom_error *err)
{
    unsigned made;
    const int rc =
        (finish ? waits_finish : waits_tell)(drain->waits, drain->tasks.verify, drain->to->batch, &made, err);
    drain->summary->samples += made;
    return rc;
}

int drain_losses(struct drain *drain, struct fathom_error *err)
{
    uint64_t lost = losses_untold(&drain->losses, drain->counters, drain->tasks.verify);
    if (!lost)
        return 0;
    drain->summary->lost += lost;
    int rc = sideband_lost(drain->to, lost, err);
    return rc ? rc : batch_flush(drain->to->batch, err);
}

int drain_totals(struct drain *drain, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < drain->event_count && rc == 0; i++) {
        const struct event *event = &drain->events[i];
        struct counters_totals totals;
        if ((i >= drain->asked && !event->attr.task) || event->helper || !event->id_count)
            continue;
        counters_totals(drain->counters, i, &totals);
        rc = sideband_totals(drain->to, event, &totals, err);
    }
    return rc ? rc : batch_flush(drain->to->batch, err);
}

void drain_free(struct drain *drain)
{
    free(drain->starts);
    drain->starts = NULL;
    table_free(drain->sampled);
    table_free(drain->unmet);
    tasks_free(&drain->tasks);
    moved_texts_free(&drain->moved);
}

/* stackbase.c - finds the bases of all threads' stacks; see stackbase.h. */
#include "collector/targets/stackbase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/targets/threadroot.h"

#define TRIES      4             /* samples at which an unknown base is searched for */
#define SCAN_LIMIT (64ULL << 20) /* bytes above SP */
#define CHUNK      (64u << 10)

struct thread {
    pid_t pid, tid, parent; /* parent: the thread that started it; 0: unknown */
    uint64_t since;         /* ns: when its stack began */
    uint64_t low, base;     /* base 0: not known */
    uint8_t tries;
    bool sampled;
    bool expected; /* the base is known for the coming exec */
};

struct stackbases {
    struct table *index; /* tid to index in `threads` */
    struct thread *threads;
    size_t count, capacity;
    uint64_t floor, floor_before; /* of this round and the previous one, ns */
    uint64_t missing_before;      /* missing bases of threads whose TID is now another's */
    struct threadroots *roots;
    struct maps maps; /* of maps_pid: cached for its next thread */
    pid_t maps_pid;
    uint8_t *chunk;
};

int stackbases_new(struct stackbases **out, struct fathom_error *err)
{
    struct stackbases *bases = calloc(1, sizeof *bases);
    if (bases) {
        bases->index = table_new();
        bases->roots = threadroots_new();
        bases->chunk = malloc(CHUNK);
    }
    if (!bases || !bases->index || !bases->roots || !bases->chunk) {
        stackbases_free(bases);
        return error_memory(err);
    }
    *out = bases;
    return 0;
}

void stackbases_free(struct stackbases *bases)
{
    if (!bases)
        return;
    table_free(bases->index);
    threadroots_free(bases->roots);
    proc_maps_free(&bases->maps);
    free(bases->threads);
    free(bases->chunk);
    free(bases);
}

static struct thread *find_thread(const struct stackbases *bases, pid_t tid)
{
    const uint64_t *place = table_find(bases->index, (uint32_t)tid);
    return place ? &bases->threads[*place] : NULL;
}

/* The thread's state, created if new. NULL: out of memory. */
static struct thread *take_thread(struct stackbases *bases, pid_t pid, pid_t tid)
{
    struct thread *known = find_thread(bases, tid);
    if (known)
        return known;
    if (!vec_reserve(bases->threads, bases->count, bases->capacity, 1))
        return NULL;
    if (!table_set(bases->index, (uint32_t)tid, bases->count))
        return NULL;
    struct thread *made = &bases->threads[bases->count++];
    *made = (struct thread){.pid = pid, .tid = tid, .since = bases->floor};
    return made;
}

/* Forgets what was known: the thread has a new stack from `since` on. */
static void reset_thread(struct stackbases *bases, struct thread *thread, pid_t pid, pid_t parent,
                         uint64_t since)
{
    bases->missing_before += thread->sampled && !thread->base;
    *thread = (struct thread){.pid = pid, .tid = thread->tid, .parent = parent, .since = since};
}

static void forget_maps(struct stackbases *bases)
{
    proc_maps_free(&bases->maps);
    bases->maps_pid = 0;
}

/* The mapping that contains this address, from the cached maps or new ones. NULL: none, or the process is
 * gone. */
static const struct vma *mapping_of(struct stackbases *bases, pid_t pid, uint64_t address)
{
    if (bases->maps_pid == pid) {
        const struct vma *vma = proc_maps_find(&bases->maps, address);
        if (vma)
            return vma;
    }
    forget_maps(bases);
    if (proc_maps(pid, &bases->maps) != 0)
        return NULL;
    bases->maps_pid = pid;
    return proc_maps_find(&bases->maps, address);
}

uint64_t stackbase_main_low(pid_t pid, uint64_t base, const struct maps *maps)
{
    uint64_t limit = proc_stack_limit(pid);
    uint64_t low = limit < base ? base - limit : 0;
    for (size_t i = 0; i < maps->count && maps->list[i].start < base; i++)
        if (maps->list[i].end < base && maps->list[i].end > low)
            low = maps->list[i].end;
    return low & ~(uint64_t)4095;
}

/* The slot of a return address into clone, from sp upward to the end of the mapping. 0: not found. */
static uint64_t scan_stack(struct stackbases *bases, pid_t pid, uint64_t sp, uint64_t end,
                           const uint64_t *roots, size_t root_count)
{
    uint64_t at = (sp + 7) & ~(uint64_t)7;
    if (end - at > SCAN_LIMIT)
        end = at + SCAN_LIMIT;
    while (at < end) {
        size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        size_t got = proc_read_memory(pid, at, bases->chunk, want);
        for (size_t i = 0; i + 8 <= got; i += 8) {
            uint64_t word;
            memcpy(&word, bases->chunk + i, sizeof word);
            for (size_t r = 0; r < root_count; r++)
                if (word == roots[r])
                    return at + i;
        }
        if (got < want)
            return 0;
        at += want;
    }
    return 0;
}

#define CLONE_CODE 64 /* bytes of clone's code before its call */

/* Whether a new thread is about to make the call whose return address is its root. The stack of another
 * thread may be adjacent further up, and its root would be taken for this one's. */
static bool is_before_root(uint64_t ip, const uint64_t *roots, size_t count)
{
    for (size_t r = 0; r < count; r++)
        if (ip < roots[r] && roots[r] - ip <= CLONE_CODE)
            return true;
    return false;
}

/* ip: 0 if unknown. */
static bool resolve_base(struct stackbases *bases, struct thread *thread, uint64_t ip, uint64_t sp)
{
    const struct vma *vma = mapping_of(bases, thread->pid, sp);
    struct proc_stat stat;
    if (!vma || proc_stat(thread->pid, &stat) != 0)
        return false;
    if (stat.start_stack >= sp && stat.start_stack < vma->end) {
        thread->base = stat.start_stack;
        thread->low = stackbase_main_low(thread->pid, thread->base, &bases->maps);
        return true;
    }
    uint64_t roots[THREADROOT_MAX], start = vma->start, end = vma->end;
    size_t count = threadroots_find(bases->roots, thread->pid, &bases->maps, roots);
    if (is_before_root(ip, roots, count))
        return false;
    uint64_t slot = count ? scan_stack(bases, thread->pid, sp, end, roots, count) : 0;
    if (!slot)
        return false;
    thread->base = slot + 8; /* SP before the call: process/process.h */
    thread->low = start;
    return true;
}

/* A child that ended early ran on a copy of the stack of the thread that forked it. */
static bool inherit_base(const struct stackbases *bases, struct thread *thread, uint64_t sp)
{
    const struct thread *parent = thread->parent ? find_thread(bases, thread->parent) : NULL;
    if (!parent || parent->pid == thread->pid || !parent->base || sp < parent->low || sp >= parent->base)
        return false;
    thread->base = parent->base;
    thread->low = parent->low;
    return true;
}

/* Not older than the previous round: everything before that has already been delivered in time order. */
static int announce_base(const struct stackbases *bases, const struct thread *thread,
                         const struct sideband *to, struct fathom_error *err)
{
    uint64_t time =
        thread->since && thread->since < bases->floor_before ? bases->floor_before : thread->since;
    struct sideband_range stack = {thread->pid, thread->tid, thread->low, thread->base};
    return sideband_stack(to, &stack, time, err);
}

void stackbases_round(struct stackbases *bases, uint64_t floor)
{
    if (floor == UINT64_MAX)
        return; /* an empty round */
    bases->floor_before = bases->floor;
    bases->floor = floor;
}

int stackbases_fork(struct stackbases *bases, pid_t pid, pid_t tid, pid_t parent_tid, uint64_t time,
                    struct fathom_error *err)
{
    struct thread *thread = take_thread(bases, pid, tid);
    if (!thread)
        return error_memory(err);
    if (tid == pid && bases->maps_pid == pid)
        forget_maps(bases); /* of an earlier process with this number */
    /* Its samples may have come a round earlier: then its state is correct. */
    if (thread->sampled && thread->pid == pid && thread->since >= bases->floor_before) {
        thread->parent = parent_tid;
        return 0;
    }
    reset_thread(bases, thread, pid, parent_tid, time);
    return 0;
}

int stackbases_expect(struct stackbases *bases, pid_t pid, uint64_t low, uint64_t base,
                      struct fathom_error *err)
{
    struct thread *thread = take_thread(bases, pid, pid);
    if (!thread)
        return error_memory(err);
    thread->low = low;
    thread->base = base;
    thread->expected = true;
    return 0;
}

int stackbases_exec(struct stackbases *bases, pid_t pid, uint64_t time, const struct sideband *to,
                    struct fathom_error *err)
{
    struct thread *thread = take_thread(bases, pid, pid);
    if (!thread)
        return error_memory(err);
    if (bases->maps_pid == pid)
        forget_maps(bases);
    /* After the exec's own record, which clears the process's mappings. */
    uint64_t since = time + 1;
    if (thread->expected) {
        thread->expected = false;
        thread->since = since;
        return announce_base(bases, thread, to, err);
    }
    reset_thread(bases, thread, pid, 0, since);
    return 0;
}

int stackbases_sample(struct stackbases *bases, const struct sample *sample, const struct sideband *to,
                      uint64_t *base, struct fathom_error *err)
{
    uint64_t sp = sample->sp;
    struct thread *thread = take_thread(bases, (pid_t)sample->pid, (pid_t)sample->tid);
    if (!thread)
        return error_memory(err);
    *base = 0;
    if (sample->time < thread->since)
        return 0; /* of the program before the exec */
    thread->sampled = true;
    *base = thread->expected ? 0 : thread->base;
    if (thread->base || thread->tries >= TRIES || sp == 0)
        return 0;
    thread->tries++;
    if (!resolve_base(bases, thread, sample->ip, sp) && !inherit_base(bases, thread, sp)) {
        forget_maps(bases); /* they may have been too old */
        return 0;
    }
    *base = thread->base;
    return announce_base(bases, thread, to, err);
}

int stackbases_attach(struct stackbases *bases, pid_t pid, pid_t tid, const struct sideband *to,
                      struct fathom_error *err)
{
    struct thread *thread = take_thread(bases, pid, tid);
    struct proc_wait wait;
    if (!thread)
        return error_memory(err);
    thread->since = 0;
    if (proc_thread_waits(pid, tid, &wait) != 0 || !resolve_base(bases, thread, 0, wait.sp))
        return 0; /* its first sample will show it */
    return announce_base(bases, thread, to, err);
}

uint64_t stackbases_find(struct stackbases *bases, pid_t pid, uint64_t ip, uint64_t sp)
{
    struct thread thread = {.pid = pid};
    bool found = resolve_base(bases, &thread, ip, sp);
    if (!found)
        forget_maps(bases); /* they may have been too old */
    return found ? thread.base : 0;
}

uint64_t stackbases_missing(const struct stackbases *bases)
{
    uint64_t missing = bases->missing_before;
    for (size_t i = 0; i < bases->count; i++)
        missing += bases->threads[i].sampled && !bases->threads[i].base;
    return missing;
}

/*
 * thread.c - the state of each thread, and where the base of its stack is.
 *
 * A new thread reuses the state and tree of an ended one, whose ID is no longer in this process. Each start
 * checks only a few states, so that its cost does not grow with the number of threads.
 */
#include <errno.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define PROBES 16 /* states to check for one whose thread has ended */

static bool has_ended(const struct thread *thread, uint32_t tid)
{
    return !thread->tid || thread->tid == tid ||
           raw_call(SYS_tgkill, core.pid, thread->tid, 0, 0, 0, 0) == -ESRCH;
}

static struct thread *find_ended(uint32_t tid)
{
    for (unsigned i = 0; i < PROBES && i < core.thread_count; i++) {
        struct thread *thread = core.threads + (core.thread_probe + i) % core.thread_count;
        if (has_ended(thread, tid)) {
            core.thread_probe = (uint32_t)(thread - core.threads);
            return thread;
        }
    }
    core.thread_probe += PROBES;
    return NULL;
}

struct thread *thread_here(void)
{
    struct thread *thread = probe_thread;
    if (thread)
        return thread;
    uint32_t tid = raw_tid();
    thread = find_ended(tid);
    if (!thread) {
        if (core.thread_count == core.thread_most)
            return NULL;
        thread = core.threads + core.thread_count++;
    }
    if (thread->own) {
        struct stack *own = thread->own;
        *(volatile uint64_t *)own->limit = 0;
        stack_free(own);
        thread->own = NULL;
    }
    thread->current = &core_no_stack;
    thread->ordering = NULL;
    thread->last_ticks = raw_ticks();
    thread->last_node = 0;
    thread->entering.stack = NULL;
    if (!thread->limit)
        thread->limit = core.recording.node_limit;
    for (unsigned i = 0; i < THREAD_NEAR; i++)
        *(struct stack *volatile *)&thread->near[i] = NULL;
    if (!thread->root) {
        thread->root = node_make(thread, 0, STORE_ROOT, 0, 0);
        core.header->tree_count++;
    }
    core.header->thread_count++;
    thread->tid = tid;
    probe_thread = thread;
    return thread;
}

/* After the system calls clone3 and clone, glibc calls the thread's function through a register:
 *     mov $435,%eax; syscall; ...; call *%rdx
 * (sysdeps/unix/sysv/linux/x86_64/clone3.S, clone.S; see image/cfi/thread_return.h). */
static void seek_returns(void)
{
    core.thread_returns_sought = true;
    for (const uint8_t *p = (const uint8_t *)core.libc_low; p + 80 < (const uint8_t *)core.libc_high; p++) {
        if (p[0] != 0xb8 || p[5] != 0x0f || p[6] != 0x05 || p[3] || p[4])
            continue;
        unsigned number = p[1] | (unsigned)p[2] << 8;
        if (number != 435 && number != 56)
            continue;
        for (const uint8_t *q = p + 7; q < p + 71; q++) {
            if (q[0] == 0xff && q[1] >= 0xd0 && q[1] <= 0xd7) {
                if (core.thread_return_count < sizeof core.thread_returns / sizeof *core.thread_returns)
                    core.thread_returns[core.thread_return_count++] = (uint64_t)(q + 2);
                break;
            }
        }
    }
}

uint64_t thread_base(uint64_t cfa, uint64_t pointer)
{
    if (!core.thread_returns_sought)
        seek_returns();
    for (uint64_t slot = (cfa - 8) & ~7ull; slot < pointer; slot += 8)
        for (uint32_t i = 0; i < core.thread_return_count; i++)
            if (*(const uint64_t *)slot == core.thread_returns[i])
                return slot + 8;
    return 0;
}

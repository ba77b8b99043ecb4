/*
 * first_context.c - adaptive bursts (Zhuang et al., Accurate, Efficient, and Adaptive Calling Context Profiling,
 * PLDI 2006): whether the contexts of threads at a burst's start occurred at an earlier one's, and how much an
 * entry counts.
 *
 * A thread's first context is that of the first caller that is found again (resync.c). Its node is marked. The
 * thread then waits for the decision, since each call before that is a breakpoint: an omitted burst took 75 of
 * them, and as long as a burst.
 */
#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define WAIT_NS 5000000 /* limit for a decision: signals are blocked meanwhile */

uint64_t probe_weight = 1;

static struct {
    uint32_t first;     /* futex: enum core_context */
    uint32_t undecided; /* futex: 1: whether there is a burst is undecided */
    bool listening;     /* or a burst is on: contexts are marked */
} state;

static void write_context(uint32_t context)
{
    uint32_t was = __atomic_load_n(&state.first, __ATOMIC_RELAXED);
    while (was < context && !__atomic_compare_exchange_n(&state.first, &was, context, false, __ATOMIC_RELEASE,
                                                         __ATOMIC_RELAXED))
        ;
    if (was < context)
        raw_call(SYS_futex, (long)&state.first, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void await_decision(void)
{
    struct timespec t = {0, WAIT_NS};
    if (__atomic_load_n(&state.undecided, __ATOMIC_ACQUIRE))
        raw_call(SYS_futex, (long)&state.undecided, FUTEX_WAIT_PRIVATE, 1, (long)&t, 0, 0);
}

void first_context(uint32_t node)
{
    if (!__atomic_load_n(&state.listening, __ATOMIC_ACQUIRE))
        return;
    bool known = node && probe_nodes[node].count & STORE_FIRST;
    if (node && !known)
        __asm__ volatile("orq %1, %0" : "+m"(probe_nodes[node].count) : "r"(STORE_FIRST));
    write_context(known ? CORE_KNOWN : CORE_NEW);
    await_decision();
}

void core_listen(void)
{
    __atomic_store_n(&probe_weight, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&state.first, CORE_NONE, __ATOMIC_RELAXED);
    __atomic_store_n(&state.undecided, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&state.listening, true, __ATOMIC_RELEASE);
}

enum core_context core_first_context(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    raw_call(SYS_futex, (long)&state.first, FUTEX_WAIT_PRIVATE, CORE_NONE, (long)&t, 0, 0);
    return (enum core_context)__atomic_load_n(&state.first, __ATOMIC_ACQUIRE);
}

void core_decide(uint32_t weight)
{
    if (!weight)
        __atomic_store_n(&state.listening, false, __ATOMIC_RELEASE);
    __atomic_store_n(&probe_weight, weight, __ATOMIC_RELAXED);
    __atomic_store_n(&state.undecided, 0, __ATOMIC_RELEASE);
    raw_call(SYS_futex, (long)&state.undecided, FUTEX_WAKE_PRIVATE, INT32_MAX, 0, 0, 0);
}

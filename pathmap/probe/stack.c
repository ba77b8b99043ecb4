/*
 * stack.c - finds the stack that an entry is on, if it is not the one that the thread was last on.
 *
 * An unregistered stack is found by its mapping. If the thread pointer is in that mapping too, it is the
 * thread's own; otherwise it is a coroutine's or, if a signal handler starts on it, the alternate signal
 * stack in the handler's ucontext. Its base is then the CFA of the outermost frame seen: an entry above it
 * restarts the stack.
 */
#include <errno.h>
#include <ucontext.h>

#include "base/search.h"
#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"
#include "pathmap/probe/vma.h"

/* The kernel reads the set before it rejects the invalid operation. */
bool address_readable(uint64_t address)
{
    return raw_call(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) != -EFAULT;
}

/* Frames are at least 8 bytes apart, so heights bound the shadow stack's depth. */
void stack_set_limit(struct stack *stack)
{
    uint64_t limit = stack->base - stack->low, capacity = stack->reserve - 2 * sizeof(struct frame);
    if (limit > capacity)
        limit = capacity;
    if (limit > HEIGHT_MAX)
        limit = HEIGHT_MAX;
    /* Stacks within a thread's own stack are identified the slow way. */
    for (uint32_t i = 0; stack->kind == STACK_OWN && i < core.aux_count; i++) {
        uint64_t high = core.by_low[i]->high;
        if (high > stack->low && high <= stack->base && stack->base - high < limit)
            limit = stack->base - high;
    }
    BARRIER();
    *(volatile uint64_t *)stack->limit = stack->base && limit > 8 && !stack->stale ? limit - 8 : 0;
}

void stack_restart(struct stack *stack, uint64_t cfa)
{
    *(volatile uint64_t *)stack->limit = 0;
    BARRIER();
    stack->base = cfa;
    BARRIER();
    *(struct frame *volatile *)&stack->top = stack->frames;
    BARRIER();
    stack_set_limit(stack);
}

void stack_reset(struct stack *stack, uint64_t low, uint64_t high)
{
    *(volatile uint64_t *)stack->limit = 0;
    BARRIER();
    stack->base = 0;
    stack->low = low;
    stack->high = high;
    stack->top = stack->frames;
}

static bool make_room(struct stack *stack, uint64_t bytes)
{
    if (bytes > core.reserve_most)
        bytes = core.reserve_most;
    bytes = RAW_PAGE_UP(bytes + 4 * sizeof(struct frame));
    if (stack->reserve >= bytes)
        return true;
    if (stack->reserve)
        raw_munmap(stack->frames, stack->reserve);
    stack->reserve = 0;
    for (; bytes >= RAW_PAGE; bytes = RAW_PAGE_DOWN(bytes / 4)) {
        stack->frames = core_reserve(bytes);
        stack->reserve = stack->frames ? bytes : 0;
        if (stack->frames)
            return true;
    }
    return false;
}

void stack_free(struct stack *stack)
{
    stack->thread = NULL;
    stack->kind = STACK_FREE;
    stack->next_free = core.free_stacks;
    core.free_stacks = stack;
}

struct stack *stack_new(enum stack_kind kind, uint64_t low, uint64_t high)
{
    struct stack *stack = core.free_stacks;
    if (stack)
        core.free_stacks = stack->next_free;
    else if (core.stack_count < STACKS_MAX)
        stack = core.stacks + core.stack_count++;
    else
        return NULL;
    stack->limit = core.limits + (stack - core.stacks);
    stack->thread = NULL;
    /* A thread's own stack may grow beyond its currently known range. */
    if (!make_room(stack, kind == STACK_OWN ? RESERVE_MAX : high - low)) {
        stack_free(stack);
        return NULL;
    }
    stack_reset(stack, low, high);
    stack->stale = recording_has_bursts(&core.recording);
    stack->kind = kind;
    return stack;
}

/* The first coroutine or alternate stack that ends at `address` or above. */
static uint32_t aux_at(uint64_t address)
{
    return lower_bound(i, 0, core.aux_count, core.by_low[i]->high < address);
}

static void leave_stack(struct thread *thread, struct stack *stack)
{
    struct stack *expected = stack;
    if (thread)
        __atomic_compare_exchange_n(&thread->current, &expected, &core_no_stack, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
}

static void remove_aux(uint32_t at)
{
    struct stack *stack = core.by_low[at];
    *(volatile uint64_t *)stack->limit = 0;
    leave_stack(stack->thread, stack);
    stack_free(stack);
    core.aux_count--;
    for (uint32_t i = at; i < core.aux_count; i++)
        core.by_low[i] = core.by_low[i + 1];
}

static struct stack *add_aux(uint64_t low, uint64_t high)
{
    uint32_t at = aux_at(low + 1);
    struct stack *stack = stack_new(STACK_AUX, low, high);
    if (!stack)
        return NULL;
    for (uint32_t i = core.aux_count++; i > at; i--)
        core.by_low[i] = core.by_low[i - 1];
    core.by_low[at] = stack;
    core.header->stack_count++;
    return stack;
}

void core_stack(uint64_t low, uint64_t high)
{
    if (!core.started || low >= high || high - low > 1ull << 40)
        return;
    const uint64_t mask = core_lock();
    if (core.started) {
        uint32_t at = aux_at(low + 1);
        if (at < core.aux_count && core.by_low[at]->low == low && core.by_low[at]->high == high) {
            stack_reset(core.by_low[at], low, high);
        } else {
            while (at < core.aux_count && core.by_low[at]->low < high)
                remove_aux(at);
            add_aux(low, high);
        }
        for (uint32_t i = 0; i < core.thread_count; i++) {
            struct stack *own = core.threads[i].own;
            if (own && high > own->low && high <= own->base)
                stack_set_limit(own);
        }
    }
    core_unlock(mask);
}

uint64_t core_stack_end(uint64_t address)
{
    for (uint32_t i = 1; i < core.stack_count; i++) {
        const struct stack *stack = core.stacks + i;
        if (stack->kind != STACK_FREE && address > stack->low && address <= stack->base)
            return stack->base;
    }
    return 0;
}

/* Transfers the stack to the thread. */
static void take_stack(struct stack *stack, struct thread *thread)
{
    if (stack->thread == thread)
        return;
    *(volatile uint64_t *)stack->limit = 0;
    leave_stack(stack->thread, stack);
    stack->thread = thread;
    nodes_adopt(stack, thread, probe_nodes);
    stack_set_limit(stack);
}

/* Its outermost frame is no longer mapped: another stack now has its addresses. */
static bool is_gone(const struct stack *stack)
{
    return stack->kind == STACK_AUX && stack->top != stack->frames && !address_readable(stack->base - 8);
}

static struct stack *use_aux(struct stack *stack, struct thread *thread, uint64_t cfa)
{
    take_stack(stack, thread);
    if (cfa > stack->base)
        stack_restart(stack, cfa);
    return stack;
}

/* Finds a previously unknown stack. */
static struct stack *discover_stack(struct thread *thread, uint64_t cfa, bool signal)
{
    uint64_t start, end, pointer = thread_pointer();
    if (!vma_find(cfa - 8, &start, &end))
        return NULL;
    struct stack *own = thread->own;
    if (own && own->base > start && own->base <= end && cfa <= own->base && own->low > start) {
        own->low = start;
        stack_set_limit(own);
        return own;
    }
    if (own && own->base > start && own->base <= end && cfa > own->base) {
        stack_restart(own, cfa); /* its base was a guess */
        return own;
    }
    if (!own && pointer >= start && pointer < end && cfa < pointer) {
        uint64_t base = thread_base(cfa, pointer);
        own = stack_new(STACK_OWN, start, end);
        if (!own)
            return NULL;
        own->base = base ? base : cfa;
        own->thread = thread;
        own->frames->node = thread->root;
        stack_set_limit(own);
        thread->own = own;
        return own;
    }
    if (signal) {
        const stack_t *alternate = &((const ucontext_t *)cfa)->uc_stack;
        uint64_t low = (uint64_t)alternate->ss_sp;
        if (low >= start && low < cfa && cfa - low <= alternate->ss_size && alternate->ss_size <= end - low) {
            start = low;
            end = low + alternate->ss_size;
        }
    }
    uint32_t at = aux_at(cfa);
    if (at && core.by_low[at - 1]->high > start)
        start = core.by_low[at - 1]->high;
    if (at < core.aux_count && core.by_low[at]->low < end)
        end = core.by_low[at]->low;
    struct stack *stack = add_aux(start, end);
    return stack ? use_aux(stack, thread, cfa) : NULL;
}

static struct stack *look_up(uint64_t cfa, bool signal)
{
    struct thread *thread = thread_here();
    if (!thread)
        return NULL;
    if (stack_holds(thread->current, cfa))
        return thread->current;
    uint32_t at = aux_at(cfa);
    struct stack *stack = NULL;
    if (at < core.aux_count && core.by_low[at]->low < cfa) {
        if (is_gone(core.by_low[at]))
            remove_aux(at);
        else
            stack = use_aux(core.by_low[at], thread, cfa);
    }
    if (!stack && thread->own && cfa > thread->own->low && cfa <= thread->own->base)
        stack = thread->own;
    if (!stack)
        stack = discover_stack(thread, cfa, signal);
    if (!stack || stack->base < cfa || stack->base - cfa > HEIGHT_MAX)
        return NULL;
    thread->near[thread->near_next++ % THREAD_NEAR] = stack;
    thread->current = stack;
    return stack;
}

struct stack *stack_here(uint64_t cfa, bool signal)
{
    struct thread *thread = probe_thread;
    if (thread && !fork_unseen()) {
        if (stack_holds(thread->current, cfa))
            return thread->current;
        for (unsigned i = 0; i < THREAD_NEAR; i++) {
            struct stack *stack = thread->near[i];
            if (stack && stack->thread == thread && stack_holds(stack, cfa) && !is_gone(stack)) {
                thread->current = stack;
                return stack;
            }
        }
    }
    if (!core.started)
        return NULL;
    const uint64_t mask = core_lock();
    struct stack *stack = core.started ? look_up(cfa, signal) : NULL;
    if (!stack && core.started)
        core.header->dropped_stack++;
    core_unlock(mask);
    return stack;
}

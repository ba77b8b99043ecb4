/*
 * enter.c - the general case of an entry, which entry.S could not handle.
 *
 * To find the caller: frames at the new one's height or deeper have returned. That alone
 * leaves returned frames above the new one: after f() returned, its caller may push arguments or grow its
 * frame before it calls g(), or call g() through unhooked code. So there are two more tests:
 *   - a frame is alive only while its return address is in place: the next call from the same place
 * overwrites it;
 *   - the return address of g is in g's caller, and the plan gives the start of that function's frame: the
 * frame that starts there is the caller. Calls from unhooked code are followed up to one from a hooked
 * function. If the plan has no rule, the caller is the innermost frame of the function that contains the
 * call; if that is unknown too, the innermost one whose callers are all alive.
 *
 * entry.S does only the first test, and uses a child that it finds. That is correct if the call's frames have
 * a fixed size: the callee's height and the call site determine the caller's height and function, under which
 * the child was added. The caller is now an activation of that function at that height, and the frame on the
 * shadow stack at that height is the last one entered there: the caller. If the size is open (alloca, a
 * realigned frame), or unhooked code lies between, a returned frame may have a child for the same call, made
 * deeper down by another activation. Such children have STORE_OPEN in their height, so that entry.S never
 * finds them and they always come here.
 *
 * Unhooked frames between a frame and its hooked caller are not seen: the first time that such a call
 * happens, the stack between the two is saved in the store, to be unwound later.
 *
 * A signal handler's caller is the interrupted code, not the last function entered: its ucontext has the SP,
 * below which all frames have returned. Its site is 0, so that entry.S never finds it and it always comes
 * here.
 */
#include <ucontext.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define ALIVE_MAX 1024 /* most frames to check, for a call from unknown code */

static bool is_alive(const struct stack *stack, const struct frame *frame)
{
    if (frame == stack->frames || !frame->node)
        return true;
    const struct store_node *node = probe_nodes + frame->node;
    uint64_t site = *(const uint64_t *)slot_of(stack, frame);
    if (node->site)
        return (uint32_t)site == node->site;
    return node->function == core.main_function || signal_return_known(site);
}

static struct frame *pop_frames(struct frame *top, const struct stack *stack, uint64_t height)
{
    while (top > stack->frames && top->height >= height)
        top--;
    return top;
}

static bool is_of(const struct frame *frame, uint32_t function)
{
    return frame->node && probe_nodes[frame->node].function == function;
}

/* Whether the frame is here although its function has no hook, so that caller_at() never returns it:
 * `_start`, and functions reported by the compiler's calls. */
static bool is_without_hook(const struct frame *frame)
{
    uint32_t function = frame->node ? probe_nodes[frame->node].function : STORE_ROOT;
    return function != STORE_ROOT && !core_has_hook(function);
}

/* `top`, or the frame above the outermost returned one, whose callees have returned too, even if their return
 * addresses are still there. */
static struct frame *innermost_alive(const struct stack *stack, struct frame *top)
{
    struct frame *f = top - stack->frames > ALIVE_MAX ? top - ALIVE_MAX : stack->frames;
    while (f < top && is_alive(stack, f + 1))
        f++;
    return f;
}

/* The innermost frame of the function (0: any); `top` if there is none. */
static struct frame *innermost_of(const struct stack *stack, struct frame *top, uint32_t function)
{
    if (!function)
        return innermost_alive(stack, top);
    for (struct frame *f = top; f > stack->frames; f--)
        if (is_of(f, function) && is_alive(stack, f))
            return f;
    return top;
}

/* The frame that made the call that returns to *slot: `top`, or one above it. *open: the distance to that
 * frame is not fixed. */
static struct frame *caller_of(const struct stack *stack, struct frame *top, const uint64_t *slot,
                               uint64_t frame_pointer, bool *open)
{
    uint32_t function = 0;
    *open = false;
    for (unsigned n = 0; n < UNHOOKED_MAX; n++) {
        struct calling calling = calling_frame(stack, slot, frame_pointer);
        *open |= n || calling.open;
        function = calling.function;
        if (!calling.cfa)
            break;
        uint64_t height = stack->base - calling.cfa;
        struct frame *f = pop_frames(top, stack, height + 1);
        if (f->height == height && (is_of(f, function) || is_without_hook(f)))
            return f;
        if (function || !height)
            break;
        top = pop_frames(f, stack, height); /* frames at this height have returned, or jumped here */
        frame_pointer = calling.bp;
        slot = (const uint64_t *)calling.cfa - 1;
    }
    return innermost_of(stack, top, function);
}

/* Whether the function of this frame made the call that returns to `back`. */
static bool is_call_of(const struct stack *stack, const struct frame *frame, uint64_t back)
{
    uint32_t function = caller_at(stack->thread, back).function;
    return function && is_of(frame, function);
}

static void add_dropped(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void weigh_node(struct thread *thread, uint32_t node, uint64_t weight, bool nested)
{
    if (core.recording.counter)
        counters_add(thread, node, weight, nested);
    else
        __asm__ volatile("addq %1, %0" : "+m"(probe_nodes[node].count) : "r"(weight));
}

/* Adds the time since the thread's last entry to what was entered then. */
static void add_time(struct thread *thread, uint32_t node, bool nested)
{
    uint64_t passed = ticks_passed(thread) * probe_weight;
    uint32_t last = thread->last_node;
    thread->last_node = node; /* set first: adding weight may purge, which spares this node */
    if (last)
        weigh_node(thread, last, passed, nested);
}

/* Whether this entry interrupted another one that was not abandoned by longjmp: that one is deeper on its stack. */
static bool is_nested(const struct entering *outer, const struct stack *stack, uint64_t cfa)
{
    return outer->stack && !(outer->stack == stack && cfa >= outer->cfa);
}

/* A new child of the frame's node; 0: no room, or the frame's node was removed (purge.c). */
static uint32_t make_child(struct stack *stack, const struct frame *top, uint32_t id, uint32_t key,
                           uint32_t site, bool nested)
{
    if (core.recording.node_limit && !nested)
        purge_if_due(stack->thread);
    return probe_nodes[top->node].function ? node_make(stack->thread, top->node, id, key, site) : 0;
}

static void enter_frame(struct stack *stack, uint32_t id, const uint64_t *return_slot, uint64_t frame_pointer,
                        bool handler, bool nested)
{
    uint64_t cfa = (uint64_t)(return_slot + 1), back = *return_slot;
    uint32_t site = handler ? 0 : (uint32_t)back;
    bool alternate = false; /* it is the outermost frame of an alternate stack */
    if (handler) {
        uint64_t sp = (uint64_t)((const ucontext_t *)cfa)->uc_mcontext.gregs[REG_RSP];
        alternate = stack->kind == STACK_AUX && (sp <= stack->low || sp > stack->base);
        if (alternate)
            stack_restart(stack, cfa + STORE_SIGNAL_HEIGHT);
        else if (sp > stack->low && sp <= stack->base)
            stack->top = pop_frames(stack->top, stack, stack->base - sp);
    }
    uint32_t height = (uint32_t)(stack->base - cfa), key = height | (alternate ? STORE_SIGNAL : 0);
    struct frame *top = pop_frames(stack->top, stack, height);
    while (!is_alive(stack, top))
        top--;
    if ((uint64_t)(top - stack->frames) + 8 > stack->reserve / sizeof *top) {
        add_dropped(&core.header->dropped_depth);
        return;
    }
    uint32_t node = 0;
    if (top->node)
        node = node_find(stack, cfa, top->node, id, key, site);
    if (!node && !handler) {
        bool open;
        struct frame *caller = caller_of(stack, top, return_slot, frame_pointer, &open);
        bool sought = caller == top && !open; /* just searched: it is not there */
        if (caller != top)
            add_dropped(&core.header->misplaced);
        top = caller;
        key |= open ? STORE_OPEN : 0;
        if (top->node && !sought)
            node = node_find(stack, cfa, top->node, id, key, site);
    }
    if (!node && top->node) {
        node = make_child(stack, top, id, key, site, nested);
        if (node && !alternate && !is_call_of(stack, top, back))
            saved_stack_keep(stack, top, node, return_slot, frame_pointer);
    }
    if (node && !core.recording.weigh_ticks)
        weigh_node(stack->thread, node, probe_weight, nested);
    else if (!node)
        add_dropped(&core.header->dropped);
    if (core.recording.weigh_ticks)
        add_time(stack->thread, node, nested);
    if (node && core.recording.log_calls)
        call_log_add(stack->thread, node);
    /* Like entry.S: a handler that interrupts before the second store puts its own frame there. */
    uint64_t frame = (uint64_t)node << 32 | height;
    *(volatile uint64_t *)(top + 1) = frame;
    BARRIER();
    *(struct frame *volatile *)&stack->top = top + 1;
    BARRIER();
    *(volatile uint64_t *)(top + 1) = frame;
}

void core_enter(uint32_t id, const uint64_t *return_slot, uint64_t frame_pointer)
{
    uint64_t cfa = (uint64_t)(return_slot + 1);
    if (!core.started)
        return;
    bool handler = signal_return(*return_slot);
    struct stack *stack = stack_here(cfa, handler);
    if (!stack)
        return;
    if (stack->stale)
        stack_resync(stack, return_slot, frame_pointer);
    struct thread *thread = stack->thread;
    const struct entering outer = thread->entering;
    thread->entering.cfa = cfa;
    BARRIER();
    thread->entering.stack = stack;
    BARRIER();
    bool nested = is_nested(&outer, stack, cfa);
    enter_frame(stack, id, return_slot, frame_pointer, handler, nested);
    BARRIER();
    thread->entering.cfa = outer.cfa;
    thread->entering.stack = nested ? outer.stack : NULL; /* an abandoned one ends here */
}

/*
 * enter.c - an entry that entry.S could not place: the general case.
 *
 * Who called? Frames at the new one's height or deeper are gone (DESIGN section 1). That alone leaves frames
 * that have returned but lie above the new one: after f() returned, its caller may push arguments or grow its
 * frame before it calls g(), or call g() through code that has no hooks. So two more tests:
 *   - a frame is alive only while its return address is where it was: the next call from the same place
 *     overwrites it;
 *   - the return address of g lies in g's caller. When that is a function of ours, it is the innermost frame
 *     of that function. This is looked at before a child is made; so each child that there is has been
 *     called by its parent, and entry.S need not look again. Where it lies in code without hooks, the caller
 *     is the innermost frame whose callers are all alive.
 * A signal handler's caller is where it came from, not the last function entered: its ucontext has the SP,
 * below which all has returned. It is kept with site 0, so that entry.S never finds it and it always comes
 * here.
 */
#include <ucontext.h>

#include "pathmap/probe/core.h"
#include "pathmap/probe/raw.h"
#include "pathmap/probe/state.h"

#define ALIVE_MAX 1024 /* frames looked at, for a call from code without hooks */

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

/* `top`, or the frame below which the first one has returned: those that it had called are gone, too, though
 * their return addresses may still be there. */
static struct frame *innermost_alive(const struct stack *stack, struct frame *top)
{
    struct frame *f = top - stack->frames > ALIVE_MAX ? top - ALIVE_MAX : stack->frames;
    while (f < top && is_alive(stack, f + 1))
        f++;
    return f;
}

/* The frame whose code has the call that returns to `site`; where that code has no hooks, the innermost one.
 */
static struct frame *caller_of(struct stack *stack, struct frame *top, uint64_t site)
{
    uint32_t function = function_calling(stack->thread, site);
    if (!function)
        return innermost_alive(stack, top);
    for (struct frame *f = top; f > stack->frames; f--)
        if (f->node && probe_nodes[f->node].function == function && is_alive(stack, f))
            return f;
    return top;
}

static struct frame *pop(const struct stack *stack, uint64_t height)
{
    struct frame *top = stack->top;
    while (top > stack->frames && top->height >= height)
        top--;
    return top;
}

static void add_dropped(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void core_enter(uint32_t id, const uint64_t *return_slot)
{
    uint64_t cfa = (uint64_t)(return_slot + 1), back = *return_slot;
    if (!core.started)
        return;
    bool handler = signal_return(back);
    struct stack *stack = stack_here(cfa, handler);
    if (!stack)
        return;
    uint32_t site = handler ? 0 : (uint32_t)back;
    if (handler) {
        uint64_t sp = (uint64_t)((const ucontext_t *)cfa)->uc_mcontext.gregs[REG_RSP];
        if (sp > stack->low && sp <= stack->base)
            stack->top = pop(stack, stack->base - sp);
        else if (stack->kind == STACK_AUX)
            stack_restart(stack, cfa); /* the outermost frame of an alternate stack */
    }
    uint64_t height = stack->base - cfa;
    struct frame *top = pop(stack, height);
    while (!is_alive(stack, top))
        top--;
    if ((uint64_t)(top - stack->frames) + 8 > stack->reserve / sizeof *top) {
        add_dropped(&core.header->dropped_depth);
        return;
    }
    uint32_t node = 0;
    if (top->node)
        node = node_find(stack, cfa, top->node, id, (uint32_t)height, site);
    if (!node && !handler) {
        struct frame *caller = caller_of(stack, top, back);
        if (caller != top) {
            add_dropped(&core.header->misplaced);
            top = caller;
            node = node_find(stack, cfa, top->node, id, (uint32_t)height, site);
        }
    }
    if (!node && top->node)
        node = node_make(stack->thread, top->node, id, (uint32_t)height, site);
    if (node)
        __asm__ volatile("incq %0" : "+m"(probe_nodes[node].count));
    else
        add_dropped(&core.header->dropped);
    /* As entry.S does: a handler that comes before the second store puts its own frame there. */
    uint64_t frame = (uint64_t)node << 32 | height;
    *(volatile uint64_t *)(top + 1) = frame;
    BARRIER();
    *(struct frame *volatile *)&stack->top = top + 1;
    BARRIER();
    *(volatile uint64_t *)(top + 1) = frame;
}

/*
 * resync.c - makes a stack's shadow stack anew when entries were not seen for a while (bursts.c).
 *
 * From the first entry that is seen again, the stack is followed to its base by the rules of its calls, as enter.c does for
 * one caller. Frames of hooked functions get the nodes that entries would have found for them; they are not counted. Where
 * no rule is known, the frames outside are missing, and those found stand below the thread's root.
 */
#include "pathmap/probe/core.h"
#include "pathmap/probe/state.h"

#define PENDING_OPEN                                                                                         \
    STORE_OPEN /* in the height of a frame whose node is not known yet: its `node` is a function */

/* Writes the frames that called, from the innermost one; their number. */
static uint64_t collect(struct stack *stack, const uint64_t *slot, uint64_t frame_pointer, struct frame *out)
{
    uint64_t room = stack->reserve / sizeof *out - (uint64_t)(out - stack->frames) - 1, count = 0;
    for (unsigned unhooked = 0; unhooked < UNHOOKED_MAX && count < room;) {
        struct calling calling = calling_frame(stack, slot, frame_pointer);
        if (count && (unhooked || calling.open))
            out[count - 1].height |= PENDING_OPEN;
        uint64_t height = stack->base - calling.cfa;
        if (!calling.cfa || height <= out[-1].height)
            break;
        unhooked++;
        slot = (const uint64_t *)calling.cfa - 1;
        if (calling.function && core_has_hook(calling.function)) {
            out[count++] = (struct frame){(uint32_t)height, calling.function};
            unhooked = 0;
        }
        frame_pointer = calling.bp;
    }
    return count;
}

static void reverse(struct frame *frames, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        struct frame frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

/* Its node, found or made. */
static void find_node(struct stack *stack, struct frame *frame)
{
    uint32_t key = frame->height, function = frame->node, parent = frame[-1].node;
    frame->height &= ~PENDING_OPEN;
    uint32_t site = (uint32_t) * (const uint64_t *)slot_of(stack, frame);
    frame->node = 0;
    if (parent)
        frame->node = node_find(stack, stack->base - frame->height, parent, function, key, site);
    if (parent && !frame->node)
        frame->node = node_make(stack->thread, parent, function, key, site);
}

void stack_resync(struct stack *stack, const uint64_t *slot, uint64_t frame_pointer)
{
    struct frame *first = stack->frames + 1;
    stack->thread->last_node = 0; /* what passed meanwhile is nobody's time */
    /* The program's entry point has no hook. */
    if (stack->top >= first && first->node && core.main_function &&
        probe_nodes[first->node].function == core.main_function)
        first++;
    stack->top = first - 1;
    uint64_t count = collect(stack, slot, frame_pointer, first);
    reverse(first, count);
    for (uint64_t i = 0; i < count; i++)
        find_node(stack, first + i);
    BARRIER();
    stack->top = first + count - 1;
    BARRIER();
    stack->stale = false;
    stack_set_limit(stack);
}

void core_burst(uint64_t ns)
{
    uint64_t mask;
    core_lock(&mask);
    if (core.started) {
        core.header->bursts++;
        core.header->burst_ns += ns;
    }
    core_unlock(&mask);
}

void core_resync(void)
{
    uint64_t mask;
    core_lock(&mask);
    for (uint32_t i = 1; core.started && i < core.stack_count; i++) {
        struct stack *stack = core.stacks + i;
        if (stack->kind == STACK_FREE)
            continue;
        stack->stale = true;
        *(volatile uint64_t *)stack->limit = 0;
    }
    core_unlock(&mask);
}

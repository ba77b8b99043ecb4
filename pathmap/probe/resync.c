/*
 * resync.c - rebuilds a shadow stack after a time in which entries were not seen (bursts.c).
 *
 * From the first entry that is seen again, the stack is followed to its base by the rules of its calls, as
 * enter.c does for one caller. Frames of hooked functions get the nodes that entries would have found for them;
 * these are not counted. If no rule is known, the frames further out are missing, and those found are children of
 * the thread's root.
 */
#include <signal.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

/* A flag in the height of a frame whose node is not known yet, and whose `node` is its function: it was called
 * from a frame without a fixed size, or through unhooked functions. Once the node is known: the node is new. */
#define PENDING_OPEN STORE_OPEN

/* A walk from a call outwards. */
struct walk {
    const uint64_t *slot; /* of the return address of the last frame reached */
    uint64_t frame_pointer;
    uint32_t height; /* of that frame; 0 at first */
};

/* Advances to the next frame of a hooked function. Returns the function; 0: none, or not found. *between: the
 * unhooked frames passed. *open: the distance is not fixed. */
static uint32_t next_hooked(const struct stack *stack, struct walk *walk, unsigned *between, bool *open)
{
    *open = false;
    for (*between = 0; *between < UNHOOKED_MAX; ++*between) {
        struct calling calling = calling_frame(stack, walk->slot, walk->frame_pointer);
        *open |= *between || calling.open;
        if (!calling.cfa)
            break;
        *walk = (struct walk){(const uint64_t *)calling.cfa - 1, calling.bp,
                              (uint32_t)(stack->base - calling.cfa)};
        if (calling.function && core_has_hook(calling.function))
            return calling.function;
    }
    return 0;
}

/* Writes the calling frames, innermost first; returns their number. */
static uint64_t collect_frames(const struct stack *stack, struct walk walk, struct frame *out)
{
    uint64_t capacity = stack->reserve / sizeof *out - (uint64_t)(out - stack->frames) - 1, count = 0;
    while (count < capacity) {
        unsigned between;
        bool open;
        uint32_t function = next_hooked(stack, &walk, &between, &open);
        if (count && open)
            out[count - 1].height |= PENDING_OPEN;
        if (!function || walk.height <= out[-1].height)
            break;
        out[count++] = (struct frame){walk.height, function};
    }
    return count;
}

static void reverse_frames(struct frame *frames, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        struct frame frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

/* Finds or makes the frame's node. Returns whether its stack must be saved, and marks it in that case. */
static bool find_node(struct stack *stack, struct frame *frame)
{
    uint32_t key = frame->height, function = frame->node, parent = frame[-1].node;
    frame->height &= ~PENDING_OPEN;
    uint64_t back = *(const uint64_t *)slot_of(stack, frame);
    uint32_t site = (uint32_t)back;
    if (stack->kind == STACK_AUX && frame == stack->frames + 1 && signal_return_known(back)) {
        key |= STORE_SIGNAL; /* as in enter.c */
        site = 0;
    }
    frame->node = 0;
    if (parent)
        frame->node = node_find(stack, stack->base - frame->height, parent, function, key, site);
    if (frame->node || !parent)
        return false;
    frame->node = node_make(stack->thread, parent, function, key, site);
    frame->height |= frame->node ? key & PENDING_OPEN : 0;
    return frame->node && key & PENDING_OPEN;
}

/* Saves the stacks of marked frames that were called through unhooked functions, as enter.c does. Walks as
 * collect_frames() did. */
static void keep_stacks(const struct stack *stack, struct walk walk, struct frame *first, struct frame *last)
{
    unsigned between;
    bool open;
    next_hooked(stack, &walk, &between, &open);
    for (struct frame *f = last; f >= first; f--) {
        const struct walk at = walk;
        uint32_t function = next_hooked(stack, &walk, &between, &open);
        bool marked = f->height & PENDING_OPEN;
        f->height &= ~PENDING_OPEN;
        if (marked && (between || !function))
            saved_stack_keep(stack, f - 1, f->node, at.slot, at.frame_pointer);
    }
}

static void find_frames(struct stack *stack, struct walk walk)
{
    struct frame *first = stack->frames + 1;
    /* The program's entry point has no hook. */
    if (stack->top >= first && first->node && core.main_function &&
        probe_nodes[first->node].function == core.main_function)
        first++;
    stack->top = first - 1;
    uint64_t count = collect_frames(stack, walk, first);
    bool marked = false;
    reverse_frames(first, count);
    for (uint64_t i = 0; i < count; i++)
        marked |= find_node(stack, first + i);
    if (marked)
        keep_stacks(stack, walk, first, first + count - 1);
    BARRIER();
    stack->top = first + count - 1;
}

void stack_resync(struct stack *stack, const uint64_t *slot, uint64_t frame_pointer)
{
    const uint64_t mask = raw_signal_mask(SIG_BLOCK, ~0ull);
    if (stack->stale) {               /* a handler may have done it */
        stack->thread->last_node = 0; /* the time that passed meanwhile belongs to no node */
        find_frames(stack, (struct walk){slot, frame_pointer, 0});
        BARRIER();
        stack->stale = false;
        stack_set_limit(stack);
        first_context(stack->top->node);
    }
    raw_signal_mask(SIG_SETMASK, mask);
}

void core_burst(uint64_t ns)
{
    const uint64_t mask = core_lock();
    if (core.started) {
        core.header->bursts++;
        core.header->burst_ns += ns;
    }
    core_unlock(mask);
}

void core_burst_omitted(void)
{
    __atomic_fetch_add(&core.header->bursts_omitted, 1, __ATOMIC_RELAXED);
}

void core_resync(void)
{
    const uint64_t mask = core_lock();
    for (uint32_t i = 1; core.started && i < core.stack_count; i++) {
        struct stack *stack = core.stacks + i;
        if (stack->kind == STACK_FREE)
            continue;
        stack->stale = true;
        *(volatile uint64_t *)stack->limit = 0;
    }
    core_unlock(mask);
}

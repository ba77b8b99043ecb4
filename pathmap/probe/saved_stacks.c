/*
 * saved_stacks.c - space in the store for the contents of stacks (struct store_stack), and its reuse when their
 * nodes are removed (purge.c).
 *
 * Free spaces are listed by size, as calls of the same frames need the same size. Their `node` is 0, so readers
 * skip them.
 */
#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define SIZES (STORE_STACK_MAX / 8 + sizeof(struct store_stack) / 8 + 1)

static uint64_t free_spaces
    [SIZES]; /* by size / 8: offset of the first free one + 1; its `cfa` is the next. Under the lock */

static struct store_stack *stack_at(uint64_t offset)
{
    return (struct store_stack *)((uint8_t *)core.header + STORE_STACKS_AT + offset);
}

static struct store_stack *take_stack(uint32_t size)
{
    uint64_t used = core.header->stacks_used, free = free_spaces[size / 8];
    struct store_stack *s;
    if (free) {
        s = stack_at(free - 1);
        free_spaces[size / 8] = s->cfa;
        return s;
    }
    s = stack_at(used);
    if (used > STORE_STACKS_SIZE - size || !store_room(s, size))
        return NULL;
    *(volatile uint32_t *)&s->size = size;
    BARRIER();
    core.header->stacks_used = used + size;
    return s;
}

/* Returned with `node` 0; NULL: none. */
static struct store_stack *space_new(uint32_t size)
{
    const uint64_t mask = core_lock();
    struct store_stack *s = core.started ? take_stack(size) : NULL;
    core_unlock(mask);
    return s;
}

void saved_stack_keep(const struct stack *stack, const struct frame *top, uint32_t node,
                      const uint64_t *return_slot, uint64_t frame_pointer)
{
    uint64_t cfa = (uint64_t)(return_slot + 1);
    uint64_t near = stack->base - top->height,
             far = top > stack->frames ? stack->base - top[-1].height : near;
    uint64_t end = far - cfa <= STORE_STACK_MAX ? far : near;
    if (end <= cfa || end - cfa > STORE_STACK_MAX || end % 8)
        return;
    struct store_stack *saved = space_new((uint32_t)(sizeof *saved + (end - cfa)));
    if (!saved)
        return;
    saved->cfa = cfa;
    saved->back = *return_slot;
    saved->bp = frame_pointer;
    saved->own = stack->kind == STACK_OWN;
    raw_copy(saved + 1, (const void *)cfa, end - cfa);
    BARRIER();
    *(volatile uint32_t *)&saved->node = node;
}

void saved_stacks_reclaim(void)
{
    struct store_stack *s;
    for (uint64_t at = 0; at < core.header->stacks_used; at += s->size) {
        s = stack_at(at);
        if (!s->node || probe_nodes[s->node].function)
            continue;
        *(volatile uint32_t *)&s->node = 0;
        s->cfa = free_spaces[s->size / 8];
        free_spaces[s->size / 8] = at + 1;
    }
}

void saved_stacks_forget(void)
{
    raw_fill(free_spaces, 0, sizeof free_spaces);
}

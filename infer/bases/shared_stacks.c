/* shared_stacks.c - an array, sorted by process and base on demand; see shared_stacks.h. */
#include "infer/bases/shared_stacks.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define BASES_ABOVE 16 /* bases above an SP to try: overlapping stacks have bases near each other */

struct shared_stacks {
    struct shared_stack *all;
    size_t count, capacity;
    struct table *index; /* hash of pid and base -> index in `all` + 1; rebuilt when that is sorted */
    bool sorted;
};

struct shared_stacks *shared_stacks_new(void)
{
    struct shared_stacks *s = calloc(1, sizeof *s);
    return whole_or_free(s, (s->index = table_new()), free);
}

void shared_stacks_free(struct shared_stacks *s)
{
    if (!s)
        return;
    table_free(s->index);
    free(s->all);
    free(s);
}

static uint64_t stack_key(uint32_t pid, uint64_t base)
{
    return hash_u64(base) + hash_u64(pid);
}

static bool add_stack(struct shared_stacks *s, struct shared_stack stack)
{
    const size_t before = s->count, index = table_index(s->index, stack_key(stack.pid, stack.base), s->all,
                                                        s->count, s->capacity, stack);
    s->sorted &= s->count == before;
    if (index == SIZE_MAX)
        return false;
    struct shared_stack *known = &s->all[index];
    if (stack.low < known->low)
        known->low = stack.low;
    if (stack.first < known->first)
        known->first = stack.first;
    if (stack.last > known->last)
        known->last = stack.last;
    return true;
}

bool shared_stacks_see(struct shared_stacks *s, uint32_t pid, uint64_t low, uint64_t base, uint64_t time)
{
    return add_stack(s, (struct shared_stack){pid, low, base, time, time});
}

bool shared_stacks_add(struct shared_stacks *s, uint32_t pid, uint64_t low, uint64_t base)
{
    return add_stack(s, (struct shared_stack){pid, low, base, 0, UINT64_MAX});
}

static int compare_stacks(const void *a, const void *b)
{
    const struct shared_stack *x = a, *y = b;
    return order_of(x->pid, y->pid) ?: order_of(x->base, y->base);
}

static void sort_stacks(struct shared_stacks *s)
{
    if (s->sorted || s->count == 0)
        return;
    qsort(s->all, s->count, sizeof *s->all, compare_stacks);
    for (size_t i = 0; i < s->count; i++)
        *table_find(s->index, stack_key(s->all[i].pid, s->all[i].base)) = i + 1;
    s->sorted = true;
}

/* Index of the process's first stack with a base at or above the address, or else of the first stack after the process's. */
static size_t first_above(struct shared_stacks *s, uint32_t pid, uint64_t address)
{
    sort_stacks(s);
    struct shared_stack wanted = {.pid = pid, .base = address};
    return lower_bound(i, 0, s->count, compare_stacks(&s->all[i], &wanted) < 0);
}

static uint64_t distance(const struct shared_stack *stack, uint64_t time)
{
    return time < stack->first ? stack->first - time : time > stack->last ? time - stack->last : 0;
}

const struct shared_stack *shared_stacks_find(struct shared_stacks *s, uint32_t pid, uint64_t sp,
                                              uint64_t time)
{
    const struct shared_stack *nearest = NULL;
    size_t first = first_above(s, pid, sp);
    for (size_t i = first; i < s->count && i < first + BASES_ABOVE && s->all[i].pid == pid; i++) {
        const struct shared_stack *stack = &s->all[i];
        if (stack->low <= sp && (!nearest || distance(stack, time) < distance(nearest, time)))
            nearest = stack;
    }
    return nearest;
}

size_t shared_stacks_of(struct shared_stacks *s, uint32_t pid, struct shared_stack **out)
{
    size_t first = first_above(s, pid, 0), end = first;
    while (end < s->count && s->all[end].pid == pid)
        end++;
    *out = s->all ? s->all + first : NULL;
    return end - first;
}

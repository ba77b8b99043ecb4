/* stacks.c - see stacks.h. */
#include "process/stacks.h"

#include <stdlib.h>

#include "base/hash.h"

struct stack {
    uint64_t low, base;
};

struct thread {
    uint32_t tid, count;
    struct stack stacks[]; /* count of them */
};

struct stacks {
    struct table *threads; /* tid -> struct thread * */
    struct thread *last;   /* the one that was asked for last, or NULL */
};

struct stacks *stacks_new(void)
{
    struct stacks *s = calloc(1, sizeof *s);
    if (s && !(s->threads = table_new())) {
        free(s);
        s = NULL;
    }
    return s;
}

static struct thread *stacks_thread(const struct stacks *s, uint32_t tid)
{
    uint64_t *value = table_find(s->threads, tid);
    return value ? (struct thread *)(uintptr_t)*value : NULL;
}

void stacks_free(struct stacks *s)
{
    if (!s)
        return;
    size_t cursor = 0;
    uint64_t tid, value;
    while (table_next(s->threads, &cursor, &tid, &value))
        free((struct thread *)(uintptr_t)value);
    table_free(s->threads);
    free(s);
}

/* The thread with room for `count` stacks, made when it is new. */
static struct thread *stacks_grow(struct stacks *s, uint32_t tid, uint32_t count)
{
    uint64_t *value = table_put(s->threads, tid, NULL);
    if (!value)
        return NULL;
    struct thread *old = (struct thread *)(uintptr_t)*value;
    struct thread *t = realloc(old, sizeof *t + count * sizeof t->stacks[0]);
    if (!t) {
        if (!old)
            table_remove(s->threads, tid);
        return NULL;
    }
    if (!old)
        t->count = 0;
    t->tid = tid;
    *value = (uintptr_t)t;
    s->last = t;
    return t;
}

bool stacks_set(struct stacks *s, uint32_t tid, uint64_t low, uint64_t base)
{
    struct thread *t = stacks_thread(s, tid);
    uint32_t kept = 0;
    for (uint32_t i = 0; t && i < t->count; i++) {
        struct stack *stack = &t->stacks[i];
        if (stack->base == base) {
            if (stack->low < low)
                low = stack->low;
        } else if (stack->base <= low || stack->low >= base) {
            t->stacks[kept++] = *stack;
        }
    }
    if (t)
        t->count = kept;
    if (kept >= STACKS_MAX)
        return false;
    t = stacks_grow(s, tid, kept + 1);
    if (!t)
        return false;
    t->stacks[t->count++] = (struct stack){low, base};
    return true;
}

bool stacks_find(struct stacks *s, uint32_t tid, uint64_t sp, uint64_t *base)
{
    struct thread *t = s->last && s->last->tid == tid ? s->last : stacks_thread(s, tid);
    if (!t)
        return false;
    s->last = t;
    for (uint32_t i = 0; i < t->count; i++) {
        if (sp >= t->stacks[i].low && sp <= t->stacks[i].base) {
            *base = t->stacks[i].base;
            return true;
        }
    }
    return false;
}

bool stacks_any(const struct stacks *s, uint32_t tid)
{
    const struct thread *t = stacks_thread(s, tid);
    return t && t->count > 0;
}

void stacks_remove(struct stacks *s, uint32_t tid)
{
    free(stacks_thread(s, tid));
    table_remove(s->threads, tid);
    s->last = NULL;
}

bool stacks_copy(struct stacks *to, uint32_t to_tid, const struct stacks *from, uint32_t from_tid)
{
    const struct thread *t = stacks_thread(from, from_tid);
    for (uint32_t i = 0; t && i < t->count; i++) {
        if (!stacks_set(to, to_tid, t->stacks[i].low, t->stacks[i].base))
            return false;
    }
    return true;
}

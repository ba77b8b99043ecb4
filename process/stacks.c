/* stacks.c - see stacks.h. */
#include "process/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"

struct stack {
    uint64_t low, base;
};

/* A list of stacks: a thread's, or the shared ones. */
struct thread {
    uint32_t tid, count;
    bool ended;
    struct stack stacks[]; /* `count` of them, by address */
};

struct stacks {
    struct table *threads; /* tid -> struct thread * */
    struct thread *last;   /* the last one looked up, or NULL */
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

/* The thread with capacity for `count` stacks, created if new. */
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
    if (!old) {
        t->count = 0;
        t->ended = false;
    }
    t->tid = tid;
    *value = (uintptr_t)t;
    s->last = t;
    return t;
}

/* Index of the first stack whose base is at or above the address. */
static uint32_t thread_first(const struct thread *t, uint64_t address)
{
    return t ? lower_bound(i, 0, t->count, t->stacks[i].base < address) : 0;
}

bool stacks_begin(struct stacks *s, uint32_t tid, uint64_t base, uint64_t reach)
{
    struct thread *t = stacks_thread(s, tid);
    uint32_t above = thread_first(t, base);
    uint64_t low = base - reach;
    if (t && above < t->count) {
        if (t->stacks[above].base == base)
            return true;
        if (t->stacks[above].low < base)
            t->stacks[above].low = base;
    }
    if (above > 0 && t->stacks[above - 1].base > low)
        low = t->stacks[above - 1].base;
    return stacks_set(s, tid, low, base);
}

bool stacks_set(struct stacks *s, uint32_t tid, uint64_t low, uint64_t base)
{
    stacks_forget_ended(s, tid);
    struct thread *t = stacks_thread(s, tid);
    uint32_t from = thread_first(t, low + 1), to = from;
    for (; t && to < t->count && t->stacks[to].low < base; to++) {
        if (t->stacks[to].base == base && t->stacks[to].low < low)
            low = t->stacks[to].low;
    }
    uint32_t count = t ? t->count : 0, after = count - to;
    if (from + after >= STACKS_MAX) {
        t->count = 0; /* those still in use will be reported again */
        from = to = count = after = 0;
    }
    if (from == to && !(t = stacks_grow(s, tid, count + 1)))
        return false;
    memmove(t->stacks + from + 1, t->stacks + to, after * sizeof t->stacks[0]);
    t->stacks[from] = (struct stack){low, base};
    t->count = from + 1 + after;
    return true;
}

bool stacks_find(struct stacks *s, uint32_t tid, uint64_t sp, uint64_t *base)
{
    struct thread *t = s->last && s->last->tid == tid ? s->last : stacks_thread(s, tid);
    if (!t)
        return false;
    s->last = t;
    uint32_t i = thread_first(t, sp);
    if (i == t->count || sp < t->stacks[i].low)
        return false;
    *base = t->stacks[i].base;
    return true;
}

bool stacks_any(const struct stacks *s, uint32_t tid)
{
    const struct thread *t = stacks_thread(s, tid);
    return t && t->count > 0;
}

void stacks_end(struct stacks *s, uint32_t tid)
{
    struct thread *t = stacks_thread(s, tid);
    if (t)
        t->ended = true;
}

void stacks_forget_ended(struct stacks *s, uint32_t tid)
{
    struct thread *t = stacks_thread(s, tid);
    if (!t || !t->ended)
        return;
    free(t);
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

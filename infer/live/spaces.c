/* spaces.c - see spaces.h. */
#include "infer/live/spaces.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

struct code {
    uint64_t start, end, offset;
    struct build_id id; /* empty: the kernel's own code, which is the same in all processes */
};

struct space {
    uint32_t number, processes;
    uint64_t state; /* process_state() of the mappings below */
    bool is_own;    /* some code is in no file with a build-id, so no other program's can be the same */
    struct code *code;
    size_t code_count, code_capacity;
};

struct spaces {
    struct spaces_input in;
    struct space *items;
    size_t count, capacity;
    uint32_t last_number;
    struct table *of; /* PID -> number */
};

struct spaces *spaces_new(const struct spaces_input *input)
{
    struct spaces *s = allocate(struct spaces, .in = *input, .of = table_new());
    return whole_or_free(s, s->of, free);
}

void spaces_free(struct spaces *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i].code);
    free(s->items);
    table_free(s->of);
    free(s);
}

static struct space *by_number(struct spaces *s, uint64_t number)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].number == number)
            return &s->items[i];
    return NULL;
}

static struct space *find_space(struct spaces *s, uint32_t pid)
{
    const uint64_t *number = table_find(s->of, pid);
    return number ? by_number(s, *number) : NULL;
}

static bool read_code(const struct process *process, struct space *out)
{
    const struct mapping *mapping;
    const struct build_id *id;
    out->state = process_state(process);
    out->is_own = false;
    out->code_count = 0;
    for (size_t i = 0; (mapping = process_mapping_at(process, i, &id)); i++) {
        struct code code = {mapping->start, mapping->end, mapping->offset, {0}};
        if (id)
            code.id = *id;
        else if (!mapping->path || mapping->path[0] != '[')
            out->is_own = true;
        if (!vec_push(out->code, out->code_count, out->code_capacity, code))
            return false;
    }
    return true;
}

static bool is_same(const struct space *a, const struct space *b)
{
    if (a->is_own || b->is_own || a->code_count != b->code_count)
        return false;
    for (size_t i = 0; i < a->code_count; i++) {
        const struct code *x = &a->code[i], *y = &b->code[i];
        if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
            !build_id_equal(&x->id, &y->id))
            return false;
    }
    return true;
}

/* Puts a process that is in no space into one. */
static bool enter_space(struct spaces *s, uint32_t pid, struct space *space)
{
    if (!table_set(s->of, pid, space->number))
        return false;
    space->processes++;
    s->in.place(s->in.context, pid, space->number);
    return true;
}

void spaces_leave(struct spaces *s, uint32_t pid)
{
    struct space *space = find_space(s, pid);
    if (!space)
        return;
    table_remove(s->of, pid);
    s->in.place(s->in.context, pid, 0);
    if (--space->processes)
        return;
    s->in.end(s->in.context, space->number);
    free(space->code);
    *space = s->items[--s->count];
}

/* The space, if any, with the same code as `now`. */
static struct space *find_same(struct spaces *s, const struct space *now)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].state == now->state || is_same(&s->items[i], now))
            return &s->items[i];
    return NULL;
}

/* Updates a space whose processes have more code now. */
static void update_space(struct space *space, struct space *now)
{
    free(space->code);
    now->number = space->number;
    now->processes = space->processes;
    *space = *now;
}

/* The number of the space for the code `now`, which takes ownership of it; 0: out of memory. */
static uint32_t space_for(struct spaces *s, struct space *previous, struct space *now)
{
    struct space *same = find_same(s, now);
    if (previous && (same == previous || (!same && previous->processes == 1))) {
        update_space(previous, now);
        return previous->number;
    }
    now->number = same ? same->number : ++s->last_number;
    if (!same && vec_push(s->items, s->count, s->capacity, *now))
        return now->number;
    free(now->code);
    return same ? now->number : 0;
}

uint32_t spaces_of(struct spaces *s, const struct process *process)
{
    const uint32_t pid = process_pid(process);
    struct space *previous = find_space(s, pid), now = {0};
    if (previous && previous->state == process_state(process))
        return previous->number;
    if (!read_code(process, &now)) {
        free(now.code);
        return 0;
    }
    const uint32_t before = previous ? previous->number : 0, number = space_for(s, previous, &now);
    if (number == 0 || number == before)
        return number;
    spaces_leave(s, pid);
    return enter_space(s, pid, by_number(s, number)) ? number : 0;
}

bool spaces_fork(struct spaces *s, const struct process *parent, uint32_t child)
{
    spaces_leave(s, child); /* in case the end of an earlier process with this PID was lost */
    uint32_t number = spaces_of(s, parent);
    return number && enter_space(s, child, by_number(s, number));
}

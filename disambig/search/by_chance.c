/*
 * by_chance.c - the paper's search (ICPP, section 5.1.1), over the same state.
 *
 * Chooses two paths with one CID at random. Of the functions that differ between them, the first grows by 16
 * bytes, the second by 32, and so on, until the two paths separate. Keeps the change if more CIDs are precise
 * now, or if none of the last 100 were kept, and ends after 2,000 tries without a new maximum of precise CIDs.
 * Unlike in the paper, a function grows only as far as its largest pad and the stack allow (one that cannot grow
 * is skipped), and the search ends at the problem's target of weight, not at 97% of the CIDs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "disambig/search/state.h"

#define STALE_UPHILL 100u
#define STALE_END    2000u
#define TELL_STEPS   256u

/* A function, or wrap, that differs between two paths: how much more often it is on the first than on the second. */
struct difference {
    uint32_t function;
    int64_t times;
};

struct chance {
    struct state *s;
    int64_t *times; /* by function; normally 0 */
    struct difference *differences;
    uint32_t *before; /* their pads before the change */
    size_t count, capacity, before_capacity;
    uint32_t *best;
    uint64_t best_precise;
};

static bool add_mover(struct chance *c, uint32_t function, int64_t by)
{
    if (!c->s->problem->most[function])
        return true;
    c->times[function] += by;
    return vec_push(c->differences, c->count, c->capacity, (struct difference){function, 0});
}

static bool add_path(struct chance *c, uint32_t node, int64_t by)
{
    const struct search_problem *p = c->s->problem;
    for (struct pathmap_node at = pathmap_node(p->map, node); at.parent != PATHMAP_NONE;) {
        bool shifted = !p->unshifted || !p->unshifted[node];
        uint32_t wrap = search_wrap(p, node);
        node = at.parent;
        at = pathmap_node(p->map, node);
        if ((shifted && !add_mover(c, at.function, by)) || (wrap != PATHMAP_NONE && !add_mover(c, wrap, by)))
            return false;
    }
    return true;
}

/* In the order of the first path, then of the second. */
static bool find_differences(struct chance *c, uint32_t a, uint32_t b)
{
    c->count = 0;
    bool good = add_path(c, c->s->units.origins[a].node, 1) && add_path(c, c->s->units.origins[b].node, -1);
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        uint32_t f = c->differences[i].function;
        if (c->times[f])
            c->differences[kept++] = (struct difference){f, c->times[f]};
        c->times[f] = 0;
    }
    c->count = kept;
    return good && vec_reserve(c->before, 0, c->before_capacity, kept);
}

/* Chooses a unit that shares its cell, and another one in the cell. false: none was found in many tries. */
static bool choose_pair(struct chance *c, uint32_t *a, uint32_t *b)
{
    struct units *u = &c->s->units;
    for (uint64_t tries = 0; tries < 64ul * u->count; tries++) {
        *a = (uint32_t)(hash_random(&c->s->random) % u->count);
        if (cells_unit_precise(&c->s->cells, *a))
            continue;
        const struct group *group = &u->groups[u->origins[*a].group];
        uint32_t from = (uint32_t)(hash_random(&c->s->random) % group->count);
        for (uint32_t i = 0; i < group->count; i++) {
            *b = group->first + (from + i) % group->count;
            if (*b != *a && u->units[*b].place == u->units[*a].place)
                return true;
        }
    }
    return false;
}

/* Changes pads until the two paths separate; returns how many functions were tried. */
static size_t part_paths(struct chance *c)
{
    struct state *s = c->s;
    int64_t apart = 0;
    size_t i = 0;
    for (; i < c->count && !apart; i++) {
        uint32_t f = c->differences[i].function, pad = s->pads[f];
        uint64_t grown = pad + (i + 1) * (uint64_t)PAD_UNIT;
        c->before[i] = pad;
        if (grown > deep_paths_most(&s->deep_paths, f, pad, s->problem->most[f]))
            continue;
        state_change(s, f, (uint32_t)grown);
        apart += c->differences[i].times * (int64_t)(grown - pad);
    }
    return i;
}

static int try_changes(struct chance *c, struct fathom_error *err)
{
    struct state *s = c->s;
    uint32_t stale = 0, useless = 0;
    while (useless < STALE_END && !state_over(s)) {
        uint32_t a, b;
        if (!s->units.count || !choose_pair(c, &a, &b))
            break;
        if (!find_differences(c, a, b))
            return error_memory(err);
        uint64_t before = s->cells.precise;
        size_t changed = part_paths(c);
        s->steps++;
        stale++;
        useless++;
        if (s->cells.precise > before || stale >= STALE_UPHILL)
            stale = 0;
        else
            for (size_t i = changed; i-- > 0;)
                state_change(s, c->differences[i].function, c->before[i]);
        if (s->cells.precise > c->best_precise) {
            c->best_precise = s->cells.precise;
            memcpy(c->best, s->pads, s->units.functions * sizeof *c->best);
            useless = 0;
        }
        if (s->steps % TELL_STEPS == 0 && state_reached(s))
            break;
    }
    if (s->cells.precise < c->best_precise)
        state_restore(s, c->best);
    return 0;
}

int search_by_chance(struct state *s, struct fathom_error *err)
{
    struct chance c = {.s = s, .best_precise = s->cells.precise};
    c.times = calloc(s->units.functions + 1ul, sizeof *c.times);
    c.best = calloc(s->units.functions + 1ul, sizeof *c.best);
    int rc = c.times && c.best ? try_changes(&c, err) : error_memory(err);
    free(c.times);
    free(c.best);
    free(c.differences);
    free(c.before);
    return rc;
}

/* ranking.c - see ranking.h. */
#include "infer/model/ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

#define BEST (UINT32_MAX - 2) /* as a path: the best one of its state, which may not be made yet */

/* The next path along a way. */
struct way {
    struct lattice_state outer;
    uint32_t edge;
    uint32_t at; /* the outer state's path; BEST; RANKING_END: the way ends at the root */
    double probability;
    struct scaled value; /* of that path; 0: none */
};

struct state {
    struct lattice_state is;
    uint32_t first_way, ways;
    uint32_t first, last, count; /* paths */
    bool opened;                 /* its ways were computed */
    bool ended;                  /* there are no more paths */
};

struct path {
    uint32_t state, way;
    uint32_t outer; /* like struct way's `at`, when it was made */
    uint32_t next;  /* next best of the same state */
    uint32_t note;
    struct scaled value;
};

struct ranking {
    struct lattice *lattice;
    const struct callers *callers;
    struct work *work;
    uint32_t most;
    struct table *index; /* key_of() -> number + 1 */
    struct state *states;
    size_t state_count, state_capacity;
    struct way *ways;
    size_t way_count, way_capacity;
    struct path *paths;
    size_t path_count, path_capacity;
    uint32_t *waiting; /* stack of states that need one more path, each for the one before it */
    size_t waiting_count, waiting_capacity;
    struct lattice_way *sorted; /* scratch */
    size_t sorted_capacity;
};

struct ranking *ranking_new(struct lattice *lattice, const struct callers *callers, uint32_t most,
                            struct work *work)
{
    struct ranking *r = allocate(struct ranking, .lattice = lattice, .callers = callers, .work = work,
                                 .most = most, .index = table_new());
    return whole_or_free(r, r->index, free);
}

static void free_tables(struct ranking *r)
{
    table_free(r->index);
    free(r->states);
    free(r->ways);
    free(r->paths);
    free(r->waiting);
    free(r->sorted);
}

void ranking_free(struct ranking *r)
{
    if (!r)
        return;
    free_tables(r);
    free(r);
}

bool ranking_clear(struct ranking *r)
{
    free_tables(r);
    *r = (struct ranking){
        .lattice = r->lattice, .callers = r->callers, .work = r->work, .most = r->most, .index = table_new()};
    return r->index;
}

size_t ranking_bytes(const struct ranking *r)
{
    return r->state_capacity * (sizeof *r->states + 4 * sizeof(uint64_t)) +
           r->way_capacity * sizeof *r->ways + r->path_capacity * sizeof *r->paths +
           r->waiting_capacity * sizeof *r->waiting;
}

/* Columns that are alike have the same key. */
static uint64_t key_of(const struct ranking *r, struct lattice_state state)
{
    const struct callers_node *n = &r->callers->of[state.node];
    uint64_t what = state.node;
    if (state.node < r->callers->functions && state.column == CALLERS_LEAF && n->leaf != CALLERS_NONE)
        what = (uint64_t)r->callers->nodes + n->leaf;
    else if (state.node < r->callers->functions && state.column && state.column != CALLERS_LEAF)
        what = (uint64_t)r->callers->nodes + n->first_pair + state.column - 1;
    return what * (LATTICE_HEIGHT / CALLERS_UNIT) + state.unit;
}

uint32_t ranking_state(struct ranking *r, struct lattice_state state)
{
    if (r->state_count >= BEST)
        return RANKING_NONE;
    return (uint32_t)table_index(r->index, key_of(r, state), r->states, r->state_count, r->state_capacity,
                                 (struct state){.is = state, .first = RANKING_NONE, .last = RANKING_NONE});
}

static int likelier_first(const void *a, const void *b)
{
    const struct lattice_way *x = a, *y = b;
    struct scaled p = scaled_times(x->value.best, x->probability),
                  q = scaled_times(y->value.best, y->probability);
    return scaled_less(p, q) - scaled_less(q, p);
}

/* Computes the ways out of a state, as many as paths can be asked for. false: out of memory. */
static bool open_state(struct ranking *r, uint32_t state)
{
    const struct lattice_way *ways;
    int64_t count = lattice_ways(r->lattice, r->states[state].is, &ways);
    if (count < 0)
        return false;
    work_take(r->work, 4 * (uint64_t)count);
    if (count > r->most) {
        if (!vec_reserve(r->sorted, 0, r->sorted_capacity, (size_t)count))
            return false;
        memcpy(r->sorted, ways, (size_t)count * sizeof *ways);
        qsort(r->sorted, (size_t)count, sizeof *ways, likelier_first);
        ways = r->sorted;
        count = r->most;
    }
    if (!vec_reserve(r->ways, r->way_count, r->way_capacity, (size_t)count))
        return false;
    struct state *s = &r->states[state];
    s->opened = true;
    s->first_way = (uint32_t)r->way_count;
    s->ways = (uint32_t)count;
    for (int64_t i = 0; i < count; i++)
        r->ways[r->way_count++] =
            (struct way){.outer = ways[i].outer,
                         .edge = ways[i].edge,
                         .at = ways[i].outer.node == CALLERS_ROOT ? RANKING_END : BEST,
                         .probability = ways[i].probability,
                         .value = scaled_times(ways[i].value.best, ways[i].probability)};
    return true;
}

/* Appends the most probable of the next paths to the state's. false: out of memory. */
static bool add_path(struct ranking *r, uint32_t state)
{
    struct state *s = &r->states[state];
    uint32_t best = s->first_way;
    work_take(r->work, 8 + s->ways);
    for (uint32_t i = s->first_way + 1; i < s->first_way + s->ways; i++)
        if (scaled_less(r->ways[best].value, r->ways[i].value))
            best = i;
    s->ended = s->count == r->most || !s->ways || r->ways[best].value.fraction <= 0;
    if (s->ended)
        return true;
    if (r->path_count >= BEST || !vec_reserve(r->paths, r->path_count, r->path_capacity, 1))
        return false;
    uint32_t path = (uint32_t)r->path_count++;
    struct scaled value = r->ways[best].value;
    if (s->count && scaled_less(r->paths[s->last].value, value))
        value = r->paths[s->last].value; /* computed with other rounding */
    r->paths[path] = (struct path){
        .state = state, .way = best, .outer = r->ways[best].at, .next = RANKING_NONE, .value = value};
    if (s->count++)
        r->paths[s->last].next = path;
    else
        s->first = path;
    s->last = path;
    return true;
}

/* Advances the way of the state's last path. 1; 0: state *outer needs one more path first; -ENOMEM. */
static int advance_way(struct ranking *r, const struct state *s, uint32_t *outer)
{
    struct way *way = &r->ways[r->paths[s->last].way];
    way->value = (struct scaled){0, 0};
    if (way->at == RANKING_END)
        return 1;
    *outer = ranking_state(r, way->outer);
    if (*outer == RANKING_NONE)
        return -ENOMEM;
    const struct state *o = &r->states[*outer];
    if (way->at == BEST && o->count)
        way->at = o->first;
    uint32_t next = way->at == BEST ? RANKING_NONE : r->paths[way->at].next;
    if (next == RANKING_NONE)
        return o->ended;
    way->at = next;
    way->value = scaled_times(r->paths[next].value, way->probability);
    return 1;
}

/* One step towards one more path for the state on top of the stack. 0 or -ENOMEM. */
static int step_waiting(struct ranking *r)
{
    uint32_t state = r->waiting[r->waiting_count - 1], outer;
    if (!r->states[state].opened && !open_state(r, state))
        return -ENOMEM;
    int moved = r->states[state].count ? advance_way(r, &r->states[state], &outer) : 1;
    if (moved < 0)
        return moved;
    if (!moved)
        return vec_push(r->waiting, r->waiting_count, r->waiting_capacity, outer) ? 0 : -ENOMEM;
    r->waiting_count--;
    return add_path(r, state) ? 0 : -ENOMEM;
}

/* Finds one more path of a state, if there is one. 0 or -ENOMEM. */
static int rank_more(struct ranking *r, uint32_t state)
{
    r->waiting_count = 0;
    int rc = vec_push(r->waiting, r->waiting_count, r->waiting_capacity, state) ? 0 : -ENOMEM;
    while (rc == 0 && r->waiting_count)
        rc = step_waiting(r);
    return rc;
}

int ranking_first(struct ranking *r, uint32_t state, uint32_t *path)
{
    int rc = r->states[state].count || r->states[state].ended ? 0 : rank_more(r, state);
    *path = r->states[state].first;
    return rc < 0 ? rc : *path != RANKING_NONE;
}

int ranking_next(struct ranking *r, uint32_t *path)
{
    uint32_t state = r->paths[*path].state;
    int rc = 0;
    if (r->states[state].last == *path && !r->states[state].ended)
        rc = rank_more(r, state);
    *path = r->paths[*path].next;
    return rc < 0 ? rc : *path != RANKING_NONE;
}

struct scaled ranking_probability(const struct ranking *r, uint32_t path)
{
    return r->paths[path].value;
}

int ranking_step(struct ranking *r, uint32_t path, struct ranking_step *out)
{
    uint32_t outer = r->paths[path].outer;
    const struct way *way = &r->ways[r->paths[path].way];
    if (outer == BEST) {
        uint32_t state = ranking_state(r, way->outer);
        if (state == RANKING_NONE || ranking_first(r, state, &outer) <= 0)
            return -ENOMEM;
        r->paths[path].outer = outer;
    }
    const struct path *p = &r->paths[path];
    const struct lattice_state *is = &r->states[p->state].is;
    *out = (struct ranking_step){is->node, is->unit, r->ways[p->way].edge, outer};
    return 0;
}

uint32_t *ranking_note(struct ranking *r, uint32_t path)
{
    return &r->paths[path].note;
}

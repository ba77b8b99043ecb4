/*
 * automaton.c - look-ups of CIDs in the lattice; see automaton.h.
 *
 * Best first from the CID outwards: a partial path is as good as it can become with the best path of the
 * state that it has come to. Of all partial paths only as many can matter as paths are asked for, since each
 * leads to one at least.
 */
#include "infer/model/automaton.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "infer/model/lattice.h"

#define NONE       UINT32_MAX
#define OF_ANSWERS 8 /* the share of the memory that remembers answers: 1 in so many */

/* A state that some partial path has come to. */
struct item {
    uint32_t inner; /* the item that it was reached from; NONE: the CID */
    uint32_t edge;  /* by which edge; NONE: none (struct lattice_way) */
    uint32_t exact; /* the map's node whose path completes it; PATHMAP_NONE */
    struct lattice_state state;
    struct scaled so_far;  /* probability of the path from the CID to here */
    struct scaled promise; /* of the best path that it can become */
};

/* The answer for a CID. */
struct answer {
    double paths; /* 0: there are none */
    size_t first; /* of its probabilities */
    uint32_t count;
    double chance;
};

struct automaton {
    const struct graph *graph;
    struct automaton_options options;
    struct callers callers;
    bool *needed;                /* by node of the callers; NULL: all are */
    struct lattice *lattices[2]; /* without and with last resorts */
    struct table *index;         /* function << 32 | height -> number of its answer */
    struct answer *answers;
    size_t answer_count, answer_room;
    double *probabilities;
    size_t probability_count, probability_room;
    struct item *items; /* of the CID that was searched last */
    uint32_t item_count, item_room;
    uint32_t open[AUTOMATON_BEST_MAX]; /* items to go on with, the most promising first */
    uint32_t open_count;
    uint32_t best[AUTOMATON_BEST_MAX]; /* complete ones, the best first */
    uint32_t best_count;
    uint64_t searched;       /* CID whose search this is, as in index */
    struct lattice *lattice; /* that it is found in */
};

/* false: out of memory. */
static bool make_lattices(struct automaton *a)
{
    const struct automaton_options *o = &a->options;
    size_t bytes = o->bytes - o->bytes / OF_ANSWERS;
    if (callers_make(&a->callers, a->graph) < 0)
        return false;
    if (o->functions)
        a->needed = callers_towards(&a->callers, o->functions, o->function_count);
    for (int resorts = 0; resorts < 2; resorts++)
        a->lattices[resorts] = lattice_new(a->graph, &a->callers, a->needed, resorts, bytes / 2);
    return (a->needed || !o->functions) && a->lattices[0] && a->lattices[1];
}

struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options)
{
    struct automaton *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->graph = graph;
    a->searched = UINT64_MAX;
    if (options)
        a->options = *options;
    if (!a->options.best)
        a->options.best = AUTOMATON_BEST;
    if (a->options.best > AUTOMATON_BEST_MAX)
        a->options.best = AUTOMATON_BEST_MAX;
    if (!a->options.bytes)
        a->options.bytes = AUTOMATON_BYTES;
    a->index = table_new();
    if (!a->index || !make_lattices(a)) {
        automaton_free(a);
        a = NULL;
    }
    return a;
}

void automaton_free(struct automaton *a)
{
    if (!a)
        return;
    lattice_free(a->lattices[0]);
    lattice_free(a->lattices[1]);
    free(a->needed);
    callers_free(&a->callers);
    table_free(a->index);
    free(a->answers);
    free(a->probabilities);
    free(a->items);
    free(a);
}

/* Among the open items; false: it cannot become one of the best paths. Those that it makes superfluous go. */
static bool insert_open(struct automaton *a, uint32_t item, struct scaled promise)
{
    uint32_t most = a->options.best - a->best_count;
    if (a->open_count == most) {
        if (!scaled_less(a->items[a->open[most - 1]].promise, promise))
            return false;
        a->open_count--;
    }
    uint32_t at = a->open_count++;
    for (; at > 0 && scaled_less(a->items[a->open[at - 1]].promise, promise); at--)
        a->open[at] = a->open[at - 1];
    a->open[at] = item;
    return true;
}

/* Whether there is use in an item with this promise. */
static bool is_promising(const struct automaton *a, struct scaled promise)
{
    uint32_t most = a->options.best - a->best_count;
    return promise.fraction > 0 &&
           (a->open_count < most || scaled_less(a->items[a->open[most - 1]].promise, promise));
}

/* false: out of memory. */
static bool add_item(struct automaton *a, struct item item)
{
    if (!is_promising(a, item.promise))
        return true;
    if (!vec_reserve(a->items, a->item_count, a->item_room, 1))
        return false;
    a->items[a->item_count] = item;
    return !insert_open(a, a->item_count, item.promise) || ++a->item_count;
}

/* The paths of an exact cell: the map's nodes. */
static bool add_exact(struct automaton *a, uint32_t from)
{
    const struct pathmap *map = graph_map(a->graph);
    struct item inner = a->items[from];
    uint32_t first, nodes = pathmap_find(map, inner.state.node, inner.state.unit * CALLERS_UNIT, &first);
    double all = graph_callers(a->graph, inner.state.node).weight;
    bool good = true;
    for (uint32_t i = first; good && i < first + nodes; i++) {
        if (!graph_allows(a->graph, i))
            continue;
        struct item item = {.inner = from, .edge = NONE, .exact = i, .state = inner.state};
        item.so_far = item.promise = scaled_times(inner.so_far, (double)pathmap_node(map, i).passes / all);
        good = add_item(a, item);
    }
    return good;
}

/* Goes on from an item by one step. 0 or -ENOMEM. */
static int expand(struct automaton *a, uint32_t from)
{
    struct item inner = a->items[from];
    struct lattice_cell cell;
    const struct lattice_way *ways;
    bool found = lattice_find(a->lattice, inner.state.node, inner.state.unit, &cell);
    if (found && cell.kind == LATTICE_EXACT)
        return add_exact(a, from) ? 0 : -ENOMEM;
    int64_t count = lattice_ways(a->lattice, inner.state, &ways);
    bool good = count >= 0;
    for (int64_t i = 0; good && i < count; i++) {
        struct item item = {
            .inner = from, .edge = ways[i].edge, .exact = PATHMAP_NONE, .state = ways[i].outer};
        item.so_far = scaled_times(inner.so_far, ways[i].probability);
        item.promise = scaled_product(item.so_far, ways[i].value.best);
        good = add_item(a, item);
    }
    return good ? 0 : -ENOMEM;
}

static bool is_complete(const struct item *item)
{
    return item->state.node == CALLERS_ROOT || item->exact != PATHMAP_NONE;
}

/* A complete path: nearly always the last one, but for what values were rounded by. */
static void add_best(struct automaton *a, uint32_t item)
{
    uint32_t at = a->best_count++;
    for (; at > 0 && scaled_less(a->items[a->best[at - 1]].so_far, a->items[item].so_far); at--)
        a->best[at] = a->best[at - 1];
    a->best[at] = item;
}

/* The cell of a CID, and the lattice that has it: 0; -ENOENT: none; -ENOSPC; -ENOMEM. */
static int choose_lattice(struct automaton *a, const struct lattice_state *state, struct lattice_cell *cell)
{
    int rc = -ENOENT;
    a->searched = UINT64_MAX;
    for (int resorts = 0; rc == -ENOENT && resorts < 2; resorts++) {
        a->lattice = a->lattices[resorts];
        rc = lattice_extend(a->lattice, state->unit);
        if (rc == 0 && !lattice_find(a->lattice, state->node, state->unit, cell))
            rc = -ENOENT;
    }
    return rc;
}

/* The best paths of a CID that has some. 0 or negative errno. */
static int search(struct automaton *a, uint64_t cid)
{
    struct item start = {.inner = NONE, .edge = NONE, .exact = PATHMAP_NONE, .so_far = scaled_of(1, 0)};
    start.state = (struct lattice_state){(uint32_t)(cid >> 32), CALLERS_LEAF, (uint32_t)cid / CALLERS_UNIT};
    start.promise = start.so_far;
    a->item_count = a->open_count = a->best_count = 0;
    struct lattice_cell cell;
    int rc = choose_lattice(a, &start.state, &cell);
    if (rc == 0)
        rc = add_item(a, start) ? 0 : -ENOMEM;
    while (rc == 0 && a->open_count && a->item_count < AUTOMATON_ITEMS) {
        uint32_t item = a->open[0];
        memmove(a->open, a->open + 1, --a->open_count * sizeof *a->open);
        if (is_complete(&a->items[item]))
            add_best(a, item);
        else
            rc = expand(a, item);
    }
    if (rc == 0)
        a->searched = cid;
    return rc;
}

/* The sum over all paths of a CID with this cell. 0 or -ENOMEM. */
static int sum_up(struct automaton *a, struct lattice_state state, const struct lattice_cell *cell,
                  struct scaled *out)
{
    const struct lattice_way *ways;
    struct scaled_sum sum = {0, 0};
    int64_t count = lattice_ways(a->lattice, state, &ways);
    for (int64_t i = 0; i < count; i++)
        scaled_add(&sum, ways[i].value.sum, ways[i].probability);
    *out = cell->kind == LATTICE_EXACT ? cell->value.sum : scaled_total(sum);
    return count < 0 ? -ENOMEM : 0;
}

/* Forgets the answers when there are too many. false: out of memory. */
static bool make_room(struct automaton *a)
{
    size_t used = a->answer_count * (sizeof *a->answers + 4 * sizeof(uint64_t)) +
                  a->probability_count * sizeof *a->probabilities;
    if (used > a->options.bytes / OF_ANSWERS / 2) {
        table_free(a->index);
        a->index = table_new();
        a->answer_count = a->probability_count = 0;
    }
    return a->index && vec_reserve(a->answers, a->answer_count, a->answer_room, 1) &&
           vec_reserve(a->probabilities, a->probability_count, a->probability_room, a->options.best);
}

/* Remembers the search's answer; sum: over all paths; cell: NULL, there are none. */
static int remember(struct automaton *a, uint64_t cid, const struct lattice_cell *cell, struct scaled sum)
{
    double paths = cell ? cell->paths : 0;
    if (!make_room(a))
        return -ENOMEM;
    uint64_t *place = table_put(a->index, cid, NULL);
    if (!place)
        return -ENOMEM;
    struct answer *answer = &a->answers[a->answer_count];
    *answer = (struct answer){.paths = paths, .first = a->probability_count};
    answer->chance = scaled_ratio(sum, scaled_of(1, 0));
    for (; paths > 0 && answer->count < a->best_count; answer->count++) {
        double p = scaled_ratio(a->items[a->best[answer->count]].so_far, sum);
        a->probabilities[a->probability_count++] = p < 1 ? p : 1;
    }
    *place = a->answer_count++;
    return 0;
}

/* Finds a CID that is not remembered. */
static int find_new(struct automaton *a, uint64_t cid)
{
    struct lattice_state state = {(uint32_t)(cid >> 32), CALLERS_LEAF, (uint32_t)cid / CALLERS_UNIT};
    struct lattice_cell cell;
    struct scaled sum = {0, 0};
    int rc = (uint32_t)cid % CALLERS_UNIT ? -ENOENT : choose_lattice(a, &state, &cell);
    if (rc == -ENOENT)
        return remember(a, cid, NULL, sum);
    if (rc == 0)
        rc = sum_up(a, state, &cell, &sum);
    if (rc == 0)
        rc = search(a, cid);
    return rc == 0 ? remember(a, cid, &cell, sum) : rc;
}

int automaton_find(struct automaton *a, uint32_t function, uint32_t height, struct automaton_answer *out)
{
    uint64_t cid = (uint64_t)function << 32 | height;
    const uint64_t *place = a->index ? table_find(a->index, cid) : NULL;
    if (!place) {
        int rc = find_new(a, cid);
        if (rc < 0)
            return rc;
        place = table_find(a->index, cid);
    }
    const struct answer *answer = &a->answers[*place];
    if (answer->paths <= 0)
        return -ENOENT;
    out->paths = answer->paths;
    out->best = answer->count;
    out->chance = answer->chance;
    memcpy(out->probability, a->probabilities + answer->first, answer->count * sizeof *out->probability);
    return 0;
}

/* Where the steps of a path go: from the root inwards, but the outermost that there is no room for. */
struct path {
    struct automaton_step *steps;
    size_t left_out, at;
};

static void put_step(struct path *path, struct automaton_step step)
{
    if (path->at >= path->left_out)
        path->steps[path->at - path->left_out] = step;
    path->at++;
}

static size_t node_depth(const struct pathmap *map, uint32_t node)
{
    size_t depth = 0;
    for (; node != PATHMAP_NONE; node = pathmap_node(map, node).parent)
        depth++;
    return depth;
}

/* The map's node and its ancestors. */
static void put_nodes(struct path *path, const struct pathmap *map, uint32_t node)
{
    size_t depth = node_depth(map, node);
    for (size_t i = depth; i-- > 0;) {
        struct pathmap_node n = pathmap_node(map, node);
        size_t at = path->at + i;
        if (at >= path->left_out)
            path->steps[at - path->left_out] = (struct automaton_step){n.function, n.height, n.site, false};
        node = n.parent;
    }
    path->at += depth;
}

/* Whether the item is one of the path's functions, and not also the map's node that completes it. */
static bool is_step(const struct automaton *a, const struct item *item, const struct item *last)
{
    return item->exact == PATHMAP_NONE && item->state.node < a->callers.functions &&
           !(last->exact != PATHMAP_NONE && item == &a->items[last->inner]);
}

/* The path that the item completes. */
static void put_path(const struct automaton *a, const struct item *last, struct path *path)
{
    uint32_t edge = NONE;
    if (last->exact != PATHMAP_NONE)
        put_nodes(path, graph_map(a->graph), last->exact);
    for (const struct item *item = last;; item = &a->items[item->inner]) {
        const struct graph_edge *by = edge == NONE ? NULL : graph_edge_at(a->graph, edge);
        if (is_step(a, item, last))
            put_step(path, (struct automaton_step){item->state.node, item->state.unit * CALLERS_UNIT,
                                                   by ? by->site : 0, by && by->open});
        if (item->edge != NONE)
            edge = item->edge;
        if (item->inner == NONE)
            break;
    }
}

static size_t path_depth(const struct automaton *a, const struct item *last)
{
    size_t depth = last->exact == PATHMAP_NONE ? 0 : node_depth(graph_map(a->graph), last->exact);
    for (const struct item *item = last;; item = &a->items[item->inner]) {
        depth += is_step(a, item, last);
        if (item->inner == NONE)
            return depth;
    }
}

size_t automaton_path(struct automaton *a, uint32_t function, uint32_t height, uint32_t rank,
                      struct automaton_step *steps, size_t max)
{
    uint64_t cid = (uint64_t)function << 32 | height;
    struct automaton_answer answer;
    if (automaton_find(a, function, height, &answer) < 0 || rank >= answer.best)
        return 0;
    if (a->searched != cid && search(a, cid) < 0)
        return 0;
    const struct item *last = &a->items[a->best[rank]];
    size_t depth = path_depth(a, last);
    put_path(a, last, &(struct path){steps, depth > max ? depth - max : 0, 0});
    return depth;
}

int automaton_prepare(struct automaton *a, uint32_t height)
{
    int plain = lattice_extend(a->lattices[0], height / CALLERS_UNIT);
    int all = plain == -ENOMEM ? 0 : lattice_extend(a->lattices[1], height / CALLERS_UNIT);
    return plain < 0 ? plain : all;
}

size_t automaton_states(const struct automaton *a)
{
    return lattice_cells(a->lattices[0]) + lattice_cells(a->lattices[1]);
}

size_t automaton_bytes(const struct automaton *a)
{
    return lattice_bytes(a->lattices[0]) + lattice_bytes(a->lattices[1]) +
           a->answer_room * sizeof *a->answers + a->probability_room * sizeof *a->probabilities +
           a->item_room * sizeof *a->items;
}

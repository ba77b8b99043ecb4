/* extend.c - see extend.h. */
#include "infer/extend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/automaton.h"
#include "infer/graph_statics.h"
#include "infer/novelty.h"
#include "infer/numbering.h"

#define MAX_DEPTH 65536
#define BEST      32u  /* paths asked for each CID */
#define LIKELY    0.5  /* samples of this run or of training in a context that calls are expected from */
#define LEAST     0.01 /* a path is not entered that is less probable than this much of the best one */

/* Where hardly any walk outwards from a CID's function would come out at its height, and not for the number
 * of calls on the way, it is rather that the height is not known (below a signal's frame, say) than that this
 * run went there. CIDs of real paths have 1e-4 and more, even where most calls were never seen; but for those
 * of a run of which nothing was learned, and deep recursions. */
#define FAR_FETCHED 1e-6
#define EACH_CALL   0.5

/* What one call of extend_paths() works with. */
struct extending {
    struct trie *trie;
    const struct pathmap *map;
    const struct graph_weights *weights; /* NULL: the world is closed */
    struct graph *graph;
    struct automaton *automaton;
    struct novelty *novelty;
    struct numbering functions;
    struct automaton_step *steps;
    struct extension *out;
};

static int note_path(struct extension *out, uint32_t node, double share)
{
    if (out->count == out->room) {
        size_t room = out->room ? out->room * 2 : 1024;
        struct expected_path *paths = realloc(out->paths, room * sizeof *paths);
        if (!paths)
            return -ENOMEM;
        out->paths = paths;
        out->room = room;
    }
    out->paths[out->count++] = (struct expected_path){node, share};
    return 0;
}

/* Enters the path in x->steps; -ENOMEM. *open: set when it goes through a frame of open size. */
static int enter(struct extending *x, size_t depth, double share, bool *open)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < depth; i++) {
        *open |= x->steps[i].open;
        node = trie_child(x->trie, node, x->functions.to_trie[x->steps[i].function], x->steps[i].height,
                          x->steps[i].site);
        if (node == TRIE_NONE)
            return -ENOMEM;
    }
    return note_path(x->out, node, share);
}

/* The rank-th path of a CID into x->steps; its depth, 0 when it is too deep for them. */
static size_t path_of(struct extending *x, const struct wanted *w, uint32_t rank)
{
    size_t depth =
        automaton_path(x->automaton, x->functions.to_map[w->function], w->height, rank, x->steps, MAX_DEPTH);
    return depth <= MAX_DEPTH ? depth : 0;
}

static bool is_far_fetched(struct extending *x, const struct wanted *w, const struct automaton_answer *answer)
{
    return answer->chance < FAR_FETCHED && pathmap_node_count(x->map) &&
           answer->chance < pow(EACH_CALL, (double)path_of(x, w, 0));
}

/* Enters the most probable paths of the CID that was found last. */
static int enter_paths(struct extending *x, const struct wanted *w, const struct automaton_answer *answer)
{
    double share[AUTOMATON_BEST_MAX], most = 0;
    for (uint32_t r = 0; r < answer->best; r++) {
        size_t depth = path_of(x, w, r);
        share[r] = depth ? answer->probability[r] : 0;
        if (depth && x->novelty)
            share[r] *= novelty_of(x->novelty, x->steps, depth);
        most = share[r] > most ? share[r] : most;
    }
    int rc = 0;
    bool open = false;
    for (uint32_t r = 0; rc == 0 && r < answer->best; r++) {
        if (share[r] > 0 && share[r] >= LEAST * most)
            rc = enter(x, path_of(x, w, r), share[r], &open);
    }
    x->out->summary.open += open;
    return rc;
}

/* The path of a map's node, and from it the call of the CID's function. */
static int graft(struct extending *x, const struct wanted *w, uint32_t node, uint64_t site)
{
    size_t depth = 0;
    for (uint32_t at = node; at != PATHMAP_NONE; at = pathmap_node(x->map, at).parent)
        depth++;
    if (depth >= MAX_DEPTH)
        return 0;
    x->steps[depth] = (struct automaton_step){x->functions.to_map[w->function], w->height, site, false};
    for (size_t i = depth; i-- > 0;) {
        struct pathmap_node n = pathmap_node(x->map, node);
        x->steps[i] = (struct automaton_step){n.function, n.height, n.site, false};
        node = n.parent;
    }
    bool open = false;
    return enter(x, depth + 1, 0, &open);
}

/* Enters the calls of the CID's function from contexts that this run is likely to have: among the best paths
 * they can be crowded out, or be left out as calls through pointers are where direct ones lead outwards. */
static int graft_callers(struct extending *x, const struct wanted *w, struct graph_edges edges)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < edges.count; i++) {
        const struct graph_edge *e = &edges.edges[i];
        uint32_t first, count = 0;
        if (e->caller != GRAPH_ROOT && e->rise >= 8 && e->rise <= w->height)
            count = pathmap_find(x->map, e->caller, w->height - e->rise, &first);
        for (uint32_t n = 0; rc == 0 && n < count; n++)
            if (x->weights->passes[first + n] >= LIKELY)
                rc = graft(x, w, first + n, e->site);
    }
    return rc;
}

static int graft_all(struct extending *x, const struct wanted *w)
{
    uint32_t function = x->functions.to_map[w->function];
    if (!x->weights || function == PATHMAP_NONE)
        return 0;
    const uint32_t *classes;
    uint32_t count = graph_classes(x->graph, function, &classes);
    int rc = graft_callers(x, w, graph_callers(x->graph, function));
    if (rc == 0)
        rc = graft_callers(x, w, graph_static_callers(x->graph, function));
    for (uint32_t c = 0; rc == 0 && c < count; c++)
        rc = graft_callers(x, w, graph_class_callers(x->graph, classes[c]));
    return rc;
}

bool extend_is_open(const struct pathmap *map, uint32_t function, uint32_t height)
{
    uint32_t first;
    return !pathmap_image(map, pathmap_function(map, function).image).hooked ||
           pathmap_find(map, function, height, &first) == 0;
}

static int extend_one(struct extending *x, const struct wanted *w)
{
    struct automaton_answer answer;
    struct extend_summary *summary = &x->out->summary;
    uint32_t function = x->functions.to_map[w->function];
    if (!x->weights && function != PATHMAP_NONE && !extend_is_open(x->map, function, w->height))
        return 0;
    size_t before = x->out->count;
    int rc = function == PATHMAP_NONE ? -ENOENT : automaton_find(x->automaton, function, w->height, &answer);
    if (rc == 0 && is_far_fetched(x, w, &answer))
        rc = -ENOENT;
    if (rc == -ENOMEM || graft_all(x, w) < 0)
        return -ENOMEM;
    bool grafted = x->out->count > before;
    summary->found += rc == 0 || grafted;
    summary->impossible += rc == -ENOENT && !grafted;
    summary->too_high += rc == -ENOSPC && !grafted;
    return rc < 0 ? 0 : enter_paths(x, w, &answer);
}

static int heavier_first(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->height < y->height ? -1 : x->height > y->height;
}

static bool prepare(struct extending *x, const struct statics *statics)
{
    struct automaton_options options = {.best = BEST};
    struct graph_calls calls = {0};
    x->steps = malloc(MAX_DEPTH * sizeof *x->steps);
    x->novelty = x->weights ? NULL : novelty_new(x->map);
    if (x->steps && (x->novelty || x->weights) && numbering_make(&x->functions, x->trie, x->map) &&
        graph_calls_of(x->map, statics, x->functions.to_map, &calls) == 0)
        x->graph = graph_new_open(x->map, &calls, x->weights);
    graph_calls_free(&calls);
    x->automaton = x->graph ? automaton_new(x->graph, &options) : NULL;
    return x->automaton;
}

int extend_paths(struct trie *trie, const struct pathmap *map, const struct graph_weights *weights,
                 const struct statics *statics, struct wanted *wanted, size_t count, struct extension *out,
                 struct fathom_error *err)
{
    struct extending x = {.trie = trie, .map = map, .weights = weights, .out = out};
    *out = (struct extension){0};
    int rc = prepare(&x, statics) ? 0 : -ENOMEM;
    qsort(wanted, count, sizeof *wanted,
          heavier_first); /* as equal paths rank in the order in which they were entered */
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = extend_one(&x, &wanted[i]);
    if (x.automaton)
        out->summary.states = automaton_states(x.automaton);
    automaton_free(x.automaton);
    graph_free(x.graph);
    novelty_free(x.novelty);
    numbering_clear(&x.functions);
    free(x.steps);
    if (rc < 0)
        free(out->paths);
    return rc < 0 ? error_memory(err) : 0;
}

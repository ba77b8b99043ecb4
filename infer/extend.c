/* extend.c - see extend.h. */
#include "infer/extend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/automaton.h"
#include "infer/graph_statics.h"

#define MAX_DEPTH 65536
#define WEIGHT    8.0  /* counts for one sample: so that shares of it still count */
#define LEAST     0.01 /* a path less probable than this is not entered */

/* What one call of extend_paths() works with. */
struct extension {
    struct trie *trie;
    const struct pathmap *map;
    struct automaton *automaton;
    uint32_t *to_trie; /* function's number there by the map's, and back */
    uint32_t *to_map;
    struct automaton_step *steps;
};

/* The numbers of all functions in the trie and in its map. */
static bool number_functions(struct extension *x)
{
    uint32_t in_map = pathmap_function_count(x->map), in_trie = trie_function_count(x->trie);
    x->to_trie = malloc(((size_t)in_map + 1) * sizeof *x->to_trie);
    x->to_map = malloc(((size_t)in_trie + 1) * sizeof *x->to_map);
    if (!x->to_trie || !x->to_map)
        return false;
    for (uint32_t i = 0; i < in_trie; i++)
        x->to_map[i] = PATHMAP_NONE;
    for (uint32_t i = 0; i < in_map; i++) {
        struct pathmap_function f = pathmap_function(x->map, i);
        struct pathmap_image image = pathmap_image(x->map, f.image);
        uint32_t number = trie_image(x->trie, image.path, &image.build_id);
        number = number == TRIE_NONE ? TRIE_NONE : trie_function(x->trie, number, f.address, f.name);
        if (number == TRIE_NONE)
            return false;
        x->to_trie[i] = number;
        if (number < in_trie)
            x->to_map[number] = i;
    }
    return true;
}

/* Enters the rank-th path of a CID; -ENOMEM. A path too deep for the scratch is left out. *open: set when it
 * goes through a frame of open size. */
static int enter(struct extension *x, const struct unseen *u, uint32_t rank, uint64_t self, bool *open)
{
    size_t depth = automaton_path(x->automaton, x->to_map[u->function], u->height, rank, x->steps, MAX_DEPTH);
    if (depth > MAX_DEPTH)
        return 0;
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < depth; i++) {
        *open |= x->steps[i].open;
        node =
            trie_child(x->trie, node, x->to_trie[x->steps[i].function], x->steps[i].height, x->steps[i].site);
        if (node == TRIE_NONE)
            return -ENOMEM;
    }
    trie_add(x->trie, node, 0, self);
    return 0;
}

static int extend_one(struct extension *x, struct unseen *u, struct extend_summary *summary)
{
    struct automaton_answer answer;
    bool open = false;
    uint32_t function = x->to_map[u->function];
    int rc = function == PATHMAP_NONE ? -ENOENT : automaton_find(x->automaton, function, u->height, &answer);
    if (rc == -ENOENT)
        summary->impossible++;
    if (rc == -ENOSPC)
        summary->too_many++;
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    for (uint32_t r = 0; rc == 0 && r < answer.best; r++) {
        if (r == 0 || answer.probability[r] >= LEAST)
            rc = enter(x, u, r, (uint64_t)ceil(answer.probability[r] * (double)u->samples * WEIGHT), &open);
    }
    u->found = true;
    summary->found++;
    summary->open += open;
    summary->reduced += answer.order != AUTOMATON_SECOND_ORDER;
    return rc;
}

static int heavier_first(const void *a, const void *b)
{
    const struct unseen *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->height < y->height ? -1 : x->height > y->height;
}

int extend_paths(struct trie *trie, const struct pathmap *map, const struct statics *statics,
                 struct unseen *unseen, size_t count, struct extend_summary *summary,
                 struct fathom_error *err)
{
    struct extension x = {.trie = trie, .map = map, .steps = malloc(MAX_DEPTH * sizeof *x.steps)};
    struct graph_calls calls = {0};
    struct graph *graph = NULL;
    if (x.steps && number_functions(&x) && graph_calls_of(map, statics, x.to_map, &calls) == 0)
        graph = graph_new(map, &calls);
    graph_calls_free(&calls);
    if (graph)
        x.automaton = automaton_new(graph, NULL);
    int rc = x.automaton ? 0 : -ENOMEM;
    *summary = (struct extend_summary){0};
    qsort(unseen, count, sizeof *unseen, heavier_first); /* while states last */
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = extend_one(&x, &unseen[i], summary);
    if (x.automaton)
        summary->states = automaton_states(x.automaton);
    automaton_free(x.automaton);
    graph_free(graph);
    free(x.to_trie);
    free(x.to_map);
    free(x.steps);
    return rc < 0 ? error_memory(err) : 0;
}

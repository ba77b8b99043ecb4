/* extend.c - see extend.h. */
#include "infer/extend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/automaton.h"

#define MAX_DEPTH 65536
#define WEIGHT    8.0  /* counts for one sample: so that shares of it still count */
#define LEAST     0.01 /* a path less probable than this is not entered */

/* What one call of extend_paths() works with. */
struct extension {
    struct trie *trie;
    const struct pathmap *map;
    struct automaton *automaton;
    uint32_t *functions; /* trie's number by the map's; TRIE_NONE before it was asked for */
    struct automaton_step *steps;
};

static uint32_t trie_number(struct extension *x, uint32_t function)
{
    if (x->functions[function] == TRIE_NONE) {
        struct pathmap_function f = pathmap_function(x->map, function);
        struct pathmap_image i = pathmap_image(x->map, f.image);
        uint32_t image = trie_image(x->trie, i.path, &i.build_id);
        if (image != TRIE_NONE)
            x->functions[function] = trie_function(x->trie, image, f.address, f.name);
    }
    return x->functions[function];
}

/* Enters the rank-th path of a CID; -ENOMEM. A path too deep for the scratch is left out. */
static int enter(struct extension *x, const struct unseen *u, uint32_t rank, uint64_t self)
{
    size_t depth = automaton_path(x->automaton, u->function, u->height, rank, x->steps, MAX_DEPTH);
    if (depth > MAX_DEPTH)
        return 0;
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < depth; i++) {
        uint32_t function = trie_number(x, x->steps[i].function);
        if (function == TRIE_NONE)
            return -ENOMEM;
        node = trie_child(x->trie, node, function, x->steps[i].height, x->steps[i].site);
        if (node == TRIE_NONE)
            return -ENOMEM;
    }
    trie_add(x->trie, node, 0, self);
    return 0;
}

static int extend_one(struct extension *x, struct unseen *u, struct extend_summary *summary)
{
    struct automaton_answer answer;
    int rc = automaton_find(x->automaton, u->function, u->height, &answer);
    if (rc == -ENOENT)
        summary->impossible++;
    if (rc == -ENOSPC)
        summary->too_many++;
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    for (uint32_t r = 0; rc == 0 && r < answer.best; r++) {
        if (r == 0 || answer.probability[r] >= LEAST)
            rc = enter(x, u, r, (uint64_t)ceil(answer.probability[r] * (double)u->samples * WEIGHT));
    }
    u->found = true;
    summary->found++;
    return rc;
}

int extend_paths(struct trie *trie, const struct pathmap *map, struct unseen *unseen, size_t count,
                 struct extend_summary *summary, struct fathom_error *err)
{
    uint32_t functions = pathmap_function_count(map);
    struct graph *graph = graph_new(map);
    struct extension x = {
        .trie = trie,
        .map = map,
        .automaton = graph ? automaton_new(graph) : NULL,
        .functions = malloc(((size_t)functions + 1) * sizeof *x.functions),
        .steps = malloc(MAX_DEPTH * sizeof *x.steps),
    };
    int rc = x.automaton && x.functions && x.steps ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < functions; i++)
        x.functions[i] = TRIE_NONE;
    *summary = (struct extend_summary){0};
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = extend_one(&x, &unseen[i], summary);
    if (x.automaton)
        summary->states = automaton_states(x.automaton);
    automaton_free(x.automaton);
    graph_free(graph);
    free(x.functions);
    free(x.steps);
    return rc < 0 ? error_memory(err) : 0;
}

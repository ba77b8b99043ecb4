/* novelty.c - see novelty.h. */
#include "infer/model/novelty.h"

#include <stdlib.h>

#include "base/hash.h"

#define SIGHTS 1e4 /* more of a context tell no more of another input */

/* What training saw of a function path. */
struct sight {
    double passes;
    uint32_t children; /* functions below it */
};

struct novelty {
    const struct pathmap *map; /* borrowed */
    struct sight *sights;      /* by function path's number; the last is the root's */
    struct table *child;       /* outer path << 32 | function -> path + 1 */
    uint32_t paths;
};

static bool count_sights(struct novelty *n)
{
    uint32_t nodes = pathmap_node_count(n->map);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node node = pathmap_node(n->map, i);
        if (!node.passes)
            continue;
        uint32_t outer = node.parent == PATHMAP_NONE ? n->paths : pathmap_node(n->map, node.parent).path;
        bool added;
        uint64_t *child = table_put(n->child, (uint64_t)outer << 32 | node.function, &added);
        if (!child)
            return false;
        if (added) {
            *child = node.path + 1;
            n->sights[outer].children++;
        }
        n->sights[node.path].passes += (double)node.passes;
        if (outer == n->paths)
            n->sights[outer].passes += (double)node.passes;
    }
    return true;
}

struct novelty *novelty_new(const struct pathmap *map)
{
    struct novelty *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->map = map;
    n->paths = pathmap_path_count(map);
    n->sights = calloc((size_t)n->paths + 1, sizeof *n->sights);
    n->child = table_new();
    if (!n->sights || !n->child || !count_sights(n)) {
        novelty_free(n);
        n = NULL;
    }
    return n;
}

void novelty_free(struct novelty *n)
{
    if (!n)
        return;
    table_free(n->child);
    free(n->sights);
    free(n);
}

static bool is_hooked(const struct novelty *n, uint32_t function)
{
    return pathmap_image(n->map, pathmap_function(n->map, function).image).hooked;
}

double novelty_of(struct novelty *n, const struct automaton_step *steps, size_t depth)
{
    uint32_t path = n->paths;
    for (size_t i = 0; i < depth; i++) {
        const uint64_t *child = table_find(n->child, (uint64_t)path << 32 | steps[i].function);
        if (!child) {
            if (i > 0 && is_hooked(n, steps[i - 1].function) && !is_hooked(n, steps[i].function))
                return 1;
            const struct sight *s = &n->sights[path];
            double passes = s->passes < SIGHTS ? s->passes : SIGHTS;
            return s->children ? s->children / (passes + s->children) : 1;
        }
        path = (uint32_t)*child - 1;
    }
    return 1;
}

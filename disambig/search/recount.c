/* recount.c - see recount.h. */
#include "disambig/search/recount.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "base/sort.h"

struct place {
    uint64_t height;
    uint32_t path;
    uint32_t node;
};

static int by_height(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return order_of(x->height, y->height) ?: order_of(x->path, y->path);
}

void recount_heights(const struct pathmap *map, const struct lineage_order *order, const uint32_t *pads,
                     const bool *unshifted, const uint32_t *wraps, uint64_t *heights)
{
    for (uint32_t i = 0; i < order->count; i++) {
        uint32_t node = order->nodes[i];
        struct pathmap_node at = pathmap_node(map, node);
        heights[node] = at.height;
        if (at.parent == PATHMAP_NONE)
            continue;
        struct pathmap_node parent = pathmap_node(map, at.parent);
        heights[node] = heights[at.parent] + (at.height - parent.height);
        if (pads && !(unshifted && unshifted[node]))
            heights[node] += pads[parent.function];
        if (pads && wraps && wraps[node] != PATHMAP_NONE)
            heights[node] += pads[wraps[node]];
    }
}

/* Counts the nodes of one function, which are sorted. */
static void count_function(const struct pathmap *map, bool sampled, const struct place *places,
                           uint32_t count, struct recount *out)
{
    for (uint32_t i = 0; i < count;) {
        uint64_t height = places[i].height, weight = 0;
        uint32_t paths = 0;
        for (uint32_t first = i; i < count && places[i].height == height; i++) {
            struct pathmap_node at = pathmap_node(map, places[i].node);
            weight = add_saturating(weight, sampled ? at.self : at.passes);
            paths += i == first || places[i].path != places[i - 1].path;
        }
        out->weight = add_saturating(out->weight, weight);
        out->paths += paths;
        if (paths == 1) {
            out->precise_weight = add_saturating(out->precise_weight, weight);
            out->precise_paths++;
        }
    }
}

static void count_all(const struct pathmap *map, const uint64_t *heights, struct place *places,
                      uint32_t *ends, struct recount *out)
{
    uint32_t nodes = pathmap_node_count(map), functions = pathmap_function_count(map);
    bool sampled = pathmap_sampled(map);
    for (uint32_t i = 0; i < nodes; i++)
        ends[pathmap_node(map, i).function + 1]++;
    for (uint32_t f = 0; f < functions; f++)
        ends[f + 1] += ends[f];
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node at = pathmap_node(map, i);
        places[ends[at.function]++] = (struct place){heights[i], at.path, i};
        out->deepest = heights[i] > out->deepest ? heights[i] : out->deepest;
    }
    for (uint32_t f = 0, from = 0; f < functions; from = ends[f++]) {
        qsort(places + from, ends[f] - from, sizeof *places, by_height);
        count_function(map, sampled, places + from, ends[f] - from, out);
    }
}

int recount_map(const struct pathmap *map, const struct lineage_order *order, const uint32_t *pads,
                const bool *unshifted, const uint32_t *wraps, struct recount *out, struct fathom_error *err)
{
    size_t nodes = order->count + 1ul;
    uint64_t *heights = malloc(nodes * sizeof *heights);
    struct place *places = malloc(nodes * sizeof *places);
    uint32_t *ends = calloc(pathmap_function_count(map) + 1ul, sizeof *ends);
    int rc = heights && places && ends ? 0 : error_memory(err);
    *out = (struct recount){0};
    if (rc == 0) {
        recount_heights(map, order, pads, unshifted, wraps, heights);
        count_all(map, heights, places, ends, out);
    }
    free(heights);
    free(places);
    free(ends);
    return rc;
}

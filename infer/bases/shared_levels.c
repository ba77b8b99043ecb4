/* shared_levels.c - see shared_levels.h. */
#include "infer/bases/shared_levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/sort.h"
#include "infer/samples/locate.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

struct shared_levels {
    const struct pathmap *map;  /* borrowed */
    struct image_cache *images; /* borrowed */
    struct table *roots;        /* nodes that begin a stack that belongs to no thread */
    struct table *levels;       /* function -> struct levels * */
};

/* Whether this node, at height 0, begins a stack that belongs to no thread. */
static bool is_root(const struct shared_levels *l, const struct pathmap_node *node)
{
    struct image *image;
    uint32_t index;
    uint64_t thread_return;
    if (node->parent != PATHMAP_NONE || node->height != 0 || node->function == PATHMAP_NONE)
        return false;
    return !locate_function(l->images, l->map, node->function, &image, &index) ||
           !image_thread_return(image, &thread_return) || thread_return != node->site;
}

static bool find_roots(struct shared_levels *l)
{
    for (uint32_t i = 0; i < pathmap_node_count(l->map); i++) {
        struct pathmap_node node = pathmap_node(l->map, i);
        if (is_root(l, &node) && !table_put(l->roots, i, NULL))
            return false;
    }
    const uint32_t signal = partial_find(l->map, PARTIAL_SIGNAL);
    return signal == PATHMAP_NONE || table_put(l->roots, signal, NULL);
}

struct shared_levels *shared_levels_new(const struct pathmap *map, struct image_cache *images)
{
    struct shared_levels *l = allocate(struct shared_levels, .map = map, .images = images,
                                       .roots = table_new(), .levels = table_new());
    return whole_or_free(l, l->roots && l->levels && find_roots(l), shared_levels_free);
}

void shared_levels_free(struct shared_levels *l)
{
    if (!l)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (l->levels && table_next(l->levels, &cursor, &key, &value))
        free((struct levels *)(uintptr_t)value);
    table_free(l->roots);
    table_free(l->levels);
    free(l);
}

static int compare_levels(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    return order_of(y->passes, x->passes) ?: order_of(x->height, y->height);
}

static bool begins_shared(const struct shared_levels *l, uint32_t node)
{
    for (;;) {
        uint32_t parent = pathmap_node(l->map, node).parent;
        if (parent == PATHMAP_NONE)
            return table_find(l->roots, node) != NULL;
        node = parent;
    }
}

/* NULL: out of memory. */
static struct levels *levels_new(const struct shared_levels *l, uint32_t function)
{
    uint32_t first, nodes = pathmap_function_nodes(l->map, function, &first), count = 0;
    struct level *all = malloc((nodes + 1) * sizeof *all);
    if (!all)
        return NULL;
    for (uint32_t i = first; i < first + nodes; i++) { /* in order of height */
        if (!begins_shared(l, i))
            continue;
        struct pathmap_node node = pathmap_node(l->map, i);
        if (!count || all[count - 1].height != node.height)
            all[count++] = (struct level){node.height, 0};
        all[count - 1].passes += node.passes;
    }
    qsort(all, count, sizeof *all, compare_levels);
    if (count > SHARED_LEVELS)
        count = SHARED_LEVELS;
    struct levels *levels = malloc(sizeof *levels + count * sizeof levels->of[0]);
    if (levels) {
        levels->count = count;
        memcpy(levels->of, all, count * sizeof levels->of[0]);
    }
    free(all);
    return levels;
}

const struct levels *shared_levels_of(struct shared_levels *l, uint32_t function)
{
    uint64_t *place = table_put(l->levels, function, NULL);
    if (place && !*place)
        *place = (uintptr_t)levels_new(l, function);
    return place ? (const struct levels *)(uintptr_t)*place : NULL;
}

bool levels_find(const struct levels *levels, uint64_t height, double *passes)
{
    uint32_t i = 0;
    while (i < levels->count && levels->of[i].height != height)
        i++;
    *passes = i < levels->count ? (double)levels->of[i].passes : 0;
    return i < levels->count;
}

/* index.c - a growing path map and the node order its look-ups need; see pathmap.h. */
#include <errno.h>
#include <stdlib.h>

#include "pathmap/map/map_data.h"

static void use_arrays(struct pathmap *map, struct order *order, uint8_t *memory)
{
    uint64_t entries = order_index_entries(order);
    struct fmap_node *nodes = (void *)memory;
    struct fmap_cid *index = (void *)(nodes + order->nodes);
    uint32_t *paths = (void *)(index + entries);
    order_write(order, nodes, paths, index);
    order_written(order);
    free(map->memory);
    order_clear(&map->order);
    map->memory = memory;
    map->order = *order;
    map->nodes = nodes;
    map->index = index;
    map->index_entries = (uint32_t)entries;
    map->paths = paths;
    map->function_nodes = order->first_node;
    map->pcs = order->pcs;
    map->pc_count = (uint32_t)order->pc_count;
    map->node_count = order->nodes;
    map->path_count = order->paths;
}

/* Functions without nodes are new, so they have the highest numbers. */
static bool see_functions(struct pathmap *map)
{
    uint32_t count = map->trie->function_count;
    uint32_t *first = realloc(map->order.first_node, (count + 2ul) * sizeof *first);
    if (!first)
        return false;
    for (uint32_t f = map->function_count; f < count; f++)
        first[f + 1] = first[f];
    map->order.first_node = first;
    map->function_nodes = first;
    return true;
}

int pathmap_update(struct pathmap *map, struct fathom_error *err)
{
    bool grown = !map->memory || map->node_count != map->trie->node_count - 1;
    if (!grown && !see_functions(map))
        return error_memory(err);
    if (grown) {
        struct order order;
        bool good = order_make(&order, map->trie, NULL);
        if (good && order_index_entries(&order) >= FMAP_NONE) {
            order_clear(&order);
            return error_set(err, EFBIG, "a path map of %llu contexts is too large",
                             (unsigned long long)order.cids);
        }
        uint8_t *memory = good ? calloc(1, order.nodes * (sizeof(struct fmap_node) + sizeof(uint32_t)) +
                                               order_index_entries(&order) * sizeof(struct fmap_cid))
                               : NULL;
        if (!memory) {
            order_clear(&order);
            return error_memory(err);
        }
        use_arrays(map, &order, memory);
    }
    map->function_count = map->trie->function_count;
    map->statistics = map->trie->statistics;
    map->trials = map->trie->trials;
    return 0;
}

int pathmap_over(const struct trie *trie, struct pathmap **out, struct fathom_error *err)
{
    struct pathmap *map = calloc(1, sizeof *map);
    if (!map)
        return error_memory(err);
    map->trie = trie;
    int rc = pathmap_update(map, err);
    if (rc < 0)
        pathmap_close(map);
    else
        *out = map;
    return rc;
}

uint32_t pathmap_number(const struct pathmap *map, uint32_t node)
{
    return node <= map->node_count ? map->order.node_number[node] : PATHMAP_NONE;
}

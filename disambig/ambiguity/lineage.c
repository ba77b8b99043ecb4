/* lineage.c - see lineage.h. */
#include "disambig/ambiguity/lineage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Children as linked lists, in the order of their numbers. The last entry of `child` is the list of outermost
 * nodes. */
struct links {
    uint32_t *parent, *child, *sibling;
};

static int links_make(struct links *links, const struct pathmap *map, struct fathom_error *err)
{
    uint32_t nodes = pathmap_node_count(map);
    links->parent = malloc((nodes + 1ul) * sizeof *links->parent);
    links->child = malloc((nodes + 1ul) * sizeof *links->child);
    links->sibling = malloc((nodes + 1ul) * sizeof *links->sibling);
    if (!links->parent || !links->child || !links->sibling)
        return error_memory(err);
    memset(links->child, 0xff, (nodes + 1ul) * sizeof *links->child);
    for (uint32_t i = nodes; i-- > 0;) {
        if (!pathmap_node_sound(map, i))
            return error_set(err, EBADMSG, "the path map is damaged: context %u makes no sense", i);
        uint32_t parent = pathmap_node(map, i).parent;
        uint32_t list = parent == PATHMAP_NONE ? nodes : parent;
        links->parent[i] = parent;
        links->sibling[i] = links->child[list];
        links->child[list] = i;
    }
    return 0;
}

/* Heights grow from parent to child, so every node is in a list that begins with the outermost. */
static void order_fill(struct lineage_order *order, const struct links *links, uint32_t nodes)
{
    uint32_t node = links->child[nodes], depth = 0;
    while (node != PATHMAP_NONE) {
        order->nodes[order->count] = node;
        order->depths[order->count++] = depth;
        if (depth > order->deepest)
            order->deepest = depth;
        if (links->child[node] != PATHMAP_NONE) {
            node = links->child[node];
            depth++;
            continue;
        }
        while (node != PATHMAP_NONE && links->sibling[node] == PATHMAP_NONE) {
            node = links->parent[node];
            depth--;
        }
        if (node != PATHMAP_NONE)
            node = links->sibling[node];
    }
}

int lineage_order(const struct pathmap *map, struct lineage_order *out, struct fathom_error *err)
{
    uint32_t nodes = pathmap_node_count(map);
    struct lineage_order order = {.nodes = malloc((nodes + 1ul) * sizeof *order.nodes),
                                  .depths = malloc((nodes + 1ul) * sizeof *order.depths)};
    struct links links = {0};
    int rc = order.nodes && order.depths ? links_make(&links, map, err) : error_memory(err);
    if (rc == 0)
        order_fill(&order, &links, nodes);
    free(links.parent);
    free(links.child);
    free(links.sibling);
    if (rc < 0)
        lineage_order_clear(&order);
    else
        *out = order;
    return rc;
}

void lineage_order_clear(struct lineage_order *order)
{
    free(order->nodes);
    free(order->depths);
    *order = (struct lineage_order){0};
}

int lineage_start(struct lineage *walk, const struct pathmap *map, const struct lineage_order *order,
                  const struct lineage_movers *movers, struct fathom_error *err)
{
    size_t all = pathmap_function_count(map) + movers->wrap_count + 1ul, depths = order->deepest + 1ul;
    *walk = (struct lineage){.map = map, .order = order, .movers = *movers};
    walk->times = calloc(all, sizeof *walk->times);
    walk->held = malloc(all * sizeof *walk->held);
    walk->places = malloc(all * sizeof *walk->places);
    walk->chain = malloc(depths * sizeof *walk->chain);
    walk->counted = malloc(2 * depths * sizeof *walk->counted);
    if (walk->times && walk->held && walk->places && walk->chain && walk->counted)
        return 0;
    lineage_end(walk);
    return error_memory(err);
}

static void leave_mover(struct lineage *walk, uint32_t mover)
{
    if (mover == PATHMAP_NONE || --walk->times[mover])
        return;
    uint32_t place = walk->places[mover], last = walk->held[--walk->count];
    walk->held[place] = last;
    walk->places[last] = place;
}

static uint32_t enter_mover(struct lineage *walk, uint32_t mover)
{
    if (mover == PATHMAP_NONE || (walk->movers.most && !walk->movers.most[mover]))
        return PATHMAP_NONE;
    if (!walk->times[mover]++) {
        walk->places[mover] = walk->count;
        walk->held[walk->count++] = mover;
    }
    return mover;
}

bool lineage_next(struct lineage *walk)
{
    if (walk->next == walk->order->count)
        return false;
    uint32_t depth = walk->order->depths[walk->next], node = walk->order->nodes[walk->next];
    const struct lineage_movers *movers = &walk->movers;
    for (uint32_t d = walk->next ? 2 * (walk->depth + 1) : 0; d > 2 * depth; d--)
        leave_mover(walk, walk->counted[d - 1]);
    walk->at = pathmap_node(walk->map, node);
    walk->chain[depth] = walk->at.function;
    bool moves = depth && !(movers->unshifted && movers->unshifted[node]);
    walk->counted[2 * depth] = enter_mover(walk, moves ? walk->chain[depth - 1] : PATHMAP_NONE);
    walk->counted[2 * depth + 1] =
        enter_mover(walk, depth && movers->wraps ? movers->wraps[node] : PATHMAP_NONE);
    walk->node = node;
    walk->depth = depth;
    walk->next++;
    return true;
}

void lineage_end(struct lineage *walk)
{
    free(walk->times);
    free(walk->held);
    free(walk->places);
    free(walk->chain);
    free(walk->counted);
    *walk = (struct lineage){0};
}

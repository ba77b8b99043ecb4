/* worth.c - see worth.h. */
#include "disambig/search/worth.h"

struct worth worth_of_map(const struct pathmap *map)
{
    struct worth worth = {.nodes = pathmap_node_count(map)};
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        worth.samples += (double)node.self;
        worth.calls += (double)node.passes;
    }
    return worth;
}

int64_t worth_of_node(const struct worth *w, const struct pathmap_node *node, bool new_path)
{
    double value = new_path ? WORTH_SHARE_PATHS / w->nodes : 0;
    if (w->samples > 0 && node->self)
        value += WORTH_SHARE_WEIGHT * (double)node->self / w->samples;
    if (w->calls > 0 && node->passes)
        value += (w->samples > 0 ? WORTH_SHARE_CALLS : WORTH_SHARE_WEIGHT + WORTH_SHARE_CALLS) *
                 (double)node->passes / w->calls;
    return (int64_t)(value * (double)WORTH_ALL);
}

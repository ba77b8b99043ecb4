/* first_seen.c - see first_seen.h. */
#include "infer/model/first_seen.h"

#include <math.h>

#include "base/saturate.h"

struct first_seen first_seen_by(uint64_t observations, uint64_t once)
{
    struct first_seen seen = {.observations = observations, .once = once, .chance = 1, .most = 1};
    if (observations == 0)
        return seen;
    const double n = (double)observations;
    seen.chance = fmin((double)once / n, 1);
    seen.most = fmin(seen.chance + (1 + sqrt(2)) * sqrt(log(2 / FIRST_SEEN_DOUBT) / n), 1);
    return seen;
}

struct first_seen first_seen_of(const struct pathmap *map)
{
    const bool calls = !pathmap_sampled(map);
    const uint32_t count = pathmap_node_count(map);
    uint64_t all = 0, once = 0, of_cid = 0;
    struct pathmap_node last = {.function = PATHMAP_NONE};
    for (uint32_t i = 0; i < count; i++) {
        const struct pathmap_node node = pathmap_node(map, i);
        const uint64_t observed = calls ? node.passes : node.self;
        if (node.function != last.function ||
            node.height != last.height) { /* nodes of one CID are neighbours */
            once += of_cid == 1;
            of_cid = 0;
        }
        of_cid = add_saturating(of_cid, observed);
        all = add_saturating(all, observed);
        last = node;
    }
    struct first_seen seen = first_seen_by(all, once + (of_cid == 1));
    seen.calls = calls;
    return seen;
}

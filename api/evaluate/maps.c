/*
 * maps.c - compares a map with that of another run, without samples, as in the ICPP paper's tables (sections 8.4, 9.2 and 9.3).
 *
 * Every context of the truth map is looked up, weighted by its samples in training, or by calls if there are no samples.
 */
#include "api/evaluate/evaluating.h"

/* The number that a function of the truth map has in the map; PATHMAP_NONE if it has none. */
static uint32_t counterpart(const struct pathmap *map, const struct pathmap *truth_map, uint32_t function)
{
    struct pathmap_function f = pathmap_function(truth_map, function);
    struct pathmap_image in = pathmap_image(truth_map, f.image);
    uint32_t image = pathmap_find_image(map, in.path, &in.build_id, NULL);
    return image == PATHMAP_NONE ? PATHMAP_NONE : pathmap_find_function(map, image, f.address);
}

/* The two sides of the comparison. */
struct contest {
    const struct pathmap *truth_map;
    struct truth *truth;
    struct resolver *resolver;
    struct evaluation *evaluation;
    bool sampled; /* truth_map is */
};

static int compare_cid(struct contest *c, uint32_t function, uint32_t height, uint32_t counterpart,
                       double weight, struct fathom_error *err)
{
    struct true_shares truth;
    int rc = truth_of_cid(c->truth, function, height, &truth, err);
    if (rc < 0)
        return rc;
    struct resolved resolved = {.reason = UNKNOWN_CONTEXT, .kind = RESOLVED_UNKNOWN, .node = PATHMAP_NONE};
    if (counterpart != PATHMAP_NONE)
        rc = resolver_resolve_cid(c->resolver, counterpart, height, &resolved, err);
    struct judged_cid cid = {function, height, weight};
    return rc < 0 ? rc
                  : evaluation_count(c->evaluation, resolver_map(c->resolver), cid, &resolved, &truth, err);
}

/* In samples or, if training took none, in calls. */
static double node_weight(const struct contest *c, uint32_t index)
{
    struct pathmap_node node = pathmap_node(c->truth_map, index);
    return (double)(c->sampled ? node.self : node.passes);
}

/* Relies on a function's nodes being sorted by height. */
static int compare_function(struct contest *c, uint32_t function, struct fathom_error *err)
{
    uint32_t in_map = counterpart(resolver_map(c->resolver), c->truth_map, function);
    uint32_t first, count = pathmap_function_nodes(c->truth_map, function, &first);
    int rc = 0;
    for (uint32_t i = first, next; rc == 0 && i < first + count; i = next) {
        uint32_t height = pathmap_node(c->truth_map, i).height;
        double weight = 0;
        for (next = i; next < first + count && pathmap_node(c->truth_map, next).height == height; next++)
            weight += node_weight(c, next);
        rc = compare_cid(c, function, height, in_map, weight, err);
    }
    return rc;
}

static int compare_all(struct contest *c, struct fathom_error *err)
{
    int rc = c->truth && c->resolver && c->evaluation ? 0 : error_memory(err);
    for (uint32_t f = 0; rc == 0 && f < pathmap_function_count(c->truth_map); f++)
        rc = compare_function(c, f, err);
    return rc;
}

int evaluate_maps(struct fathom_evaluation *e, struct fathom_error *err)
{
    int rc = pathmap_open(e->options.map, &e->map, err);
    if (rc == 0)
        rc = pathmap_open(e->options.truth, &e->truth_map, err);
    if (rc < 0)
        return rc;
    e->truth = truth_new(e->truth_map);
    e->run.evaluation = e->truth ? evaluation_new(e->truth) : NULL;
    struct contest c = {.truth_map = e->truth_map,
                        .truth = e->truth,
                        .resolver = resolver_new(e->map, NULL),
                        .evaluation = e->run.evaluation,
                        .sampled = pathmap_sampled(e->truth_map)};
    e->result = (struct evaluate_result){.stages = {{.name = "exact"}}, .stage_count = 1, .maps = true};
    rc = compare_all(&c, err);
    if (rc == 0)
        rc = evaluation_score(c.evaluation, &e->result.stages[0].score, err);
    if (rc == 0)
        rc = evaluate_wrong(e, e->map, err);
    resolver_free(c.resolver);
    return rc;
}

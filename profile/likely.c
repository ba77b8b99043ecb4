/* likely.c - see likely.h. */
#include "profile/likely.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/agreement.h"
#include "profile/placing.h"

#define SURE_ENOUGH 0.5 /* AMBIGUOUS_LIKELY: frames below this probability are not shown */

/* A set of candidates that some sample had. */
struct known_set {
    struct agreement *agreement;
    uint32_t count; /* of candidates */
    /* By fork, in an exact tree of plain paths: the end of the common part; NULL until it is looked up. */
    struct cct_node *forks[];
};

void likely_sets_free(struct table *sets)
{
    size_t cursor = 0;
    uint64_t key, value;
    while (sets && table_next(sets, &cursor, &key, &value)) {
        struct known_set *set = (struct known_set *)(uintptr_t)value;
        if (set)
            agreement_free(set->agreement);
        free(set);
    }
    table_free(sets);
}

uint64_t likely_key(const struct candidate_path *paths, uint32_t count)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i++)
        key += hash_u64((uint64_t)paths[i].node + 1);
    return key;
}

static int find_set(struct profile *p, const struct adding *a, struct known_set **out, uint64_t *key,
                    struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    *key = likely_key(r->posterior, r->posterior_count);
    uint64_t *place = table_put(p->sets, *key, NULL);
    struct known_set *set = place ? (struct known_set *)(uintptr_t)*place : NULL;
    if (place && !set) {
        set = calloc(1, sizeof *set + r->posterior_count * sizeof set->forks[0]);
        *place = (uintptr_t)set;
        if (set)
            set->count = r->posterior_count;
        int rc = set ? agreement_new(a->map, r->posterior, r->posterior_count, &set->agreement, err) : 0;
        if (rc < 0)
            return rc;
    }
    *out = set;
    return set ? 0 : error_memory(err);
}

/* Adds the path as far as the candidates agree, then a frame with their number, and the sample's own function. */
static int add_beginning(struct profile *p, const struct adding *a, const struct agreed *agreed,
                         uint64_t set_number, struct cct_node **node, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    /* If they agree in nothing, all candidates count, also those that were dropped. */
    uint32_t paths = agreed->depth == 0 && r->paths > agreed->paths ? r->paths : agreed->paths;
    uint64_t what = hash_u64(set_number + ((uint64_t)agreed->depth << 32 | paths)) + agreed->fork;
    uint64_t *place = placing_plain(p, a) ? table_put(p->others, what, NULL) : NULL;
    int known = placing_known(p, a, place, node, err);
    if (known)
        return known < 0 ? known : 0;
    char text[32] = "[unsure]";
    if (paths > 1)
        snprintf(text, sizeof text, "[one of %u paths]", paths);
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_node(p->framing, agreed->node, agreed->depth, framing_sites(r), err);
    if (rc == 0)
        rc = framing_unsure(p->framing, text, err);
    if (rc == 0)
        rc = framing_leaf(p->framing, r->node, err);
    return rc < 0 ? rc : placing_framed(p, a, place, node, err);
}

static bool is_of(const struct profile *p, const struct cct_node *node, enum frame_kind kind)
{
    return frames_at(framing_frames(p->framing), node->item)->kind == kind;
}

static bool is_function(const struct profile *p, const struct cct_node *node)
{
    return is_of(p, node, FRAME_FUNCTION);
}

/* Levels are certain, whatever the path below them is. */
static int relieve_levels(struct profile *p, double doubt, struct cct_node *node)
{
    while (cct_parent(node) && !is_of(p, node, FRAME_LEVEL))
        node = cct_parent(node);
    return cct_parent(node) ? doubts_add(p->doubts, node, (struct doubt){.relief = doubt}) : 0;
}

/* The node above this one at which the step's functions end. */
static struct cct_node *fork_above(struct profile *p, struct known_set *set, const struct agreed_step *step,
                                   struct cct_node *node)
{
    bool keep = placing_plain_user(p) && step->fork < set->count;
    if (keep && set->forks[step->fork])
        return set->forks[step->fork];
    uint32_t functions = 0;
    for (const struct cct_node *n = node; cct_parent(n); n = cct_parent(n))
        functions += is_function(p, n);
    for (; cct_parent(node) && (functions > step->depth || !is_function(p, node)); node = cct_parent(node))
        functions -= is_function(p, node);
    if (keep)
        set->forks[step->fork] = node;
    return node;
}

static int add_doubts(struct profile *p, struct known_set *set, const struct agreed *agreed, uint64_t weight,
                      struct cct_node *node)
{
    double w = (double)weight, probability = agreed->probability;
    int rc = doubts_add(p->doubts, node, (struct doubt){.end = w * (1 - probability)});
    for (uint32_t i = 0; rc == 0 && i < agreed->step_count; i++) {
        const struct agreed_step *step = &agreed->steps[i];
        double relief = w * (step->probability - probability);
        rc = doubts_add(p->doubts, fork_above(p, set, step, node), (struct doubt){.relief = relief});
        probability = step->probability;
    }
    if (rc == 0 && p->options.framing.levels.count)
        rc = relieve_levels(p, w * (1 - probability), node);
    return rc;
}

int likely_add(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    struct cct_node *node;
    if (r->probability >= 1)
        return placing_node(p, a, r->node, &node, err);
    struct known_set *set;
    struct agreed agreed;
    uint64_t key;
    int rc = find_set(p, a, &set, &key, err);
    if (rc < 0)
        return rc;
    double wanted = p->options.ambiguity == AMBIGUOUS_LIKELY ? SURE_ENOUGH : 0;
    agreement_find(set->agreement, r, wanted, &agreed);
    if (agreed.whole)
        rc = placing_node(p, a, agreed.node, &node, err);
    else
        rc = add_beginning(p, a, &agreed, key, &node, err);
    if (rc == 0 && node && add_doubts(p, set, &agreed, a->values[0], node) < 0)
        rc = error_memory(err);
    return rc;
}

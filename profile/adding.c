/* adding.c - see adding.h. */
#include "profile/adding.h"

#include <stdio.h>

#include "profile/likely.h"
#include "profile/placing.h"

static int add_unknown(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    struct cct_node *node;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_unknown(p->framing, a->process, a->sample, a->resolved, err);
    return rc < 0 ? rc : placing_framed(p, a, NULL, &node, err);
}

/* Adds to each of the sample's paths its share. */
static int add_shares(struct profile *p, const struct adding *whole, struct fathom_error *err)
{
    const struct resolved *r = whole->resolved;
    const uint32_t metrics = p->options.metrics.count;
    uint64_t parts[METRICS_MAX][CANDIDATES_MAX];
    for (uint32_t m = 0; m < metrics; m++)
        shares_divide(p->shares[m], r->posterior, r->posterior_count, whole->values[m], parts[m]);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->posterior_count; i++) {
        struct adding part = *whole;
        struct cct_node *node;
        bool any = false;
        part.probability = r->posterior[i].probability;
        for (uint32_t m = 0; m < metrics; m++)
            any |= (part.values[m] = parts[m][i]) > 0;
        if (any)
            rc = placing_node(p, &part, r->posterior[i].node, &node, err);
    }
    return rc;
}

/* Frames what the candidates have in common, with a frame between that shows how many there are. */
static int frame_common(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    struct common *c = &p->common;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = common_find(c, a->map, r->posterior, r->posterior_count, err);
    if (rc == 0)
        rc = framing_functions(p->framing, c->functions, c->outer, err);
    if (rc < 0)
        return rc;
    char text[32];
    /* If all kept candidates are considered, the ones that were not kept count too. */
    bool more = c->paths == r->posterior_count && r->paths > c->paths;
    snprintf(text, sizeof text, "{%u paths}", more ? r->paths : c->paths);
    rc = framing_unsure(p->framing, text, err);
    return rc < 0 ? rc : framing_functions(p->framing, c->functions + (c->depth - c->inner), c->inner, err);
}

static int add_common(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    uint32_t count = common_count(r->posterior, r->posterior_count);
    struct cct_node *node;
    if (count < 2)
        return placing_node(p, a, r->node, &node, err);
    uint64_t *place =
        placing_plain(p, a) ? table_put(p->others, likely_key(r->posterior, count), NULL) : NULL;
    int known = placing_known(p, a, place, &node, err);
    if (known)
        return known < 0 ? known : 0;
    int rc = frame_common(p, a, err);
    return rc < 0 ? rc : placing_framed(p, a, place, &node, err);
}

int adding_sample(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    if (a->resolved->kind == RESOLVED_UNKNOWN)
        return add_unknown(p, a, err);
    switch (p->options.ambiguity) {
    case AMBIGUOUS_SPLIT:
        return add_shares(p, a, err);
    case AMBIGUOUS_COMMON:
        return add_common(p, a, err);
    case AMBIGUOUS_LIKELY:
    case AMBIGUOUS_BEST:
        break;
    }
    return likely_add(p, a, err);
}

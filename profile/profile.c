/*
 * profile.c - see profile.h.
 *
 * Where each path ends in the tree is kept, so that a sample with a known path costs one look-up.
 */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "hcct/hcct.h"
#include "profile/agreement.h"
#include "profile/common.h"
#include "profile/shares.h"

#define LEFT_OUT    UINT64_MAX /* as a place: the filter leaves the path out */
#define DELTA       0.01       /* Sticky Sampling may fail with this probability */
#define SURE_ENOUGH 0.5        /* AMBIGUOUS_LIKELY: less sure frames are not shown */

/* A set of candidates that some sample had. */
struct known_set {
    struct agreement *agreement;
    uint32_t count; /* of candidates */
    /* By fork, exact tree of plain paths: the end of their common part; NULL before it is looked up. */
    struct cct_node *forks[];
};

struct profile {
    struct profile_options options;
    struct framing *framing;
    struct cct *exact; /* one of these two */
    struct hcct *bounded;
    struct cct *hot;      /* what is in it; NULL before it was asked for */
    bool prepared;        /* for the map */
    uint64_t *places;     /* by map node, of plain paths: where its path ends. 0: unknown; the cct_node of the
                              exact tree; in bounded memory the number of a spot, from 1 on */
    struct table *others; /* the same for parts of paths, by a hash of their contents */
    struct hcct_place *spots;
    size_t spot_count, spot_room;
    struct table *sets;                 /* set of nodes, hashed -> struct known_set */
    struct doubts *doubts;              /* exact tree: how sure its contexts are; not for shares */
    struct shares *shares[METRICS_MAX]; /* AMBIGUOUS_SPLIT; NULL before the first sample */
    struct common common;               /* AMBIGUOUS_COMMON: scratch */
    struct profile_counts counts;
    bool counted;                  /* the last sample is */
    struct placed_sample *samples; /* NULL: not kept */
    uint64_t *sample_values;
    size_t sample_count, sample_room, value_room;
};

/* What became of a sample. */
struct outcome {
    bool counted;    /* any of its paths is */
    uint64_t weight; /* of these */
};

/* A sample being added to the tree. */
struct adding {
    const struct pathmap *map;
    const struct process *process;
    const struct sample *sample;
    const struct resolved *resolved;
    uint64_t values[METRICS_MAX]; /* of the profile's metrics */
    double probability;           /* of the path that is added */
    struct outcome *outcome;
};

struct profile *profile_new(const struct profile_options *options, struct image_cache *images)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->options = *options;
    p->framing = framing_new(&options->framing, images);
    p->others = table_new();
    p->sets = table_new();
    p->doubts = doubts_new();
    if (options->eps > 0)
        p->bounded = hcct_new(&(struct hcct_options){.kind = options->counter ? options->counter : HCCT_LSS,
                                                     .eps = options->eps,
                                                     .phi = options->phi,
                                                     .delta = DELTA,
                                                     .metrics = options->metrics.count,
                                                     .seed = 1,
                                                     .places = true});
    else
        p->exact = cct_new(options->metrics.count);
    if (!p->framing || !p->others || !p->sets || !p->doubts || (!p->exact && !p->bounded)) {
        profile_free(p);
        return NULL;
    }
    return p;
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (p->sets && table_next(p->sets, &cursor, &key, &value)) {
        struct known_set *set = (struct known_set *)(uintptr_t)value;
        if (set)
            agreement_free(set->agreement);
        free(set);
    }
    table_free(p->sets);
    table_free(p->others);
    doubts_free(p->doubts);
    for (uint32_t m = 0; m < METRICS_MAX; m++)
        shares_free(p->shares[m]);
    common_clear(&p->common);
    framing_free(p->framing);
    cct_free(p->exact);
    hcct_free(p->bounded);
    cct_free(p->hot);
    free(p->places);
    free(p->spots);
    free(p->samples);
    free(p->sample_values);
    free(p);
}

static int prepare(struct profile *p, const struct pathmap *map, struct fathom_error *err)
{
    bool split = p->options.ambiguity == AMBIGUOUS_SPLIT;
    p->places = calloc((size_t)pathmap_node_count(map) + 1, sizeof *p->places);
    bool ok = p->places;
    for (uint32_t m = 0; m < p->options.metrics.count && split && ok; m++)
        ok = (p->shares[m] = shares_new(pathmap_node_count(map)));
    if (!ok)
        return error_memory(err);
    p->prepared = true;
    return framing_use(p->framing, map, err);
}

static void count(struct profile *p, uint64_t weight, const struct sample *sample, const struct resolved *r)
{
    if (r->kind != RESOLVED_UNKNOWN)
        p->counts.by_source[r->source] += weight;
    if (sample->known == SAMPLE_STACK_REFUSED)
        p->counts.refused += weight;
    p->counts.samples++;
    p->counts.weight += weight;
    p->counts.expected += (double)weight * r->probability;
    p->counts.expected_least += (double)weight * r->least;
    p->counts.expected_most += (double)weight * r->most;
    switch (r->kind) {
    case RESOLVED_PRECISE:
        p->counts.precise += weight;
        break;
    case RESOLVED_AMBIGUOUS:
        p->counts.ambiguous += weight;
        break;
    case RESOLVED_INFERRED:
        p->counts.inferred += weight;
        break;
    case RESOLVED_UNKNOWN:
        p->counts.unknown += weight;
        p->counts.unknown_by_reason[r->reason] += weight;
        break;
    }
}

/* Whether a path of user code alone determines its place in the tree. */
static bool plain_paths(const struct profile *p)
{
    const struct framing_options *o = &p->options.framing;
    return !o->threads && !o->inlined && !o->lines && !o->accesses;
}

/* Whether a sample's path alone does. */
static bool is_plain(const struct profile *p, const struct adding *a)
{
    return plain_paths(p) && !framing_in_kernel(p->framing, a->sample);
}

/* Keeps where the path last added to the bounded tree ends; without memory for it, it is sought again. */
static void keep_spot(struct profile *p, uint64_t *place)
{
    struct hcct_place spot = hcct_place(p->bounded);
    if (!*place && vec_push(p->spots, p->spot_count, p->spot_room, spot))
        *place = p->spot_count;
    else if (*place)
        p->spots[*place - 1] = spot;
}

/* A hash of a set of candidates, independent of their order. */
static uint64_t set_key(const struct candidate_path *paths, uint32_t count)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i++)
        key += hash_u64((uint64_t)paths[i].node + 1);
    return key;
}

/* The sampled instruction: of a precise event that of the sample, which need not be where the registers are from. */
static struct place sampled_place(const struct adding *a)
{
    struct place place, own = a->resolved->cid.place;
    bool known = a->process && process_place(a->process, a->sample->ip, &place);
    return known && (!own.image || (own.image == place.image && own.function == place.function)) ? place
                                                                                                 : own;
}

/* A sample whose weight was added to a path; with AMBIGUOUS_SPLIT a part of it. */
static bool keep_sample(struct profile *p, const struct adding *a, const struct cct_node *node)
{
    if (!p->options.samples)
        return true;
    struct place place = sampled_place(a);
    const struct placed_sample placed = {.time = a->sample->time,
                                         .node = node,
                                         .comm = a->process ? process_thread_name(a->process, a->sample->tid)
                                                            : "",
                                         .pid = a->sample->pid,
                                         .tid = a->sample->tid,
                                         .probability = (float)a->probability,
                                         .kind = (uint8_t)a->resolved->kind,
                                         .image = place.image,
                                         .address = place.address};
    uint32_t metrics = p->options.metrics.count;
    if (!vec_reserve(p->sample_values, p->sample_count * metrics, p->value_room, metrics) ||
        !vec_push(p->samples, p->sample_count, p->sample_room, placed))
        return false;
    memcpy(p->sample_values + (p->sample_count - 1) * metrics, a->values, metrics * sizeof *a->values);
    return true;
}

/* Adds weight to the framed path. *node: where it ends, NULL in bounded memory and if the filter leaves it out. place: where to cache that,
 * or NULL. */
static int add_framed(struct profile *p, const struct adding *a, uint64_t *place, struct cct_node **node,
                      struct fathom_error *err)
{
    const uint32_t *items;
    size_t count;
    int rc = framing_end(p->framing, &a->resolved->cid.place, a->process, a->sample, &items, &count, err);
    if (rc < 0)
        return rc;
    *node = NULL;
    if (p->options.filter && !filter_path(p->options.filter, framing_frames(p->framing), items, count)) {
        if (place)
            *place = LEFT_OUT;
        return 0;
    }
    a->outcome->counted = true;
    a->outcome->weight += a->values[0];
    if (p->bounded) {
        rc = hcct_add(p->bounded, items, count, a->values) < 0 ? error_memory(err) : 0;
        if (rc == 0 && place)
            keep_spot(p, place);
        return rc;
    }
    *node = cct_add(p->exact, items, count, a->values);
    if (place)
        *place = (uintptr_t)*node;
    return *node && keep_sample(p, a, *node) ? 0 : error_memory(err);
}

/* Adds weight to a cached path. 0: it is not cached, or no longer there; 1: it was added, or the filter leaves it out; -ENOMEM. */
static int add_known(struct profile *p, const struct adding *a, const uint64_t *place, struct cct_node **node,
                     struct fathom_error *err)
{
    if (!place || !*place)
        return 0;
    *node = NULL;
    if (*place == LEFT_OUT)
        return 1;
    if (p->bounded && !hcct_add_at(p->bounded, p->spots[*place - 1], a->values))
        return 0;
    a->outcome->counted = true;
    a->outcome->weight += a->values[0];
    if (p->bounded)
        return 1;
    *node = (struct cct_node *)(uintptr_t)*place;
    cct_weigh(p->exact, *node, a->values);
    return keep_sample(p, a, *node) ? 1 : error_memory(err);
}

static int add_unknown(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    struct cct_node *node;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_unknown(p->framing, a->process, a->sample, a->resolved, err);
    return rc < 0 ? rc : add_framed(p, a, NULL, &node, err);
}

/* Whether its node's call sites are those of its stack. */
static bool own_sites(const struct resolved *r)
{
    return r->source == SOURCE_UNWOUND;
}

static int add_node(struct profile *p, const struct adding *a, uint32_t map_node, struct cct_node **node,
                    struct fathom_error *err)
{
    uint64_t *place = is_plain(p, a) ? &p->places[map_node] : NULL;
    int known = add_known(p, a, place, node, err);
    if (known)
        return known < 0 ? known : 0;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_node(p->framing, map_node, UINT32_MAX, own_sites(a->resolved), err);
    return rc < 0 ? rc : add_framed(p, a, place, node, err);
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
            rc = add_node(p, &part, r->posterior[i].node, &node, err);
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
        return add_node(p, a, r->node, &node, err);
    uint64_t *place = is_plain(p, a) ? table_put(p->others, set_key(r->posterior, count), NULL) : NULL;
    int known = add_known(p, a, place, &node, err);
    if (known)
        return known < 0 ? known : 0;
    int rc = frame_common(p, a, err);
    return rc < 0 ? rc : add_framed(p, a, place, &node, err);
}

static int find_set(struct profile *p, const struct adding *a, struct known_set **out, uint64_t *key,
                    struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    *key = set_key(r->posterior, r->posterior_count);
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

/* Adds the path as far as the candidates agree, a frame with their number from there on, and the sample's own
 * function. */
static int add_beginning(struct profile *p, const struct adding *a, const struct agreed *agreed,
                         uint64_t set_number, struct cct_node **node, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    /* The candidates that were not kept count too if nothing is left out. */
    uint32_t paths = agreed->depth == 0 && r->paths > agreed->paths ? r->paths : agreed->paths;
    uint64_t what = hash_u64(set_number + ((uint64_t)agreed->depth << 32 | paths)) + agreed->fork;
    uint64_t *place = is_plain(p, a) ? table_put(p->others, what, NULL) : NULL;
    int known = add_known(p, a, place, node, err);
    if (known)
        return known < 0 ? known : 0;
    char text[32] = "[unsure]";
    if (paths > 1)
        snprintf(text, sizeof text, "[one of %u paths]", paths);
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0)
        rc = framing_node(p->framing, agreed->node, agreed->depth, own_sites(r), err);
    if (rc == 0)
        rc = framing_unsure(p->framing, text, err);
    if (rc == 0)
        rc = framing_leaf(p->framing, r->node, err);
    return rc < 0 ? rc : add_framed(p, a, place, node, err);
}

static bool is_function(const struct profile *p, const struct cct_node *node)
{
    return frames_at(framing_frames(p->framing), node->item)->kind == FRAME_FUNCTION;
}

/* Where the step's functions end above a node. */
static struct cct_node *fork_above(struct profile *p, struct known_set *set, const struct agreed_step *step,
                                   struct cct_node *node)
{
    bool keep = plain_paths(p) && step->fork < set->count;
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
    return rc;
}

/* The most probable path: all of it, or as far as it is SURE_ENOUGH. */
static int add_likely(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    struct cct_node *node;
    if (r->probability >= 1)
        return add_node(p, a, r->node, &node, err);
    struct known_set *set;
    struct agreed agreed;
    uint64_t key;
    int rc = find_set(p, a, &set, &key, err);
    if (rc < 0)
        return rc;
    double wanted = p->options.ambiguity == AMBIGUOUS_LIKELY ? SURE_ENOUGH : 0;
    agreement_find(set->agreement, r, wanted, &agreed);
    if (agreed.whole)
        rc = add_node(p, a, agreed.node, &node, err);
    else
        rc = add_beginning(p, a, &agreed, key, &node, err);
    if (rc == 0 && node && add_doubts(p, set, &agreed, a->values[0], node) < 0)
        rc = error_memory(err);
    return rc;
}

static int add_sample(struct profile *p, const struct adding *a, struct fathom_error *err)
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
    return add_likely(p, a, err);
}

int profile_add(struct profile *p, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    int rc = p->prepared ? 0 : prepare(p, map, err);
    if (rc < 0)
        return rc;
    struct resolved r = *resolved;
    if (r.kind != RESOLVED_UNKNOWN && r.probability < p->options.min_confidence) {
        r.kind = RESOLVED_UNKNOWN;
        r.reason = UNKNOWN_UNSURE;
        r.probability = r.least = r.most = 0;
    }
    struct outcome outcome = {0};
    struct adding a = {map, process, sample, &r, {0}, r.probability, &outcome};
    metrics_values(&p->options.metrics, sample, a.values);
    if (!p->options.filter || filter_sample(p->options.filter, process, sample))
        rc = add_sample(p, &a, err);
    p->counted = outcome.counted;
    if (outcome.counted)
        count(p, outcome.weight, a.sample, &r);
    p->counts.left_out += a.values[0] - outcome.weight;
    return rc;
}

bool profile_counted(const struct profile *p)
{
    return p->counted;
}

enum kernel_named profile_kernel_named(const struct profile *p)
{
    return framing_kernel_named(p->framing);
}

void profile_counts(const struct profile *p, struct profile_counts *out)
{
    *out = p->counts;
}

int profile_contexts(struct profile *p, double phi, struct contexts *out)
{
    bool sure_known = p->options.ambiguity == AMBIGUOUS_LIKELY || p->options.ambiguity == AMBIGUOUS_BEST;
    if (p->bounded) {
        cct_free(p->hot);
        p->hot = hcct_query(p->bounded, phi);
    }
    *out = (struct contexts){
        .tree = p->bounded ? p->hot : p->exact,
        .frames = framing_frames(p->framing),
        .metrics = &p->options.metrics,
        .doubts = p->exact && sure_known ? p->doubts : NULL,
        .samples = p->samples,
        .sample_values = p->sample_values,
        .sample_count = p->sample_count,
    };
    bool unpromised = p->bounded && !hcct_promises(p->options.counter ? p->options.counter : HCCT_LSS) &&
                      (double)hcct_unseen(p->bounded) >= phi * (double)hcct_total(p->bounded);
    return out->tree ? 0 : unpromised ? -ERANGE : -ENOMEM;
}

/* profile.c - see profile.h. */
#include "profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/saturate.h"
#include "profile/likely.h"
#include "profile/placing.h"
#include "profile/profile_data.h"

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
        shares_divide(p->owed[m], r->posterior, r->posterior_count, whole->values[m], parts[m]);
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
    /* If all stored candidates are considered, those that were dropped count, too. */
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

/* The outcome says whether it was counted. */
static int add_to_tree(struct profile *p, const struct adding *a, struct fathom_error *err)
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

#define DELTA 0.01 /* Sticky Sampling may fail with this probability */

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
    p->processes = process_shares_new();
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
    const uint32_t unseen =
        options->wakers && p->framing ? framing_waker(p->framing, "[waker not seen]") : FRAMES_NONE;
    p->wakers = unseen == FRAMES_NONE ? NULL : waker_paths_new(options->wakers, unseen);
    return whole_or_free(p,
                         p->framing && (!options->wakers || p->wakers) && p->others && p->sets && p->doubts &&
                             p->processes && (p->exact || p->bounded),
                         profile_free);
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    likely_sets_free(p->sets);
    table_free(p->others);
    doubts_free(p->doubts);
    process_shares_free(p->processes);
    waker_paths_free(p->wakers);
    for (uint32_t m = 0; m < METRICS_MAX; m++)
        free(p->owed[m]);
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

static int prepare_profile(struct profile *p, const struct pathmap *map, struct fathom_error *err)
{
    bool split = p->options.ambiguity == AMBIGUOUS_SPLIT;
    p->places = calloc((size_t)pathmap_node_count(map) + 1, sizeof *p->places);
    bool ok = p->places;
    for (uint32_t m = 0; m < p->options.metrics.count && split && ok; m++)
        ok = (p->owed[m] = calloc((size_t)pathmap_node_count(map) + 1, sizeof *p->owed[m]));
    if (!ok)
        return error_memory(err);
    p->prepared = true;
    return framing_use(p->framing, map, err);
}

/* The weights come from a field of the recording, and may be anything, such as the length of an endless read: sums saturate, as
 * those of the tree do. */
static void count_weight(uint64_t *sum, uint64_t weight)
{
    *sum = add_saturating(*sum, weight);
}

static void count_sample(struct profile *p, uint64_t weight, const struct sample *sample,
                         const struct resolved *r)
{
    if (sample->known == SAMPLE_STACK_REFUSED)
        count_weight(&p->counts.refused, weight);
    if (sample->known == SAMPLE_STACK_RETURNED)
        count_weight(&p->counts.returned, weight);
    p->counts.samples += sample_counts(sample);
    count_weight(&p->counts.weight, weight);
    p->counts.expected += (double)weight * r->probability;
    p->counts.expected_least += (double)weight * r->least;
    p->counts.expected_most += (double)weight * r->most;
    count_weight(&p->counts.by_certainty[certainty_of(r)], weight);
    count_weight(&p->counts.by_kind[r->kind], weight);
    if (r->kind == RESOLVED_UNKNOWN)
        count_weight(&p->counts.unknown_by_reason[r->reason], weight);
    else
        count_weight(&p->counts.by_source[r->source], weight);
    if (r->kind != RESOLVED_UNKNOWN && r->partial)
        count_weight(&p->counts.partial, weight);
}

/* Adds a sample of who ended a wait, which has no weight itself. */
static int add_waker(struct profile *p, const struct adding *a, struct fathom_error *err)
{
    const struct resolved *r = a->resolved;
    const uint32_t *items;
    size_t count;
    int rc = framing_begin(p->framing, a->process, a->sample, err);
    if (rc == 0 && a->sample->has_regs)
        rc = r->kind == RESOLVED_UNKNOWN
                 ? framing_unknown(p->framing, a->process, a->sample, r, err)
                 : framing_node(p->framing, r->node, UINT32_MAX, framing_sites(r), err);
    if (rc == 0)
        rc = framing_end(p->framing, &r->cid.place, a->process, a->sample, &items, &count, err);
    const bool inferred = a->sample->has_regs && certainty_of(r) == CERTAINTY_INFERRED;
    return rc == 0 && waker_paths_keep(p->wakers, a->sample, inferred ? r->probability : 1, items, count) < 0
               ? error_memory(err)
               : rc;
}

/* Limits a wait's probability to that of the path that ended it. 0 or -ENOMEM. */
static int doubt_waker(struct profile *p, const struct sample *wait, struct resolved *r)
{
    double probability;
    if (waker_paths_probability(p->wakers, wait, &probability) < 0)
        return -ENOMEM;
    r->probability *= probability;
    r->least *= probability;
    r->most *= probability;
    if (probability < 1 && certainty_of(r) == CERTAINTY_PROVED)
        r->source = SOURCE_CID;
    return 0;
}

int profile_add(struct profile *p, const struct pathmap *map, const struct process *process,
                const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    int rc = p->prepared ? 0 : prepare_profile(p, map, err);
    if (rc < 0)
        return rc;
    struct resolved r = *resolved;
    if (r.kind != RESOLVED_UNKNOWN && r.probability < p->options.min_confidence) {
        r.kind = RESOLVED_UNKNOWN;
        r.reason = UNKNOWN_UNSURE;
        r.probability = r.least = r.most = 0;
    }
    if (placing_woken(p, sample) && doubt_waker(p, sample, &r) < 0)
        return error_memory(err);
    struct outcome outcome = {0};
    struct adding a = {map, process, sample, &r, {0}, r.probability, &outcome};
    p->counted = false;
    if (sample->waker)
        return p->wakers ? add_waker(p, &a, err) : 0;
    metrics_values(&p->options.metrics, sample, a.values);
    if (!p->options.filter || filter_sample(p->options.filter, process, sample))
        rc = add_to_tree(p, &a, err);
    p->counted = outcome.counted;
    if (outcome.counted)
        count_sample(p, outcome.weight, a.sample, &r);
    if (outcome.counted && rc == 0 &&
        process_shares_add(p->processes, process ? process_name(process) : "", outcome.weight) < 0)
        rc = error_memory(err);
    p->counts.left_out += a.values[0] - outcome.weight;
    return rc;
}

bool profile_counted(const struct profile *p)
{
    return p->counted;
}

bool profile_lacks_cgroups(const struct profile *p)
{
    return framing_lacks_cgroups(p->framing);
}

enum kernel_named profile_kernel_named(const struct profile *p)
{
    return framing_kernel_named(p->framing);
}

void profile_counts(const struct profile *p, struct profile_counts *out)
{
    *out = p->counts;
}

const struct process_shares *profile_processes(const struct profile *p)
{
    return p->processes;
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

/* fit.c - see fit.h. */
#include "infer/model/fit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "infer/contexts/admission.h"
#include "infer/model/expectation.h"
#include "infer/model/weights.h"

/* share of the samples below which nothing is inferred: that takes seconds in large programs */
#define STAKE_LEAST 0.005

/* Steps of work (base/work.h) to find paths: for each sample without a path from its own stack, within bounds. A part of them
 * is for reading code, also by the number of samples: large libraries are not read for a few, as their calls take 10 bytes of
 * memory for each byte of code. */
#define STEPS_EACH  (UINT64_C(1) << 20)
#define STEPS_LEAST (UINT64_C(120) << 20)
#define STEPS_MOST  (UINT64_C(450) << 20)
#define STEPS_BLIND (UINT64_C(150) << 20) /* if nothing was learned: results are seldom right then */
#define CODE_EACH   (UINT64_C(1) << 18)
#define CODE_LEAST  (UINT64_C(16) << 20)
#define CODE_MOST   (UINT64_C(72) << 20)

/* Pairs of states that coherence may examine to learn, and again to resolve. */
#define PAIRS_MOST  (UINT64_C(50) << 20)
#define PAIRS_BRIEF (UINT64_C(10) << 20)

/* Minimum probability of a part of a path, from the CID on, for the path to be searched for. If nothing was learned, all calls
 * are guessed alike, and none is excluded. */
#define LEAST_WALK 1e-4

#define ROUNDS 2 /* of the automaton, each with the weights from the one before */

struct fit {
    struct fit_input input;
    const uint32_t *own; /* set by fit_own() */
    uint32_t own_nodes;
    struct pathmap *map;
    struct resolver *resolver;   /* for the map */
    struct admission *admission; /* for the map; NULL before the survey is done */
    uint32_t *unwound;           /* unwound_samples() for the map */
    struct statics statics;      /* empty until extend_map() */
    struct coherence *model;     /* NULL before fit_coherence() */
    struct extend_summary inferred;
    struct table *cut; /* set of CIDs (function << 32 | height) that were cut; NULL: none */
    uint64_t steps;    /* of work, allowed */
    struct work work;  /* what is left of them */
    uint64_t stake;    /* samples whose paths are searched for, */
    uint64_t samples;  /* out of this many */
    uint64_t open;     /* of those searched for: without any proved frame */
    bool surveyed;     /* the survey is done: all settings are known */
};

struct fit *fit_new(const struct fit_input *input)
{
    struct fit *f = calloc(1, sizeof *f);
    if (f)
        f->input = *input;
    return f;
}

void fit_free(struct fit *f)
{
    if (!f)
        return;
    coherence_free(f->model);
    resolver_free(f->resolver);
    admission_free(f->admission);
    statics_free(&f->statics);
    table_free(f->cut);
    pathmap_close(f->map);
    free(f->unwound);
    free(f);
}

void fit_own(struct fit *f, const uint32_t *samples, uint32_t nodes)
{
    f->own = samples;
    f->own_nodes = nodes;
}

/* By node of the map: how many of its `self` samples are unwound samples of this recording. The caller frees the array. NULL:
 * out of memory. */
static uint32_t *unwound_samples(const struct fit *f)
{
    uint32_t nodes = pathmap_node_count(f->map), *unwound = calloc((size_t)nodes + 1, sizeof *unwound);
    for (uint32_t i = 0; unwound && !f->input.trained && i < nodes; i++) {
        uint64_t self = pathmap_node(f->map, i).self;
        unwound[i] = self < UINT32_MAX ? (uint32_t)self : UINT32_MAX;
    }
    for (uint32_t i = 0; unwound && f->input.trained && i < f->own_nodes; i++)
        if (f->own[i])
            unwound[pathmap_number(f->map, i)] += f->own[i];
    return unwound;
}

int fit_map(struct fit *f, struct fathom_error *err)
{
    /* These were made for the old map. */
    resolver_free(f->resolver);
    admission_free(f->admission);
    free(f->unwound);
    f->resolver = NULL;
    f->admission = NULL;
    f->unwound = NULL;
    int rc = f->map ? pathmap_update(f->map, err) : pathmap_over(f->input.trie, &f->map, err);
    if (rc < 0)
        return rc;
    f->resolver = resolver_new(f->map, f->input.numbers);
    f->unwound = unwound_samples(f);
    if (f->surveyed)
        f->admission = admission_new(f->input.settings, f->map, f->statics.edges ? &f->statics : NULL);
    if (!f->resolver || !f->unwound || (f->surveyed && !f->admission))
        return error_memory(err);
    resolver_admit(f->resolver, f->admission);
    resolver_audited(f->resolver, f->unwound);
    return 0;
}

int fit_surveyed(struct fit *f, struct fathom_error *err)
{
    const struct wanted *cids;
    const size_t count = survey_cids(f->input.survey, &cids);
    for (size_t i = 0; i < count; i++) {
        f->samples += cids[i].samples;
        f->open += cids[i].samples - cids[i].sure - cids[i].part;
    }
    f->surveyed = true;
    return fit_map(f, err);
}

/* The CIDs with samples that are not sure. The caller frees *out. */
static int wanted_cids(struct fit *f, struct wanted **out, size_t *count)
{
    const struct wanted *cids;
    size_t all = survey_cids(f->input.survey, &cids);
    *count = 0;
    *out = malloc((all + 1) * sizeof **out);
    for (size_t i = 0; *out && i < all; i++)
        if (cids[i].samples > cids[i].sure)
            (*out)[(*count)++] = cids[i];
    return *out ? 0 : -ENOMEM;
}

/* Merges CIDs whose settings allow the same paths, and adds up their samples. false: out of memory. */
static bool merge_wanted(const struct fit *f, struct wanted *wanted, size_t *count)
{
    struct table *first = table_new(); /* hash of (CID, setting) -> index */
    size_t kept = 0;
    bool good = first, added;
    for (size_t i = 0; good && i < *count; i++) {
        struct wanted *w = &wanted[i];
        w->setting = admission_alike(f->admission, w->setting);
        uint64_t key = ((uint64_t)w->function << 32 | w->height) ^ hash_u64(w->setting);
        uint64_t *value = table_put(first, key, &added);
        good = value;
        if (good && added) {
            *value = kept;
            wanted[kept++] = *w;
        } else if (good) {
            wanted[*value].samples += w->samples;
            wanted[*value].sure += w->sure;
            wanted[*value].part += w->part;
        }
    }
    table_free(first);
    *count = kept;
    return good;
}

/* For each setting, the wider setting in which paths are searched for first. The caller frees the array. NULL: out of memory. */
static uint32_t *wider_settings(struct fit *f, uint32_t count)
{
    uint32_t *wider = malloc(((size_t)count + 1) * sizeof *wider);
    bool good = wider;
    for (uint32_t i = 0; good && i < count; i++)
        good = settings_wider(f->input.settings, i, &wider[i]) == 0;
    return whole_or_free(wider, good, free);
}

/* Replaces each wider setting by the representative of all equivalent settings in the current map. */
static void settle_wider(const struct fit *f, uint32_t *wider, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        wider[i] = admission_alike(f->admission, wider[i]);
}

/* Runs the automaton with the work that is left. 0 or -ENOMEM. */
static int run_automaton(struct fit *f, const struct extend_input *input, struct wanted *wanted, size_t count,
                         struct extension *out, struct fathom_error *err)
{
    int rc = extend_paths(input, wanted, count, out, err);
    if (rc < 0)
        return rc;
    f->inferred = out->summary;
    table_free(f->cut);
    f->cut = table_new();
    bool good = f->cut;
    for (size_t i = 0; good && i < out->cut_count; i++)
        good = table_put(f->cut, (uint64_t)out->cut[i].function << 32 | out->cut[i].height, NULL);
    if (!good)
        extension_free(out);
    return good ? 0 : error_memory(err);
}

/* Adds the automaton's paths for these CIDs to the map, with the shares from the automaton. */
static int extend_unweighed(struct fit *f, const struct extend_input *input, struct wanted *wanted,
                            size_t count, struct fathom_error *err)
{
    struct extension extension;
    int rc = run_automaton(f, input, wanted, count, &extension, err);
    if (rc < 0)
        return rc;
    rc = fit_map(f, err);
    for (size_t i = 0; rc == 0 && i < extension.count; i++) {
        const struct expected_path *path = &extension.paths[i];
        if (resolver_expect(f->resolver, path->setting, pathmap_number(f->map, path->node), path->share) < 0)
            rc = error_memory(err);
    }
    extension_free(&extension);
    return rc;
}

/* Computes the weights of the current map, after distributing the samples of these CIDs among their paths. */
static int compute_weights(struct fit *f, const struct wanted *wanted, size_t count, struct weights **out,
                           struct fathom_error *err)
{
    struct weights *weights = weights_new(f->map, f->unwound, pathmap_hooked(f->map));
    bool good = weights;
    if (good)
        weights_admit(weights, f->admission);
    for (size_t i = 0; good && i < count; i++) {
        const struct wanted *w = &wanted[i];
        good = weights_add(weights, w->setting, w->function, w->height, w->samples - w->sure) == 0;
    }
    if (!good || weights_run(weights, !f->input.no_em) < 0) {
        weights_free(weights);
        return error_memory(err);
    }
    *out = weights;
    return 0;
}

/* Adds to the map the paths that the automaton finds with these weights. */
static int extend_by(struct fit *f, const struct weights *weights, struct extend_input *input,
                     struct wanted *wanted, size_t count, struct fathom_error *err)
{
    struct graph_weights of_nodes;
    struct extension extension;
    if (weights_of_nodes(weights, &of_nodes) < 0)
        return error_memory(err);
    input->map = f->map;
    input->admission = f->admission;
    input->weights = &of_nodes;
    int rc = run_automaton(f, input, wanted, count, &extension, err);
    free(of_nodes.passes);
    free(of_nodes.self);
    if (rc < 0)
        return rc;
    extension_free(&extension); /* the weights give better shares than these */
    return fit_map(f, err);
}

/* Sets each path's share in the resolver, from the weights. */
static int expect_shares(struct fit *f, const struct weights *weights, struct fathom_error *err)
{
    struct weights_cid cid;
    int rc = 0;
    for (size_t c = 0; rc == 0 && weights_cid(weights, c, &cid); c++)
        for (uint32_t i = 0; rc == 0 && i < cid.count; i++)
            if (cid.shares[i] > 0)
                rc = resolver_expect(f->resolver, cid.setting, cid.first + i, cid.shares[i]);
    return rc < 0 ? error_memory(err) : 0;
}

/* Runs the automaton with the weights of this run, distributes the samples among the paths it finds, and repeats both with the
 * new weights if work is left. */
static int extend_weighed(struct fit *f, struct extend_input *input, struct wanted *wanted, size_t count,
                          struct fathom_error *err)
{
    struct weights *weights = NULL;
    int rc = compute_weights(f, wanted, 0, &weights, err),
        rounds = f->input.no_em || f->input.brief ? 1 : ROUNDS;
    uint64_t before = 0, done = 0;
    for (int round = 0; rc == 0 && round < rounds && f->work.left >= done; round++) {
        before = f->work.left;
        rc = extend_by(f, weights, input, wanted, count, err);
        weights_free(weights);
        weights = NULL;
        if (rc == 0)
            rc = compute_weights(f, wanted, count, &weights, err);
        done = before - f->work.left;
    }
    if (rc == 0)
        rc = expect_shares(f, weights, err);
    if (rc == 0)
        resolver_settle(f->resolver);
    weights_free(weights);
    return rc;
}

/* By image of the trie, how many of the samples with wanted paths are in it. The caller frees the array. NULL: out of memory. */
static uint64_t *samples_of_images(const struct fit *f, const struct wanted *wanted, size_t count,
                                   uint32_t *images)
{
    const struct trie *trie = f->input.trie;
    *images = trie_image_count(trie);
    uint64_t *samples = calloc((size_t)*images + 1, sizeof *samples);
    for (size_t i = 0; samples && i < count; i++) {
        uint64_t address;
        const char *name;
        uint32_t image = trie_function_at(trie, wanted[i].function, &address, &name);
        if (image < *images)
            samples[image] += extend_need(&wanted[i]);
    }
    return samples;
}

/* Reads the code of images, as far as work allows. */
static int read_code(struct fit *f, const struct wanted *wanted, size_t count, struct fathom_error *err)
{
    uint32_t images;
    uint64_t *samples = samples_of_images(f, wanted, count, &images);
    uint64_t all =
        CODE_LEAST + CODE_EACH * (f->stake < CODE_MOST / CODE_EACH ? f->stake : CODE_MOST / CODE_EACH);
    all = all < CODE_MOST ? all : CODE_MOST;
    all = all < f->work.left / 2 ? all : f->work.left / 2;
    if (!samples)
        return error_memory(err);
    struct statics_need need = {samples, images};
    image_calls_allow(f->input.calls, all);
    int rc = statics_build(f->input.trie, f->input.images, f->input.calls, f->input.settings, &need, &f->work,
                           &f->statics, err);
    work_take(&f->work, all - image_calls_allow(f->input.calls, 0));
    free(samples);
    return rc;
}

/* Adds paths for these CIDs. Rebuilds the map before that, too, as the static calls add functions to the trie. */
static int extend_map(struct fit *f, bool weighed, struct wanted *wanted, size_t count,
                      struct fathom_error *err)
{
    uint32_t settings = settings_count(f->input.settings);
    int rc = read_code(f, wanted, count, err);
    uint32_t *wider = rc == 0 ? wider_settings(f, settings) : NULL;
    if (rc == 0)
        rc = wider ? fit_map(f, err) : error_memory(err);
    if (rc == 0 && !merge_wanted(f, wanted, &count))
        rc = error_memory(err);
    if (rc == 0) {
        settle_wider(f, wider, settings);
        struct extend_input input = {.trie = f->input.trie,
                                     .map = f->map,
                                     .statics = &f->statics,
                                     .admission = f->admission,
                                     .wider = wider,
                                     .least = weighed ? LEAST_WALK : 0,
                                     .work = &f->work};
        rc = weighed ? extend_weighed(f, &input, wanted, count, err)
                     : extend_unweighed(f, &input, wanted, count, err);
    }
    free(wider);
    return rc;
}

/* Counts the samples that depend on the automaton, as their stacks are unknown: they determine how much work is allowed. */
static void allow_work(struct fit *f, const struct wanted *wanted, size_t count, bool weighed)
{
    uint64_t most = weighed ? STEPS_MOST : STEPS_BLIND;
    for (size_t i = 0; i < count; i++)
        f->stake += extend_need(&wanted[i]);
    bool many = f->stake > most / STEPS_EACH;
    f->steps = f->input.brief ? f->input.brief : many ? most : STEPS_LEAST + STEPS_EACH * f->stake;
    f->steps = f->steps < most ? f->steps : most;
    f->work.left = f->steps;
}

/* Whether so few samples have to be inferred that it is not worth it. Samples with proved innermost frames do not count: of the
 * 2% of clang++'s samples whose copies were cut, none got a path that was probable enough, nor did those in recursions of 60000
 * calls. */
static bool is_settled(const struct fit *f)
{
    return (double)f->open < STAKE_LEAST * (double)f->samples;
}

int fit_paths(struct fit *f, struct fathom_error *err)
{
    struct wanted *wanted;
    size_t count;
    progress_show(f->input.progress, "finding paths", 0, 0);
    /* If nothing was learned, guesses would be weighted by nothing but themselves. */
    bool weighed = pathmap_node_count(f->map) > 0;
    int rc = wanted_cids(f, &wanted, &count) < 0 ? error_memory(err) : 0;
    if (rc == 0)
        allow_work(f, wanted, count, weighed);
    if (rc == 0 && count && !is_settled(f))
        rc = extend_map(f, weighed, wanted, count, err);
    else
        f->stake = 0;
    free(wanted);
    return rc;
}

int fit_coherence(struct fit *f, struct fathom_error *err)
{
    if (is_settled(f))
        return 0;
    progress_show(f->input.progress, "learning how long contexts last", 0, 0);
    f->model = coherence_new(f->resolver);
    struct expectation_input input = {.survey = f->input.survey,
                                      .resolver = f->resolver,
                                      .model = f->model,
                                      .rounds = f->input.no_em ? 0 : EXPECTATION_ROUNDS,
                                      .pairs = f->input.brief ? PAIRS_BRIEF : PAIRS_MOST};
    return f->model ? expectation_run(&input, err) : error_memory(err);
}

bool fit_is_cut(const struct fit *f, uint32_t function, uint32_t height)
{
    return f->cut && table_find(f->cut, (uint64_t)function << 32 | height);
}

double fit_found(const struct fit *f)
{
    return f->samples ? (double)(f->stake - f->inferred.cut) / (double)f->samples : 0;
}

uint64_t fit_steps(const struct fit *f)
{
    return f->steps - f->work.left;
}

uint64_t fit_allowed(const struct fit *f)
{
    return f->steps;
}

const struct pathmap *fit_pathmap(const struct fit *f)
{
    return f->map;
}

struct resolver *fit_resolver(const struct fit *f)
{
    return f->resolver;
}

struct coherence *fit_model(const struct fit *f)
{
    return f->model;
}

const struct extend_summary *fit_inferred(const struct fit *f)
{
    return &f->inferred;
}

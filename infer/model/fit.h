/*
 * fit.h - builds the map that samples are resolved with. It starts from what was learned. For CIDs that training did not see in
 * full, it adds the paths that the automaton finds, and estimates each path's share. It also holds the model of coherence,
 * learned from the recording.
 *
 * The map is over the trie, and is replaced when that has grown: nodes then have other numbers, and there is a new resolver.
 * The map object stays.
 */
#ifndef FATHOM_INFER_MODEL_FIT_H
#define FATHOM_INFER_MODEL_FIT_H

#include "base/progress.h"
#include "infer/contexts/resolver.h"
#include "infer/model/coherence.h"
#include "infer/model/extend.h"
#include "infer/samples/survey.h"

struct fit;

struct fit_input { /* all borrowed */
    struct image_cache *images;
    struct image_calls *calls;
    struct trie *trie;                /* what was learned; grows */
    struct function_numbers *numbers; /* of the trie */
    struct settings *settings;
    const struct survey *survey;
    const struct pathmap *trained; /* the map that was merged into the trie; NULL: none */
    bool no_em;                    /* no expectation-maximisation */
    /* For cross-validation, which has to be cheap: the automaton runs once, with this many steps of work. 0: the work depends
     * on the samples. */
    uint64_t brief;
    const struct progress *progress; /* may be NULL */
};

/* NULL: out of memory. */
struct fit *fit_new(const struct fit_input *input);
void fit_free(struct fit *fit);

/* By node of the trie, for its first `nodes` nodes (borrowed): how many samples of this run were unwound or verified to have
 * its path. Call it before fit_map(). */
void fit_own(struct fit *fit, const uint32_t *samples, uint32_t nodes);
/* Makes the map from the trie. Before fit_surveyed(), any path is possible in any setting. */
int fit_map(struct fit *fit, struct fathom_error *err);
/* Call it when the survey is done: rebuilds the map, with paths restricted by the survey's settings. */
int fit_surveyed(struct fit *fit, struct fathom_error *err);
/* Adds the automaton's paths for the survey's CIDs to the map. */
int fit_paths(struct fit *fit, struct fathom_error *err);
/* Learns the model of coherence from the recording. */
int fit_coherence(struct fit *fit, struct fathom_error *err);

const struct pathmap *fit_pathmap(const struct fit *fit); /* NULL before fit_map() */
struct resolver *fit_resolver(const struct fit *fit);     /* NULL before fit_map() */
struct coherence *fit_model(const struct fit *fit);       /* NULL before fit_coherence() */
/* Whether paths of a CID (of the map) that has none were not searched for in full, because that would have taken too much work. */
bool fit_is_cut(const struct fit *fit, uint32_t function, uint32_t height);
/* Steps of work done for paths so far, and allowed; and the share of the samples that paths were searched for, without those
 * that were cut. */
uint64_t fit_steps(const struct fit *fit);
uint64_t fit_allowed(const struct fit *fit);
double fit_found(const struct fit *fit);
/* What the automaton found; all zero before fit_paths(). */
const struct extend_summary *fit_inferred(const struct fit *fit);

#endif

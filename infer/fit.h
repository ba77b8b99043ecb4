/*
 * fit.h - the map that samples are resolved with, fitted to a recording: made of what was learned, grown by
 * the paths that the automaton finds for CIDs of which training did not see every call, with the shares that
 * are expected of paths and the model of coherence.
 *
 * The map is made anew whenever the trie has grown; what a getter gave is good until then.
 */
#ifndef FATHOM_INFER_FIT_H
#define FATHOM_INFER_FIT_H

#include "base/progress.h"
#include "infer/audits.h"
#include "infer/coherence.h"
#include "infer/extend.h"
#include "infer/resolver.h"
#include "infer/survey.h"

struct fit;

struct fit_input { /* all borrowed */
    struct image_cache *images;
    struct trie *trie; /* what was learned; grows */
    struct settings *settings;
    const struct survey *survey;
    const struct audits *audits;
    const struct pathmap *trained;   /* the map that was merged into the trie; NULL: none was given */
    bool no_em;                      /* no expectation-maximisation */
    const struct progress *progress; /* may be NULL */
};

/* NULL: out of memory. */
struct fit *fit_new(const struct fit_input *input);
void fit_free(struct fit *fit);

/* The trie becomes the map. Until the survey is done a sample's setting says nothing of its paths. */
int fit_map(struct fit *fit, struct fathom_error *err);
/* The survey is done: the map is made for its settings. */
int fit_surveyed(struct fit *fit, struct fathom_error *err);
/* The map grows by the automaton's paths for the survey's CIDs. */
int fit_paths(struct fit *fit, struct fathom_error *err);
/* Teaches the model of coherence by the recording. */
int fit_coherence(struct fit *fit, struct fathom_error *err);

const struct pathmap *fit_pathmap(const struct fit *fit); /* NULL before fit_map() */
struct resolver *fit_resolver(const struct fit *fit);     /* the same */
struct coherence *fit_model(const struct fit *fit);       /* NULL before fit_coherence() */
uint32_t fit_node(const struct fit *fit, uint32_t node);  /* the map's number of one of the trie's */
/* What the automaton found. */
const struct extend_summary *fit_inferred(const struct fit *fit);

#endif

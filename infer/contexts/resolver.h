/*
 * resolver.h - maps a sample to its calling context.
 *
 * Exact stage: sample -> CID -> candidates in the path map, their training counts -> the most probable function path.
 * Candidates that differ only in call sites or in outer heights are one path. If training took S samples whose innermost frame
 * had this CID and walked through it P times, a path with s of the samples and p of the walks has probability (s + p / P) / (S
 * + 1): the counts, plus a prior worth one sample, distributed by how often each path was walked. If training did not see every
 * call, the prior is what the height automaton expects (resolver_expect()), including for paths that were never seen. Cached by
 * CID; memory is bounded by the map. A result carries its probability; a context that cannot be determined is RESOLVED_UNKNOWN
 * with a reason.
 */
#ifndef FATHOM_INFER_CONTEXTS_RESOLVER_H
#define FATHOM_INFER_CONTEXTS_RESOLVER_H

#include "infer/contexts/admission.h"
#include "infer/samples/cid.h"
#include "infer/samples/function_numbers.h"

enum resolved_kind {
    /* training saw one function path with this CID, the most probable one, and every call into the function's image; or
     * RESOLVER_AUDITS of this recording's unwound samples with this CID have that path, and none has another; or the sample's
     * own stack shows it (engine.h) */
    RESOLVED_PRECISE,
    RESOLVED_AMBIGUOUS, /* training saw several, or there may be others; `node` is the most probable */
    RESOLVED_INFERRED,  /* training never saw the most probable path; it is from the height automaton */
    RESOLVED_UNKNOWN,   /* no path is known, or there is no CID: see `reason` */
    RESOLVED_KINDS,
};

/* The evidence that a sample's path comes from. */
enum resolved_source {
    SOURCE_CID,      /* paths with its CID, seen or inferred: see resolved_kind */
    SOURCE_UNWOUND,  /* its own stack, unwound */
    SOURCE_CHAIN,    /* its own call chain, proved (infer/chains/proof.h) */
    SOURCE_VERIFIED, /* a stack unwound before, all of whose return addresses were still in place */
    SOURCE_COMPARED, /* the same with only some of them compared, or none: same PC and depth */
    SOURCES,
};

/* One function path that has the sample's CID. */
struct candidate_path {
    uint32_t node;     /* of the map: the one of this path with the most samples, then passes */
    float probability; /* among all paths with the CID */
};
#define CANDIDATES_MAX 64 /* per CID: the most probable ones, each at least 0.001 as probable as the best */

struct resolved {
    enum resolved_kind kind;
    enum unknown_reason reason;
    enum resolved_source source;
    struct cid cid;
    uint32_t node; /* of the map: the most probable path; PATHMAP_NONE if unknown */
    /* function paths that share the CID: the degree of ambiguity. If training saw any of them, and every call into the image,
     * only those that it saw */
    uint32_t paths;
    double probability; /* of `node`'s function path among them; 0 if unknown */
    /* bounds of 95%, as far as known (calibration.h); the resolver sets both to `probability` */
    double least;
    double most;
    double factor; /* that all probabilities of the answer were multiplied by; the resolver sets 1 */
    /* its part for one call that was never seen, 1 if these do not matter; the resolver sets 1 */
    double rate;
    double seen;     /* its part for all frames that were seen; the resolver sets 1 */
    uint32_t answer; /* for resolver_candidates(), unless unknown */
    bool partial;    /* `node`'s path does not begin at its stack's root (pathmap/map/partial.h) */
    bool unread;     /* its path may run through code that could not be read; not set by the resolver */
    /* The candidates with their final probabilities, the most probable (`node`) first; NULL and 0 if unknown. Valid until the
     * next sample is resolved, i.e. during a sink's call. */
    const struct candidate_path *posterior;
    uint32_t posterior_count;
};

struct resolver;

/* numbers: of the trie that the map is over; NULL: the resolver makes its own. Both are borrowed. NULL: out
 * of memory. */
struct resolver *resolver_new(const struct pathmap *map, struct function_numbers *numbers);
void resolver_free(struct resolver *resolver);
/* From now on, only paths that are possible in a sample's setting are candidates. admission is borrowed, and
 * must be for the resolver's map. Call it before anything is resolved. */
void resolver_admit(struct resolver *resolver, const struct admission *admission);
/* Sets the share that the height automaton gives the node's path among those possible for its CID in the setting. Calls for the
 * same node and setting add up. Call it before the CID is resolved. 0 or -ENOMEM. */
int resolver_expect(struct resolver *resolver, uint32_t setting, uint32_t node, double share);
/* From now on, CIDs with expected shares are judged by these alone, as they account for what training saw, too (weights.h): S
 * is 0, and a single path is precise only if the others total less than RESOLVER_SURE. */
#define RESOLVER_SURE 0.01
void resolver_settle(struct resolver *resolver);
/* samples: by the map's nodes, how many unwound samples of this recording ended there; borrowed. Call it
 * before any CID is resolved. */
#define RESOLVER_AUDITS 3
void resolver_audited(struct resolver *resolver, const uint32_t *samples);
const struct pathmap *resolver_map(const struct resolver *resolver);
/* Finds the paths of a sample's CID, in its setting. */
int resolver_resolve(struct resolver *resolver, const struct cid *cid, uint32_t setting, struct resolved *out,
                     struct fathom_error *err);
/* The same for a CID in the map's numbers; out->cid is left unchanged. */
int resolver_resolve_cid(struct resolver *resolver, uint32_t function, uint32_t height, struct resolved *out,
                         struct fathom_error *err);
/* Finds the answer for a CID in a setting: 1; 0 if the map has no path that is possible there; -ENOMEM. */
int resolver_find(struct resolver *resolver, uint32_t setting, uint32_t function, uint32_t height,
                  uint32_t *answer);
/* The candidates of an answer as ranked by the map's counts alone; at most CANDIDATES_MAX. Valid until the
 * next resolver_resolve(). The candidates of all answers are numbered consecutively; this answer's start at
 * *first. */
uint32_t resolver_candidates(const struct resolver *resolver, uint32_t answer,
                             const struct candidate_path **out, uint32_t *first);
/* How many samples the ranking of an answer is worth: S + 1 above. */
double resolver_evidence(const struct resolver *resolver, uint32_t answer);
/* The kind of an answer if this node's path, one of its candidates, is the most probable. */
enum resolved_kind resolver_kind(const struct resolver *resolver, uint32_t answer, uint32_t node);
/* Makes a new answer (*out) from an old one by weighting each candidate with its likelihood: the probability of the other
 * evidence if that candidate is right (one per candidate). Paths that were dropped get the lowest of these likelihoods. 0 or
 * -ENOMEM. */
int resolver_weigh(struct resolver *resolver, uint32_t answer, const double *likelihoods, uint32_t *out);
/* Replaces a resolved sample's answer. */
void resolver_take(const struct resolver *resolver, uint32_t answer, struct resolved *resolved);
/* The map's number of an image's function; PATHMAP_NONE if it has none. O(1) after the first time. */
uint32_t resolver_function(struct resolver *resolver, const struct image *image, uint32_t function);
/* The map's number of a frame's function; PATHMAP_NONE if the map has none or the frame's CFA is unknown. */
uint32_t resolver_frame(struct resolver *resolver, const struct leaf_frame *frame);

#endif

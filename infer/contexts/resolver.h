/*
 * resolver.h - the engine: a sample in, its calling context out.
 *
 * Exact stage: sample -> CID -> candidates in the path map, their training counts -> the most probable
 * function path. Candidates that differ only in call sites or in outer heights are one path. With S training
 * samples whose innermost frame had this CID, and P walks through it, a path with s and p of them has
 * probability (s + p / P) / (S + 1): the counts, with one sample's worth of prior belief shared out by how
 * often each path was walked. Where training did not see every call, that belief goes by what the height
 * automaton expects (resolver_expect()) for paths that were never seen too, and walks are evidence, since the
 * function ran there: with n = s + (p - s) / 2 and N their sum, (n + expected) / (N + 1). Memoised by CID;
 * memory is bounded by the map. A result carries its probability; what cannot be told is RESOLVED_UNKNOWN
 * with its reason.
 */
#ifndef FATHOM_INFER_CONTEXTS_RESOLVER_H
#define FATHOM_INFER_CONTEXTS_RESOLVER_H

#include "infer/contexts/admission.h"
#include "infer/samples/cid.h"
#include "infer/samples/function_numbers.h"

enum resolved_kind {
    RESOLVED_PRECISE,   /* training saw one function path with this CID, the most probable one, and every call
                           into the function's image; or RESOLVER_AUDITS of this recording's unwound samples
                           have that path there, and none another; or the sample's own stack shows it (engine.h) */
    RESOLVED_AMBIGUOUS, /* it saw several, or there may be others; `node` is the most probable */
    RESOLVED_INFERRED,  /* training never saw the most probable path: the height automaton tells it */
    RESOLVED_UNKNOWN,   /* none does, or there is no CID: see `reason` */
};

/* One function path that has the sample's CID. */
struct candidate_path {
    uint32_t node;     /* of the map: the one of this path with the most samples, then passes */
    float probability; /* among all paths with the CID */
};
#define CANDIDATES_MAX 64 /* kept for each CID: the most probable */

struct resolved {
    enum resolved_kind kind;
    enum unknown_reason reason;
    struct cid cid;
    uint32_t node;      /* of the map: the most probable path; PATHMAP_NONE when unknown */
    uint32_t paths;     /* function paths that share the CID: degree of ambiguity. Those that training saw,
                           where it saw any and every call into the image */
    double probability; /* of `node`'s function path among them, 0 when unknown */
    uint32_t answer;    /* for resolver_candidates(), when not unknown */
    bool unread;        /* its path may run through code that nobody could read; not the resolver's */
    /* The paths that were kept with their settled probabilities, the most probable (`node`) first; NULL and
     * 0 when unknown. Good until the next sample is resolved: during a sink's call. */
    const struct candidate_path *posterior;
    uint32_t posterior_count;
};

struct resolver;

/* numbers: of the trie that the map is over; NULL: the resolver makes its own. Both are borrowed. NULL: out of
 * memory. */
struct resolver *resolver_new(const struct pathmap *map, struct function_numbers *numbers);
void resolver_free(struct resolver *resolver);
/* From now on candidates are those that can be in a sample's setting. admission is borrowed, and of the
 * resolver's map. To be called before anything is resolved. */
void resolver_admit(struct resolver *resolver, const struct admission *admission);
/* The node's path has this share among those that its CID can have in the setting, by the height automaton;
 * shares of one node there add up. 0 or -ENOMEM. To be called before the CID is resolved. */
int resolver_expect(struct resolver *resolver, uint32_t setting, uint32_t node, double share);
/* From now on expected shares are all that counts for the CIDs that have any, as they weigh what training
 * saw, too (weights.h): N is 0, and one path alone is precise only when the others have RESOLVER_SURE between
 * them. */
#define RESOLVER_SURE 0.01
void resolver_settle(struct resolver *resolver);
/* By the map's nodes, how many unwound samples of this recording ended there; borrowed. Before any CID is
 * resolved. */
#define RESOLVER_AUDITS 3
void resolver_audited(struct resolver *resolver, const uint32_t *samples);
const struct pathmap *resolver_map(const struct resolver *resolver);
/* process may be NULL, as above. */
int resolver_resolve(struct resolver *resolver, const struct process *process, const struct sample *sample,
                     uint32_t setting, struct resolved *out, struct fathom_error *err);
/* The same for a CID in the map's numbers; out->cid is left as it is. */
int resolver_resolve_cid(struct resolver *resolver, uint32_t function, uint32_t height, struct resolved *out,
                         struct fathom_error *err);
/* The answer for a CID in a setting: 1; 0 when the map knows no path that can be there; -ENOMEM. */
int resolver_find(struct resolver *resolver, uint32_t setting, uint32_t function, uint32_t height,
                  uint32_t *answer);
/* The candidates of an answer as the map's counts alone rank them; at most CANDIDATES_MAX. Good until the
 * next resolver_resolve(). All candidates of all answers are numbered: those of this one from *first on. */
uint32_t resolver_candidates(const struct resolver *resolver, uint32_t answer,
                             const struct candidate_path **out, uint32_t *first);
/* How many samples the ranks of an answer are worth: N + 1 above. */
double resolver_evidence(const struct resolver *resolver, uint32_t answer);
/* The kind of an answer when this node's path, one of its candidates, is the most probable. */
enum resolved_kind resolver_kind(const struct resolver *resolver, uint32_t answer, uint32_t node);
/* A new answer (*out): the candidates of an old one, each weighed by the likelihood of what else is known
 * when it is the right one (one for each candidate). Paths that were not kept are taken for as likely as the
 * least likely of them. 0 or -ENOMEM. */
int resolver_weigh(struct resolver *resolver, uint32_t answer, const double *likelihoods, uint32_t *out);
/* Makes a resolved sample's answer this one. */
void resolver_take(const struct resolver *resolver, uint32_t answer, struct resolved *resolved);
/* The map's number of an image's function, PATHMAP_NONE when it has none. O(1) after the first time. */
uint32_t resolver_function(struct resolver *resolver, const struct image *image, uint32_t function);
/* The map's number of the function that a sample is in, with its CFA there, whatever its stack's base;
 * PATHMAP_NONE: the map has none. */
uint32_t resolver_frame(struct resolver *resolver, const struct process *process, const struct sample *sample,
                        uint64_t *cfa);

#endif

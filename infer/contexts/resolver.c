/* resolver.c - the exact stage: from CID to function path, using the map's counts; see resolver.h. */
#include "infer/contexts/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "infer/contexts/outside.h"
#include "pathmap/map/partial.h"

/* What is known about one CID. */
struct answer {
    uint32_t paths;                /* function paths with the CID; only trained ones if there are any */
    uint32_t first, count;         /* range in the resolver's candidates; count is at least 1 */
    enum resolved_kind kind;       /* valid if training saw the path */
    enum resolved_kind first_kind; /* kind if the first candidate is the most probable */
    double evidence;               /* samples */
};

#define LEAST 1e-3 /* candidates that are less probable than this share of the best one are dropped */

/* All candidates of one function path. */
struct group {
    uint32_t path, node; /* node: the one with the most samples, then passes */
    uint64_t self, passes;
    uint64_t node_self, node_passes;
    uint64_t audits; /* unwound samples of this recording */
    double expected;
};

struct resolver {
    const struct pathmap *map;         /* borrowed */
    struct function_numbers *numbers;  /* the map's, or those of the trie it is over */
    struct function_numbers *own;      /* NULL: numbers is borrowed */
    const struct admission *admission; /* borrowed; NULL: any path is possible anywhere */
    struct table *memo;     /* hash of (setting, function, height) -> index in answers; known CIDs only */
    struct table *expected; /* setting << 32 | node -> its share, the bits of a double */
    const uint32_t *audits; /* by node; borrowed; NULL: none */
    struct answer *answers;
    size_t answer_count, answer_capacity;
    struct candidate_path *candidates;
    size_t candidate_count, candidate_capacity;
    struct group *groups; /* scratch */
    size_t group_capacity;
    bool settled;     /* resolver_settle() was called */
    bool any_partial; /* the map has partial paths */
};

struct resolver *resolver_new(const struct pathmap *map, struct function_numbers *numbers)
{
    struct resolver *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->map = map;
    const struct build_id none = {0};
    r->any_partial = pathmap_find_image(map, PARTIAL_IMAGE, &none, NULL) != PATHMAP_NONE;
    r->own = numbers ? NULL : function_numbers_of_map(map);
    r->numbers = numbers ? numbers : r->own;
    r->memo = table_new();
    r->expected = table_new();
    return whole_or_free(r, r->numbers && r->memo && r->expected, resolver_free);
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    function_numbers_free(r->own);
    table_free(r->memo);
    table_free(r->expected);
    free(r->answers);
    free(r->candidates);
    free(r->groups);
    free(r);
}

void resolver_admit(struct resolver *r, const struct admission *admission)
{
    r->admission = admission;
}

/* The representative of all equivalent settings. */
static uint32_t resolver_setting(const struct resolver *r, uint32_t setting)
{
    return r->admission ? admission_alike(r->admission, setting) : SETTING_ANY;
}

static double resolver_expected(const struct resolver *r, uint32_t setting, uint32_t node)
{
    const uint64_t *place = table_find(r->expected, (uint64_t)setting << 32 | node);
    double share = 0;
    if (place)
        memcpy(&share, place, sizeof share);
    return share;
}

int resolver_expect(struct resolver *r, uint32_t setting, uint32_t node, double share)
{
    setting = resolver_setting(r, setting);
    share += resolver_expected(r, setting, node);
    uint64_t *place = table_put(r->expected, (uint64_t)setting << 32 | node, NULL);
    if (!place)
        return -ENOMEM;
    memcpy(place, &share, sizeof share);
    return 0;
}

void resolver_audited(struct resolver *r, const uint32_t *samples)
{
    r->audits = samples;
}

void resolver_settle(struct resolver *r)
{
    r->settled = true;
}

static bool resolver_trained(const struct resolver *r, uint32_t node)
{
    struct pathmap_node n = pathmap_node(r->map, node);
    return pathmap_node_seen(&n);
}

const struct pathmap *resolver_map(const struct resolver *r)
{
    return r->map;
}

uint32_t resolver_function(struct resolver *r, const struct image *image, uint32_t function)
{
    uint32_t number = function_number(r->numbers, image, function);
    return number < pathmap_function_count(r->map) ? number : PATHMAP_NONE;
}

uint32_t resolver_frame(struct resolver *r, const struct leaf_frame *frame)
{
    return frame->reason == UNKNOWN_NOT ? resolver_function(r, frame->place.image, frame->place.function)
                                        : PATHMAP_NONE;
}

static int group_compare(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return order_of(x->path, y->path) ?: order_of(x->node, y->node);
}

/* Makes a group of each node of a CID that is possible in the setting; returns their number. */
static uint32_t resolver_admitted(struct resolver *r, uint32_t setting, uint32_t first, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node node = pathmap_node(r->map, i);
        if (setting != SETTING_ANY && !admission_allows(r->admission, setting, i))
            continue;
        r->groups[kept++] = (struct group){.path = node.path,
                                           .node = i,
                                           .self = node.self,
                                           .passes = node.passes,
                                           .node_self = node.self,
                                           .node_passes = node.passes,
                                           .audits = r->audits ? r->audits[i] : 0,
                                           .expected = resolver_expected(r, setting, i)};
    }
    return kept;
}

#define PARTIALS_MAX 16u /* bounds the work: partial paths of a CID that its others are compared with */

/* Collects into *out the nodes of the first candidates that are partial and were unwound in this recording. Returns their
 * number. */
static uint32_t find_unwound_partials(const struct resolver *r, uint32_t count, uint32_t out[PARTIALS_MAX])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < PARTIALS_MAX; i++)
        if (r->groups[i].audits && outside_is_partial(r->map, r->groups[i].node))
            out[found++] = r->groups[i].node;
    return found;
}

/* Drops the candidates that no stack of this recording has and that one of its partial paths contradicts (outside.h). Returns
 * how many are left. */
static uint32_t drop_contradicted(struct resolver *r, uint32_t count)
{
    uint32_t partials[PARTIALS_MAX], kept = 0, outermost;
    const uint32_t found = r->any_partial && r->audits ? find_unwound_partials(r, count, partials) : 0;
    for (uint32_t i = 0; found && i < count; i++) {
        const struct group group = r->groups[i];
        bool contradicted = false;
        for (uint32_t d = 0; d < found && !contradicted && !group.audits; d++)
            contradicted = outside_has_frames(r->map, group.node, partials[d], &outermost) &&
                           outside_contradicts(r->map, partials[d], outermost);
        if (!contradicted)
            r->groups[kept++] = group;
    }
    return found ? kept : count;
}

/* Groups the candidates by function path; returns the number of paths, or -ENOMEM. */
static int64_t resolver_group(struct resolver *r, uint32_t setting, uint32_t first, uint32_t count)
{
    if (!vec_reserve(r->groups, 0, r->group_capacity, count))
        return -ENOMEM;
    struct group *groups = r->groups;
    count = drop_contradicted(r, resolver_admitted(r, setting, first, count));
    if (count == 0)
        return 0;
    qsort(groups, count, sizeof *groups, group_compare);
    int64_t paths = 1;
    for (uint32_t i = 1; i < count; i++) {
        struct group *into = &groups[paths - 1], *from = &groups[i];
        if (from->path != into->path) {
            groups[paths++] = *from;
            continue;
        }
        into->self += from->self;
        into->passes += from->passes;
        into->audits += from->audits;
        into->expected += from->expected;
        if (from->node_self > into->node_self ||
            (from->node_self == into->node_self && from->node_passes > into->node_passes)) {
            into->node = from->node;
            into->node_self = from->node_self;
            into->node_passes = from->node_passes;
        }
    }
    return paths;
}

static int candidate_compare(const void *a, const void *b)
{
    const struct candidate_path *x = a, *y = b;
    return order_of(y->probability, x->probability) ?: order_of(x->node, y->node);
}

/* Whether training saw all paths with the CID, as far as can be determined. */
static bool is_exhaustive(const struct resolver *r, const struct group *groups, size_t paths)
{
    uint32_t function = pathmap_node(r->map, groups[0].node).function;
    uint64_t audits = 0;
    for (size_t i = 0; i < paths; i++)
        audits += groups[i].audits;
    return audits >= RESOLVER_AUDITS ||
           pathmap_image(r->map, pathmap_function(r->map, function).image).hooked;
}

/* Sets the kind of an answer with `trained` paths from training; `sure`: the others can be ruled out. */
static void set_kind(const struct resolver *r, size_t paths, uint32_t trained, bool sure, struct answer *out)
{
    bool exhaustive = is_exhaustive(r, r->groups, paths);
    out->paths = trained && exhaustive ? trained : (uint32_t)paths;
    out->kind = trained == 0                         ? RESOLVED_INFERRED
                : trained == 1 && sure && exhaustive ? RESOLVED_PRECISE
                                                     : RESOLVED_AMBIGUOUS;
}

/* Ranks the groups' candidates by probability (resolver.h). Counts are summed as doubles, since a file may hold any values. */
static void rank_groups(const struct resolver *r, size_t paths, struct candidate_path *ranked,
                        struct answer *out)
{
    const struct group *groups = r->groups;
    double self = 0, passes = 0, expected = 0;
    uint32_t trained = 0;
    for (size_t i = 0; i < paths; i++) {
        self += (double)groups[i].self;
        passes += (double)groups[i].passes;
        expected += groups[i].expected;
        trained += groups[i].self || groups[i].passes;
    }
    const bool settled = r->settled && expected > 0; /* the shares account for what training saw, too */
    if (settled)
        self = 0;
    for (size_t i = 0; i < paths; i++) {
        const struct group *g = &groups[i];
        double prior = expected > 0 ? g->expected / expected
                       : passes > 0 ? (double)g->passes / passes
                                    : 1.0 / (double)paths;
        double own = settled ? 0 : (double)g->self;
        ranked[i] = (struct candidate_path){g->node, (float)((own + prior) / (self + 1))};
    }
    qsort(ranked, paths, sizeof *ranked, candidate_compare);
    out->evidence = self + 1;
    set_kind(r, paths, trained, !settled || (double)ranked[0].probability > 1 - RESOLVER_SURE, out);
}

static void set_first_kind(const struct resolver *r, struct answer *answer)
{
    bool trained = resolver_trained(r, r->candidates[answer->first].node);
    answer->first_kind = trained ? answer->kind : RESOLVED_INFERRED;
}

/* Adds the paths of a CID to the candidates. false: out of memory. */
static bool resolver_rank(struct resolver *r, size_t paths, struct answer *out)
{
    if (!vec_reserve(r->candidates, r->candidate_count, r->candidate_capacity, paths))
        return false;
    *out = (struct answer){.first = (uint32_t)r->candidate_count,
                           .count = paths < CANDIDATES_MAX ? (uint32_t)paths : CANDIDATES_MAX};
    struct candidate_path *ranked = r->candidates + r->candidate_count;
    rank_groups(r, paths, ranked, out);
    while (out->count > 1 &&
           (double)ranked[out->count - 1].probability < LEAST * (double)ranked[0].probability)
        out->count--;
    set_first_kind(r, out);
    r->candidate_count += out->count;
    return true;
}

static bool resolver_add_answer(struct resolver *r, struct answer answer)
{
    return vec_push(r->answers, r->answer_count, r->answer_capacity, answer);
}

int resolver_find(struct resolver *r, uint32_t setting, uint32_t function, uint32_t height, uint32_t *out)
{
    uint64_t key = (uint64_t)function << 32 | height;
    setting = resolver_setting(r, setting);
    key ^= hash_u64(setting);
    uint64_t *known = table_find(r->memo, key);
    if (known) {
        *out = (uint32_t)*known;
        return 1;
    }
    uint32_t first, count = pathmap_find(r->map, function, height, &first);
    if (count == 0)
        return 0;
    struct answer answer;
    int64_t paths = resolver_group(r, setting, first, count);
    if (paths <= 0)
        return (int)paths;
    if (!resolver_rank(r, (size_t)paths, &answer) || !resolver_add_answer(r, answer) ||
        !table_set(r->memo, key, r->answer_count - 1))
        return -ENOMEM;
    *out = (uint32_t)(r->answer_count - 1);
    return 1;
}

enum resolved_kind resolver_kind(const struct resolver *r, uint32_t answer, uint32_t node)
{
    return resolver_trained(r, node) ? r->answers[answer].kind : RESOLVED_INFERRED;
}

double resolver_evidence(const struct resolver *r, uint32_t answer)
{
    return r->answers[answer].evidence;
}

uint32_t resolver_candidates(const struct resolver *r, uint32_t answer, const struct candidate_path **out,
                             uint32_t *first)
{
    *first = r->answers[answer].first;
    *out = r->candidates + *first;
    return r->answers[answer].count;
}

int resolver_weigh(struct resolver *r, uint32_t answer, const double *likelihoods, uint32_t *out)
{
    struct answer made = r->answers[answer];
    if (!vec_reserve(r->candidates, r->candidate_count, r->candidate_capacity, made.count))
        return -ENOMEM;
    const struct candidate_path *old = r->candidates + made.first;
    struct candidate_path *weighed = r->candidates + r->candidate_count;
    double kept = 0, sum = 0, least = likelihoods[0];
    for (uint32_t i = 0; i < made.count; i++) {
        kept += (double)old[i].probability;
        sum += (double)old[i].probability * likelihoods[i];
        least = likelihoods[i] < least ? likelihoods[i] : least;
    }
    if (kept < 1)
        sum += (1 - kept) * least;
    for (uint32_t i = 0; i < made.count; i++) {
        weighed[i] = old[i];
        if (sum > 0)
            weighed[i].probability = (float)((double)old[i].probability * likelihoods[i] / sum);
    }
    qsort(weighed, made.count, sizeof *weighed, candidate_compare);
    made.first = (uint32_t)r->candidate_count;
    set_first_kind(r, &made);
    if (!resolver_add_answer(r, made))
        return -ENOMEM;
    r->candidate_count += made.count;
    *out = (uint32_t)(r->answer_count - 1);
    return 0;
}

void resolver_take(const struct resolver *r, uint32_t index, struct resolved *out)
{
    const struct answer *answer = &r->answers[index];
    const struct candidate_path *best = &r->candidates[answer->first];
    out->kind = answer->first_kind;
    out->reason = UNKNOWN_NOT;
    out->node = best->node;
    out->paths = answer->paths;
    out->probability = out->least = out->most = (double)best->probability;
    out->factor = out->rate = out->seen = 1;
    out->answer = index;
    out->posterior = best;
    out->posterior_count = answer->count;
}

static int resolve_in(struct resolver *r, uint32_t setting, uint32_t function, uint32_t height,
                      struct resolved *out, struct fathom_error *err)
{
    uint32_t index;
    int found = resolver_find(r, setting, function, height, &index);
    if (found < 0)
        return error_memory(err);
    out->kind = RESOLVED_UNKNOWN;
    out->reason = UNKNOWN_CONTEXT;
    out->node = PATHMAP_NONE;
    if (found)
        resolver_take(r, index, out);
    return 0;
}

int resolver_resolve_cid(struct resolver *r, uint32_t function, uint32_t height, struct resolved *out,
                         struct fathom_error *err)
{
    return resolve_in(r, SETTING_ANY, function, height, out, err);
}

int resolver_resolve(struct resolver *r, const struct cid *cid, uint32_t setting, struct resolved *out,
                     struct fathom_error *err)
{
    struct resolved result = {
        .kind = RESOLVED_UNKNOWN, .node = PATHMAP_NONE, .cid = *cid, .reason = cid->reason};
    if (result.reason == UNKNOWN_NOT) {
        const struct place *place = &result.cid.place;
        uint32_t function = function_number(r->numbers, place->image, place->function);
        if (function == TRIE_NONE && !r->own)
            return error_memory(err);
        result.reason = UNKNOWN_CONTEXT;
        if (function < pathmap_function_count(r->map) && result.cid.height <= UINT32_MAX &&
            resolve_in(r, setting, function, (uint32_t)result.cid.height, &result, err) < 0)
            return -ENOMEM;
    }
    *out = result;
    return 0;
}

/* resolve.c - see resolve.h. */
#include "infer/engine/resolve.h"

#include <stdlib.h>

#include "infer/contexts/outside.h"
#include "infer/model/expectation.h"
#include "infer/model/inside.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "infer/model/chain_evidence.h"
#include "pathmap/map/partial.h"
#include "perfdata/stack_record.h"

/* How a node's path begins. */
enum begins { BEGINS_UNKNOWN, BEGINS_AT_ROOT, BEGINS_PARTIAL };

struct resolve {
    struct resolve_input in;
    struct smoother *smoother; /* NULL: samples are judged individually */
    struct inside *inside;
    struct chain_evidence *evidence;
    const struct image *noted;                   /* the last image noted in builds */
    enum begins *begins;                         /* by node of the map; NULL: all paths begin at a root */
    struct candidate_path shown[CANDIDATES_MAX]; /* scratch of deliver_answer() */
    struct candidate_path own;                   /* scratch of resolve_own() */
    struct candidate_path whole[CANDIDATES_MAX]; /* scratch of complete_own() */
    struct table *completed;                     /* node of a partial path -> result of find_seen() */
};

/* Whether the answer has a path that no training and no unwound stack shows. */
static bool has_unseen(const struct resolve *r, const struct resolved *answer)
{
    for (uint32_t i = 1; i < answer->posterior_count; i++) {
        const struct pathmap_node node = pathmap_node(fit_pathmap(r->in.fit), answer->posterior[i].node);
        if (!pathmap_node_seen(&node))
            return true;
    }
    return answer->kind == RESOLVED_INFERRED;
}

/* Drops candidates known only from inference if the sample's path may run through code that could not be read (unread.h). 0 or
 * -ENOMEM. */
static int drop_unread(struct resolve *r, struct resolved *answer)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    if (answer->kind == RESOLVED_UNKNOWN) {
        answer->reason = answer->reason == UNKNOWN_CONTEXT ? UNKNOWN_UNREAD : answer->reason;
        return 0;
    }
    /* Asked last, since it may read all of a file's code. */
    int concerns =
        has_unseen(r, answer) ? unread_concerns(r->in.unread, r->in.observer->calls, &answer->cid.place) : 0;
    if (concerns <= 0)
        return concerns;
    struct pathmap_node best = pathmap_node(map, answer->node);
    if (answer->kind == RESOLVED_INFERRED && best.parent != PATHMAP_NONE) {
        *answer = (struct resolved){
            .kind = RESOLVED_UNKNOWN, .reason = UNKNOWN_UNREAD, .cid = answer->cid, .node = PATHMAP_NONE};
        return 0;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < answer->posterior_count; i++) {
        struct pathmap_node node = pathmap_node(map, answer->posterior[i].node);
        if (i == 0 || pathmap_node_seen(&node))
            r->shown[kept++] = answer->posterior[i];
    }
    answer->posterior = r->shown;
    answer->posterior_count = kept;
    return 0;
}

static struct belief belief_of(const struct resolve *r, const struct resolved *answer)
{
    uint32_t unseen;
    if (!r->in.calibration || answer->kind == RESOLVED_UNKNOWN)
        return (struct belief){1, answer->probability, answer->probability, 1, 1};
    pathmap_unseen(fit_pathmap(r->in.fit), answer->node, &unseen);
    return calibration_belief(r->in.calibration, answer, unseen);
}

/* Scales the probabilities to what cross-validation found. */
static void scale_probabilities(struct resolve *r, struct resolved *answer)
{
    struct belief belief = belief_of(r, answer);
    if (answer->source == SOURCE_COMPARED && answer->kind != RESOLVED_UNKNOWN) {
        struct learner_agreement agreement = learner_agreement(r->in.observer->learner);
        belief.least = agreement.least;
        belief.most = agreement.most;
    }
    answer->factor = belief.factor;
    answer->rate = belief.rate;
    answer->seen = belief.seen;
    answer->least = belief.least;
    answer->most = belief.most;
    if (belief.factor >= 1)
        return;
    answer->probability *= belief.factor;
    for (uint32_t i = 0; i < answer->posterior_count; i++) {
        r->shown[i] = answer->posterior[i];
        r->shown[i].probability *= (float)belief.factor;
    }
    answer->posterior = r->shown;
    answer->probability = answer->posterior_count ? (double)r->shown[0].probability : answer->probability;
}

static bool is_cut(const struct resolve *r, const struct cid *cid)
{
    if (!cid->place.image || cid->place.function == IMAGE_NO_FUNCTION || cid->height > UINT32_MAX)
        return false;
    uint32_t function = resolver_function(fit_resolver(r->in.fit), cid->place.image, cid->place.function);
    return function != PATHMAP_NONE && fit_is_cut(r->in.fit, function, (uint32_t)cid->height);
}

/* Whether the path of a node is partial. */
static bool is_partial(struct resolve *r, uint32_t node)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    uint32_t outermost = node, at = node;
    if (!r->begins || node == PATHMAP_NONE)
        return false;
    for (; at != PATHMAP_NONE && r->begins[at] == BEGINS_UNKNOWN; at = pathmap_node(map, at).parent)
        outermost = at;
    enum begins begins = at != PATHMAP_NONE                                      ? r->begins[at]
                         : pathmap_node(map, outermost).height == PARTIAL_HEIGHT ? BEGINS_PARTIAL
                                                                                 : BEGINS_AT_ROOT;
    for (uint32_t i = node; i != at; i = pathmap_node(map, i).parent)
        r->begins[i] = begins;
    return begins == BEGINS_PARTIAL;
}

/* Whether a node of the map is on a partial path that was kept apart from whole ones. */
static bool is_apart(const struct resolve *r, uint32_t node)
{
    return partial_is_apart(pathmap_node(fit_pathmap(r->in.fit), node).height);
}

#define HELD_LEAST  200 /* held-out stacks: with fewer, callers of proved frames are not inferred */
#define WHOLE_LEAST 0.5 /* least probability of the callers of proved frames: what views require, too */

/* Whether a node's path is a whole one with the frames of a partial path, and what is outside of these does not contradict it.
 * *outermost: the node of the outermost of these frames. */
static bool completes_partial(struct resolve *r, uint32_t node, uint32_t partial, uint32_t *outermost)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    return !is_partial(r, node) && outside_has_frames(map, node, partial, outermost) &&
           !outside_contradicts(map, partial, *outermost);
}

/* The path of the partial one's CID in other stacks or training that completes it, if it has at least half of the passes of all
 * that do. PATHMAP_NONE: there is none. */
static uint32_t find_seen(struct resolve *r, uint32_t partial)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    const struct pathmap_node own = pathmap_node(map, partial);
    uint32_t first, count = pathmap_find(map, own.function, own.height, &first), best = PATHMAP_NONE,
                    last = PATHMAP_NONE;
    uint32_t outermost;
    double sum = 0, most = 0, passes = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const struct pathmap_node n = pathmap_node(map, i);
        if (!pathmap_node_seen(&n) || !completes_partial(r, i, partial, &outermost))
            continue;
        passes = (double)n.passes + (n.path == last ? passes : 0); /* nodes of one path are neighbours */
        last = n.path;
        sum += (double)n.passes;
        best = passes > most ? i : best;
        most = passes > most ? passes : most;
    }
    return most >= WHOLE_LEAST * sum ? best : PATHMAP_NONE;
}

/* The same, cached. */
static uint32_t seen_of(struct resolve *r, uint32_t partial)
{
    bool added;
    uint64_t *known = table_put(r->completed, partial, &added);
    uint32_t node = known && !added ? (uint32_t)*known : find_seen(r, partial);
    if (known)
        *known = node;
    return node;
}

static bool complete_by_seen(struct resolve *r, uint32_t partial, struct resolved *resolved)
{
    const uint32_t node = seen_of(r, partial);
    r->whole[0] = (struct candidate_path){.node = node, .probability = 1};
    resolved->kind = RESOLVED_AMBIGUOUS;
    resolved->posterior_count = 1;
    return node != PATHMAP_NONE;
}

/* Completes by the model: the candidates that have the proved frames. */
static bool complete_by_model(struct resolve *r, uint32_t partial, struct resolved *resolved)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    const struct candidate_path *all = resolved->posterior;
    const uint32_t count = resolved->kind == RESOLVED_UNKNOWN ? 0 : resolved->posterior_count;
    uint32_t at, outermost = PATHMAP_NONE;
    double sum = 0;
    resolved->posterior_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!completes_partial(r, all[i].node, partial, &at))
            continue;
        outermost = outermost == PATHMAP_NONE ? at : outermost;
        r->whole[resolved->posterior_count] = all[i];
        sum += (double)r->whole[resolved->posterior_count++].probability;
    }
    for (uint32_t i = 0; i < resolved->posterior_count; i++)
        r->whole[i].probability = (float)((double)r->whole[i].probability / sum);
    const struct pathmap_node outer = pathmap_node(map, outermost);
    if (resolved->posterior_count &&
        pathmap_node_seen(&outer)) /* the frames further in are proved, even if they were never seen there */
        resolved->kind = RESOLVED_AMBIGUOUS;
    return resolved->posterior_count > 0;
}

/* Completes a sample's own partial path to a whole one with the proved frames, if that is probable enough. The model can do so
 * only for stacks whose copy ended too early: others end at code that the model does not know. false: there is no such path. */
static bool complete_own(struct resolve *r, uint32_t partial, const struct sample *sample,
                         struct resolved *resolved)
{
    struct resolved whole = *resolved;
    const bool apart = is_apart(r, partial);
    if (apart && !sample->chain && /* with a chain, its callers weigh the candidates (chain_evidence.h) */
        (!r->in.calibration || calibration_stacks(r->in.calibration) < HELD_LEAST))
        return false;
    const bool found = apart ? complete_by_model(r, partial, &whole) : complete_by_seen(r, partial, &whole);
    if (!found)
        return false;
    whole.node = r->whole[0].node;
    whole.probability = whole.least = whole.most = (double)r->whole[0].probability;
    whole.posterior = r->whole;
    const double factor = whole.kind == RESOLVED_INFERRED ? belief_of(r, &whole).factor : 1;
    if (whole.probability * factor < WHOLE_LEAST)
        return false;
    *resolved = whole;
    return true;
}

/* Completes an answer whose path is known only in part, if training or other stacks have the whole path. */
static void complete_inferred(struct resolve *r, struct resolved *answer)
{
    const uint32_t node =
        answer->source == SOURCE_CID && is_partial(r, answer->node) ? seen_of(r, answer->node) : PATHMAP_NONE;
    if (node == PATHMAP_NONE)
        return;
    r->shown[0] = (struct candidate_path){node, (float)answer->probability};
    answer->posterior = r->shown;
    answer->posterior_count = 1;
    answer->kind = RESOLVED_AMBIGUOUS;
    answer->node = node;
}

/* A smoother_sink (context: the step): passes a sample's answer on to the caller's sink. */
static int deliver_answer(void *resolve, const struct process *process, const struct sample *sample,
                          const struct resolved *resolved, struct fathom_error *err)
{
    struct resolve *r = resolve;
    struct resolved answer = *resolved;
    if (answer.unread && drop_unread(r, &answer) < 0)
        return error_memory(err);
    if (answer.kind == RESOLVED_UNKNOWN && answer.reason == UNKNOWN_CONTEXT && is_cut(r, &answer.cid))
        answer.reason = UNKNOWN_CUT;
    complete_inferred(r, &answer);
    scale_probabilities(r, &answer);
    answer.partial = is_partial(r, answer.node);
    return r->in.sink(r->in.context, process, sample, &answer, err);
}

struct resolve *resolve_new(const struct resolve_input *input)
{
    struct resolver *resolver = fit_resolver(input->fit);
    struct coherence *model = fit_model(input->fit);
    struct resolve *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->in = *input;
    r->inside = inside_new(resolver);
    r->evidence = chain_evidence_new(resolver);
    const struct pathmap *map = fit_pathmap(input->fit);
    const struct build_id none = {0};
    const bool any_partial = pathmap_find_image(map, PARTIAL_IMAGE, &none, NULL) != PATHMAP_NONE;
    r->begins = any_partial ? calloc((size_t)pathmap_node_count(map) + 1, sizeof *r->begins) : NULL;
    r->smoother = model ? smoother_new(resolver, model, deliver_answer, r) : NULL;
    r->completed = table_new();
    return whole_or_free(
        r, r->completed && r->inside && r->evidence && (!any_partial || r->begins) && (!model || r->smoother),
        resolve_free);
}

void resolve_free(struct resolve *r)
{
    if (!r)
        return;
    smoother_free(r->smoother);
    inside_free(r->inside);
    chain_evidence_free(r->evidence);
    table_free(r->completed);
    free(r->begins);
    free(r);
}

/* Notes that the sample's thread is in this node of the trie now. */
static int take_true_path(struct resolve *r, const struct observed *observed, uint32_t node,
                          struct fathom_error *err)
{
    uint32_t state;
    struct fit *fit = r->in.fit;
    int rc = r->smoother ? expectation_true_path(fit_resolver(fit), fit_model(fit), observed->setting,
                                                 pathmap_number(fit_pathmap(fit), node), &state)
                         : 0;
    if (rc < 0)
        return error_memory(err);
    return rc ? smoother_true_path(r->smoother, observed->run, state, err) : 0;
}

/* Compares an image with the given map's build: the image that the sample ran in by its file's build-id, or one mapped by a
 * process with samples by the recorded build-id. 0 or -ENOMEM. */
static int note_build(struct resolve *r, const struct record *record, const struct image *ran)
{
    if (!r->in.builds)
        return 0;
    if (ran && ran != r->noted) {
        r->noted = ran;
        return builds_note(r->in.builds, image_path(ran), image_build_id(ran));
    }
    bool mapped = record->kind == RECORD_MMAP && table_find(r->in.observer->learner->ran, record->pid);
    return mapped ? builds_note_mapped(r->in.builds, record) : 0;
}

static enum resolved_source source_of(const struct sample *sample)
{
    if (sample->known != SAMPLE_STACK_SAME && sample->known != SAMPLE_STACK_KEPT)
        return sample->chain ? SOURCE_CHAIN : SOURCE_UNWOUND;
    return sample->compared == STACK_RECORD_ALL ? SOURCE_VERIFIED : SOURCE_COMPARED;
}

/* Answers with the path of the sample's own stack, or of one that the recorder found to be the same. */
static int resolve_own(struct resolve *r, const struct observed *observed, const struct sample *sample,
                       struct cid cid, struct fathom_error *err)
{
    enum resolved_source source = source_of(sample);
    bool sure = source != SOURCE_COMPARED;
    double probability = sure ? 1 : learner_agreement(r->in.observer->learner).right;
    r->own = (struct candidate_path){.node = pathmap_number(fit_pathmap(r->in.fit), observed->own),
                                     .probability = (float)probability};
    struct resolved resolved = {.kind = sure ? RESOLVED_PRECISE : RESOLVED_AMBIGUOUS,
                                .source = source,
                                .cid = cid,
                                .node = r->own.node,
                                .paths = 1,
                                .probability = probability,
                                .posterior = &r->own,
                                .posterior_count = 1};
    int rc = sure && !is_apart(r, r->own.node) ? take_true_path(r, observed, observed->own, err) : 0;
    return rc < 0 ? rc : deliver_answer(r, observed->process, sample, &resolved, err);
}

static int resolve_sample(struct resolve *r, const struct observed *observed,
                          const struct observation *observation, struct fathom_error *err)
{
    const struct record *record = observation->record;
    const struct sample *sample = &record->sample;
    struct process *process = observed->process;
    struct resolved resolved;
    const struct cid cid = cid_of_frame(process, sample, &observation->frame);
    int rc = resolver_resolve(fit_resolver(r->in.fit), &cid, observed->setting, &resolved, err);
    if (rc == 0)
        rc = inside_resolved(r->inside, &resolved, err);
    if (rc == 0)
        rc = chain_evidence_weigh(r->evidence, process, sample, &resolved, err);
    if (rc < 0)
        return rc;
    if (unread_note(r->in.unread, process) < 0 || note_build(r, record, resolved.cid.place.image) < 0)
        return error_memory(err);
    const bool own = observed->own != TRIE_NONE && process;
    const uint32_t node = own ? pathmap_number(fit_pathmap(r->in.fit), observed->own) : PATHMAP_NONE;
    if (own && !(is_partial(r, node) && complete_own(r, node, sample, &resolved)))
        return resolve_own(r, observed, sample, resolved.cid, err);
    resolved.unread = process && process_has_unread(process);
    return r->smoother && !own ? smoother_add(r->smoother, observed->run, process, sample, &resolved, err)
                               : deliver_answer(r, process, sample, &resolved, err);
}

/* Delivers the waiting samples of the process that a record changes, since the sink reads its name, program and memory. */
static int settle_before(struct resolve *r, const struct record *record, struct fathom_error *err)
{
    const bool exec = record->kind == RECORD_COMM && record->comm.exec,
               process_starts = record->kind == RECORD_FORK && record->pid != record->fork.parent_pid;
    if (!r->smoother ||
        (record->kind != RECORD_COMM && record->kind != RECORD_FORK && record->kind != RECORD_EXIT))
        return 0;
    const struct process *process = process_find(r->in.observer->processes, record->pid);
    return process ? smoother_settle(r->smoother, process,
                                     exec || process_starts ? SMOOTHER_ALL : record->tid, err)
                   : 0;
}

int resolve_take(void *resolve, const struct observation *observation, struct fathom_error *err)
{
    struct resolve *r = resolve;
    struct observed observed;
    int rc = settle_before(r, observation->record, err);
    if (rc == 0)
        rc = observer_take(r->in.observer, observation, &observed, err);
    if (rc == 0 && note_build(r, observation->record, NULL) < 0)
        rc = error_memory(err);
    if (rc < 0)
        return rc;
    const struct record *record = observation->record;
    if (record->kind == RECORD_EXIT && r->smoother)
        smoother_end(r->smoother,
                     process_thread_key(NULL, &(struct sample){.pid = record->pid, .tid = record->tid}));
    if (observed.true_path != TRIE_NONE)
        return take_true_path(r, &observed, observed.true_path, err);
    return observed.sample ? resolve_sample(r, &observed, observation, err) : 0;
}

int resolve_flush(struct resolve *r, struct fathom_error *err)
{
    return r->smoother ? smoother_settle(r->smoother, NULL, SMOOTHER_ALL, err) : 0;
}

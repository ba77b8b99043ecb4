/* resolve.c - see resolve.h. */
#include "infer/engine/resolve.h"

#include <stdlib.h>

#include "infer/model/expectation.h"
#include "infer/model/inside.h"
#include "infer/model/narrow.h"
#include "perfdata/stack_record.h"

struct resolve {
    struct resolve_input in;
    struct smoother *smoother; /* NULL: samples are judged individually */
    struct inside *inside;
    struct narrow *narrow;
    const struct image *noted;                   /* the last image noted in builds */
    struct candidate_path shown[CANDIDATES_MAX]; /* deliver() */
    struct candidate_path own;                   /* resolve_own() */
};

/* Removes candidates known only from inference, if the sample's path may run through code that could not be
 * read (unread.h). */
static void hide_unread(struct resolve *r, struct resolved *answer)
{
    const struct pathmap *map = fit_pathmap(r->in.fit);
    if (answer->kind == RESOLVED_UNKNOWN) {
        answer->reason = answer->reason == UNKNOWN_CONTEXT ? UNKNOWN_UNREAD : answer->reason;
        return;
    }
    struct pathmap_node best = pathmap_node(map, answer->node);
    if (answer->kind == RESOLVED_INFERRED && best.parent != PATHMAP_NONE) {
        *answer = (struct resolved){
            .kind = RESOLVED_UNKNOWN, .reason = UNKNOWN_UNREAD, .cid = answer->cid, .node = PATHMAP_NONE};
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < answer->posterior_count; i++) {
        struct pathmap_node node = pathmap_node(map, answer->posterior[i].node);
        if (i == 0 || pathmap_node_seen(&node))
            r->shown[kept++] = answer->posterior[i];
    }
    answer->posterior = r->shown;
    answer->posterior_count = kept;
}

/* Scales the probabilities by how far they can be believed. */
static void calibrate(struct resolve *r, struct resolved *answer)
{
    struct belief belief = {1, answer->probability, answer->probability, 1, 1};
    if (r->in.calibration && answer->kind != RESOLVED_UNKNOWN) {
        uint32_t unseen;
        pathmap_unseen(fit_pathmap(r->in.fit), answer->node, &unseen);
        belief = calibration_belief(r->in.calibration, answer, unseen);
    }
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

/* A smoother_sink (context: the step): passes a sample's answer on to the caller's sink. */
static int deliver(void *resolve, const struct process *process, const struct sample *sample,
                   const struct resolved *resolved, struct fathom_error *err)
{
    struct resolve *r = resolve;
    struct resolved told = *resolved;
    if (told.unread)
        hide_unread(r, &told);
    if (told.kind == RESOLVED_UNKNOWN && told.reason == UNKNOWN_CONTEXT && is_cut(r, &told.cid))
        told.reason = UNKNOWN_CUT;
    calibrate(r, &told);
    return r->in.sink(r->in.context, process, sample, &told, err);
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
    r->narrow = narrow_new(resolver);
    r->smoother = model ? smoother_new(resolver, model, deliver, r) : NULL;
    if (!r->inside || !r->narrow || (model && !r->smoother)) {
        resolve_free(r);
        r = NULL;
    }
    return r;
}

void resolve_free(struct resolve *r)
{
    if (!r)
        return;
    smoother_free(r->smoother);
    inside_free(r->inside);
    narrow_free(r->narrow);
    free(r);
}

/* The sample's thread is known to be in this node of the trie. */
static int take_anchor(struct resolve *r, const struct observed *observed, uint32_t node,
                       struct fathom_error *err)
{
    uint32_t state;
    struct fit *fit = r->in.fit;
    int rc = r->smoother ? expectation_anchor(fit_resolver(fit), fit_model(fit), observed->setting,
                                              pathmap_number(fit_pathmap(fit), node), &state)
                         : 0;
    if (rc < 0)
        return error_memory(err);
    return rc ? smoother_anchor(r->smoother, observed->run, state, err) : 0;
}

/* Checks an image against the given map: the image the sample ran in, by its file's build-id, or one mapped
 * by a process with samples, by the recorded build-id. 0 or -ENOMEM. */
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
    if (sample->known != SAMPLE_STACK_SAME)
        return sample->chain ? SOURCE_CHAIN : SOURCE_UNWOUND;
    return sample->compared == STACK_RECORD_ALL ? SOURCE_VERIFIED : SOURCE_COMPARED;
}

/* Answers with the path found in the sample's own stack, or in one that the recorder took for the same. */
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
    int rc = sure ? take_anchor(r, observed, observed->own, err) : 0;
    return rc < 0 ? rc : deliver(r, observed->process, sample, &resolved, err);
}

static int resolve_sample(struct resolve *r, const struct observed *observed, const struct record *record,
                          struct fathom_error *err)
{
    const struct sample *sample = &record->sample;
    struct process *process = observed->process;
    struct resolved resolved;
    int rc = resolver_resolve(fit_resolver(r->in.fit), process, sample, observed->setting, &resolved, err);
    if (rc == 0)
        rc = inside_resolved(r->inside, &resolved, err);
    if (rc == 0)
        rc = narrow_resolved(r->narrow, process, sample, &resolved, err);
    if (rc < 0)
        return rc;
    if (unread_note(r->in.unread, process) < 0 || note_build(r, record, resolved.cid.place.image) < 0)
        return error_memory(err);
    if (observed->own != TRIE_NONE && process)
        return resolve_own(r, observed, sample, resolved.cid, err);
    int unread = unread_concerns(r->in.unread, r->in.observer->calls, process, &resolved);
    if (unread < 0)
        return error_memory(err);
    resolved.unread = unread;
    return r->smoother ? smoother_add(r->smoother, observed->run, process, sample, &resolved, err)
                       : deliver(r, process, sample, &resolved, err);
}

int resolve_take(void *resolve, const struct record *record, struct fathom_error *err)
{
    struct resolve *r = resolve;
    struct observed observed;
    int rc = observer_take(r->in.observer, record, &observed, err);
    if (rc == 0 && note_build(r, record, NULL) < 0)
        rc = error_memory(err);
    if (rc < 0)
        return rc;
    if (observed.anchor != TRIE_NONE)
        return take_anchor(r, &observed, observed.anchor, err);
    return observed.sample ? resolve_sample(r, &observed, record, err) : 0;
}

int resolve_flush(struct resolve *r, struct fathom_error *err)
{
    return r->smoother ? smoother_flush(r->smoother, err) : 0;
}

/* learn.c - see learn.h. */
#include "infer/engine/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "infer/model/wilson.h"
#include "pathmap/map/partial.h"
#include "perfdata/announced.h"
#include "process/walked.h"

struct learner *learner_new(enum learn_from from, bool hold_back)
{
    struct learner *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct learner){.from = from, .hold_back = hold_back};
    l->trie = trie_new();
    l->trainer = l->trie ? trainer_new(l->trie) : NULL;
    l->origins = origins_new();
    l->bases = stack_bases_new();
    l->ran = table_new();
    l->numbers = table_new();
    l->code_places = code_places_new();
    l->made_frames = made_frames_new();
    if (l->trainer && l->origins && l->bases && l->ran && l->numbers && l->code_places && l->made_frames) {
        trainer_keep_apart(l->trainer);
        return l;
    }
    learner_free(l);
    return NULL;
}

void learner_free(struct learner *l)
{
    if (!l)
        return;
    trainer_free(l->trainer);
    trie_free(l->trie);
    origins_free(l->origins);
    stack_bases_free(l->bases);
    table_free(l->ran);
    table_free(l->numbers);
    code_places_free(l->code_places);
    made_frames_free(l->made_frames);
    free(l->announced);
    free(l->samples);
    free(l->walked);
    free(l);
}

void learner_events(struct learner *l, const struct event *events, size_t count, uint32_t event)
{
    l->events = events;
    l->event_count = count;
    l->event = event;
}

bool learner_is_first(const struct sample *sample)
{
    return sample->known == SAMPLE_STACK_NEW || sample->known == SAMPLE_STACK_KEPT;
}

bool learner_is_audit(const struct learner *l, const struct sample *sample)
{
    return sample->event < l->event_count && l->events[sample->event].audit;
}

/* Whether an audit sample is held back. Call it exactly once for each sample that might be. */
static bool is_held_back(struct learner *l, const struct sample *sample)
{
    uint64_t number = l->considered++;
    bool chosen = l->from == LEARN_NOTHING || (number >= AUDITS_FIRST && number % 10 == 0);
    return chosen && !sample_is_of(sample, l->event);
}

/* Counts a sample of this run that has this path. */
static int count_sample(struct learner *l, uint32_t node, struct fathom_error *err)
{
    if (node >= l->sample_nodes) {
        uint32_t nodes = trie_node_count(l->trie);
        if (!vec_reserve(l->samples, l->sample_nodes, l->sample_capacity, nodes - l->sample_nodes))
            return error_memory(err);
        memset(l->samples + l->sample_nodes, 0, (nodes - l->sample_nodes) * sizeof *l->samples);
        l->sample_nodes = nodes;
    }
    l->samples[node]++;
    return 0;
}

/* Notes how the thread's stack begins, according to the last dump entered. */
static int learn_origin(struct learner *l, const struct process *process, const struct sample *sample,
                        struct fathom_error *err)
{
    struct trainer_origin origin = trainer_origin(l->trainer);
    uint64_t base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN || base != origin.base)
        return 0;
    return origins_learn(l->origins, process, sample->tid, origin.outermost, base, origin.called)
               ? 0
               : error_memory(err);
}

static int store_announced(struct learner *l, const struct process *process, uint32_t number, uint32_t stack,
                           struct trainer_path path, struct fathom_error *err)
{
    uint64_t *index = table_put(l->numbers, number, NULL);
    size_t count;
    const struct unwind_frame *frames = trainer_frames(l->trainer, &count);
    uint32_t made;
    uint32_t code = index
                        ? code_places_add(l->code_places, process, frames, count, path.height + path.lowered)
                        : CODE_PLACES_NONE;
    if (code == CODE_PLACES_NONE ||
        made_frames_add(l->made_frames, process, frames, count, path.height, &made) < 0)
        return error_memory(err);
    *index = l->announced_count;
    return vec_push(l->announced, l->announced_count, l->announced_capacity,
                    (struct announced_path){path, stack, 0, code, made})
               ? 0
               : error_memory(err);
}

/* The recorder announced this stack as known, and also copied it as a check: compares the two paths, except for the innermost
 * function, which follows from the PC. */
static void check_announced(struct learner *l, uint32_t number, const struct trainer_path *path)
{
    const uint64_t *index = table_find(l->numbers, number);
    if (!index)
        return;
    struct announced_path *announced = &l->announced[*index];
    uint64_t claims = announced->claims + 1;
    bool agrees = trie_same_functions(l->trie, announced->path.callers, path->callers) &&
                  announced->path.height == path->height;
    announced->claims = 0;
    l->checked += claims;
    l->agreed += agrees ? claims : 0;
    l->squares += (double)claims * (double)claims;
}

/* Stores the base at which a known stack was found, if the thread has no base of its own. */
static int learn_placed_base(struct learner *l, struct process *process, const struct sample *sample,
                             struct fathom_error *err)
{
    uint64_t base;
    const enum stack_kind before = process_stack_base(process, sample->tid, sample->sp, &base);
    if (before == STACK_OWN || sample->placed->base <= sample->sp) /* as at the program's first instruction */
        return 0;
    int rc = process_set_stack(process, sample->tid, sample->sp, sample->placed->base, err);
    return rc < 0 ? rc : stack_bases_learn(l->bases, process, sample, before, err);
}

/* Enters a sample that has a stack announced before. */
static int learn_same(struct learner *l, struct process *process, const struct sample *sample,
                      struct learned *out, struct fathom_error *err)
{
    const uint64_t *index = table_find(l->numbers, sample->stack_number);
    if (!index)
        return 0;
    struct announced_path *announced = &l->announced[*index];
    out->stack = announced->stack;
    if (!code_places_hold(l->code_places, announced->code, process, sample->placed))
        return 0;
    int rc = sample->placed ? learn_placed_base(l, process, sample, err) : 0;
    if (rc < 0)
        return rc;
    if (!sample->placed && made_frames_rename(l->made_frames, announced->made, process, l->trainer, l->trie,
                                              &announced->path) < 0)
        return error_memory(err);
    announced->claims++;
    rc = trainer_repeat(l->trainer, &announced->path, process, sample, &out->node, err);
    return rc < 0 ? rc : 0;
}

/* Enters the sample's dump, and stores the stack base that it yields for later passes. */
static int learn_dump(struct learner *l, struct process *process, const struct sample *sample,
                      struct learned *out, struct fathom_error *err)
{
    uint64_t base;
    enum stack_kind before = process_stack_base(process, sample->tid, sample->sp, &base);
    enum unwind_end end;
    int entered = trainer_add(l->trainer, process, sample, &end, err);
    if (entered < 0)
        return entered;
    if (entered == 0) {
        l->not_learned[end]++;
        return 0;
    }
    l->learned++;
    struct trainer_path path = trainer_entered(l->trainer);
    out->node = path.leaf;
    if (sample->checks_number)
        check_announced(l, sample->checks_number, &path);
    if (learner_is_first(sample) &&
        store_announced(l, process, sample->stack_number, out->stack, path, err) < 0)
        return -ENOMEM;
    const bool based = !path.apart && !path.switched;
    int rc = based && !path.partial ? learn_origin(l, process, sample, err) : 0;
    return rc < 0 || !based ? rc : stack_bases_learn(l->bases, process, sample, before, err);
}

/* Stores the base that a proved call chain gives for the thread's stack, if the recording is Fathom's; not the path. */
static int learn_chain_base(struct learner *l, struct process *process, const struct sample *sample,
                            struct fathom_error *err)
{
    uint64_t base;
    enum stack_kind before = process_stack_base(process, sample->tid, sample->sp, &base);
    if (before == STACK_OWN)
        return 0;
    int rc = trainer_find_base(l->trainer, process, sample, err);
    return rc > 0 ? stack_bases_learn(l->bases, process, sample, before, err) : rc;
}

/* Jeffreys' estimator. */
struct learner_agreement learner_agreement(const struct learner *l)
{
    double checked = (double)l->checked, right = ((double)l->agreed + 0.5) / (checked + 1);
    struct wilson range = l->checked ? wilson_of((double)l->agreed / checked, checked * checked / l->squares)
                                     : (struct wilson){0, 1};
    return (struct learner_agreement){right, fmin(range.least, right), fmax(range.most, right)};
}

/* A number for the stack that was read for the sample; 0: none was. */
static uint32_t number_stack(struct learner *l, const struct sample *sample, bool audit)
{
    const struct sample read = announced_as_read(sample);
    if ((!read.stack && !read.walk) || (!audit && !learner_is_first(sample)))
        return 0;
    return audit ? ++l->audit_stacks : ++l->stacks;
}

/* Compares a stack's copy with the recorder's walk of it, if the sample has both. 0 or -ENOMEM. */
static int compare_walk(struct learner *l, const struct process *process, const struct sample *sample)
{
    if (!sample->walk || !sample->stack)
        return 0;
    if (!l->walked && !(l->walked = calloc(UNWIND_MAX_FRAMES, sizeof *l->walked)))
        return -ENOMEM;
    l->walks_compared++;
    l->walks_differing += !walked_agrees(process, sample, l->walked);
    return 0;
}

static int learn_sample(struct learner *l, struct process *process, const struct sample *sample, bool audit,
                        struct learned *out, struct fathom_error *err)
{
    out->stack = number_stack(l, sample, audit);
    if (sample->known == SAMPLE_STACK_SAME && l->from != LEARN_NOTHING)
        return learn_same(l, process, sample, out, err);
    bool wanted = l->from == LEARN_DUMPS || (l->from == LEARN_AUDITS && (audit || learner_is_first(sample)));
    if (!wanted && sample->chain == SAMPLE_CHAIN_PROVED)
        return learn_chain_base(l, process, sample, err);
    if ((!sample->stack && !sample->walk) || !wanted)
        return 0;
    if (compare_walk(l, process, sample) < 0)
        return error_memory(err);
    const struct sample read = l->from == LEARN_AUDITS ? announced_as_read(sample) : *sample;
    return learn_dump(l, process, &read, out, err);
}

int learner_take(struct learner *l, struct processes *processes, const struct record *record,
                 struct learned *out, struct fathom_error *err)
{
    *out = (struct learned){.node = TRIE_NONE};
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(processes, record, err);
    const struct sample *sample = &record->sample;
    bool audit = learner_is_audit(l, sample);
    struct process *process = process_at(processes, sample);
    if (!process || !sample->has_regs)
        return 0;
    if (!table_find(l->ran, sample->pid) && !table_put(l->ran, sample->pid, NULL))
        return error_memory(err);
    uint64_t base;
    if (!l->base_unknown && process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN)
        l->base_unknown = true;
    out->held_back = l->hold_back && sample->stack && audit && is_held_back(l, sample);
    if (out->held_back)
        return 0;
    int rc = learn_sample(l, process, sample, audit, out, err);
    if (rc < 0 || out->node == TRIE_NONE)
        return rc;
    const bool apart = partial_is_apart(trie_height(l->trie, out->node));
    if (apart && audit)
        out->node = TRIE_NONE; /* a path kept apart is no evidence for other samples */
    return apart ? 0 : count_sample(l, out->node, err);
}

int learner_observe(struct learner *l, struct processes *processes, const struct record *record,
                    struct observation *out, struct fathom_error *err)
{
    *out = (struct observation){.record = record};
    int rc = learner_take(l, processes, record, &out->learned, err);
    if (rc == 0 && record->kind == RECORD_SAMPLE)
        out->frame = leaf_frame_of(process_find(processes, record->sample.pid), &record->sample);
    return rc;
}

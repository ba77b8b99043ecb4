/* vote.c - see vote.h. */
#include "infer/engine/vote.h"

#include "pathmap/map/partial.h"

/* Whether the sample's path needs no base. Paths kept apart are partial because a base is missing. */
static bool is_proved(const struct trie *trie, uint32_t node)
{
    return node != TRIE_NONE && !partial_is_apart(trie_height(trie, node));
}

static int vote_by_map(void *observer, const struct observation *observation, struct fathom_error *err)
{
    struct observer *o = observer;
    const struct record *record = observation->record;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(o->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_at(o->processes, sample);
    return process && sample->has_regs
               ? stack_bases_vote(o->learner->bases, process, sample, &observation->frame,
                                  is_proved(o->learner->trie, observation->learned.node), err)
               : 0;
}

/* Collects votes for main threads' bases from the binaries' code; opens all their files. */
static int code_vote(void *observer, const struct observation *observation, struct fathom_error *err)
{
    struct observer *o = observer;
    const struct record *record = observation->record;
    const struct leaf_frame *frame = &observation->frame;
    struct learner *l = o->learner;
    const struct sample *sample = &record->sample;
    int rc = stack_bases_record(l->bases, record, err);
    if (rc == 0 && record->kind != RECORD_SAMPLE)
        rc = processes_apply(o->processes, record, err);
    if (rc == 0 && record->kind == RECORD_MMAP)
        observer_open_mapped(o, record);
    if (rc < 0 || record->kind != RECORD_SAMPLE)
        return rc;
    struct process *process = process_at(o->processes, sample);
    if (!process || process_has_stack(process, sample->tid) || frame->reason != UNKNOWN_NOT)
        return 0;
    uint32_t function = trainer_function(l->trainer, &frame->place);
    return function == TRIE_NONE ? error_memory(err)
                                 : stack_bases_code_vote(l->bases, sample, function, frame->cfa, err);
}

/* Finds main threads' bases that the map's votes did not. */
static int vote_by_code(const struct passes *passes, struct fit *fit, uint64_t *voted,
                        struct fathom_error *err)
{
    struct observer *o = passes->observer;
    struct learner *l = o->learner;
    struct statics statics;
    int rc = passes_run(passes, "finding stacks by code", false, code_vote, o, err);
    if (rc == 0)
        rc = statics_build(l->trie, o->images, o->calls, NULL, NULL, NULL, &statics, err);
    if (rc < 0)
        return rc;
    struct code_heights *heights = code_heights_new(&statics, trie_function_count(l->trie));
    rc = heights ? stack_bases_code_settle(l->bases, heights, voted, err) : error_memory(err);
    code_heights_free(heights);
    statics_free(&statics);
    return rc < 0 ? rc : fit_map(fit, err);
}

int vote_bases(const struct passes *passes, struct fit *fit, bool by_code, uint64_t *voted,
               struct fathom_error *err)
{
    struct observer *o = passes->observer;
    struct stack_bases *bases = o->learner->bases;
    int rc = stack_bases_ballot(bases, fit_resolver(fit), o->images, err);
    if (rc == 0)
        rc = passes_run(passes, "finding stacks", false, vote_by_map, o, err);
    if (rc == 0)
        rc = stack_bases_settle(bases, voted, err);
    return rc == 0 && by_code && stack_bases_want_code(bases) ? vote_by_code(passes, fit, voted, err) : rc;
}

/* observer.c - see observer.h. */
#include "infer/engine/observer.h"

bool observer_init(struct observer *o)
{
    o->settings = settings_new();
    return o->settings;
}

void observer_clear(struct observer *o)
{
    settings_free(o->settings);
    processes_free(o->processes);
    run_times_free(o->run_times);
}

int observer_begin(struct observer *o, struct fathom_error *err)
{
    const struct perf_event_attr *attr = &o->learner->events[o->event].attr;
    bool clock = attr_is_clock(attr) && !attr_is_waits(attr);
    processes_free(o->processes);
    run_times_free(o->run_times);
    o->processes = processes_new(o->images, o->log);
    o->run_times = run_times_new(clock ? o->event : RUN_TIME_NO_CLOCK);
    settings_begin_pass(o->settings);
    return o->processes && o->run_times ? stack_bases_begin(o->learner->bases, err) : error_memory(err);
}

static bool is_announced(const struct sample *sample)
{
    return sample->known == SAMPLE_STACK_SAME || learner_is_first(sample);
}

/* Copies what was learned from the sample's own stack. */
static void take_learned(struct observer *o, const struct observation *observation, struct observed *out)
{
    const struct sample *sample = &observation->record->sample;
    const struct learned *learned = &observation->learned;
    const bool held_out = o->folded && held_out_has(o->fold, learned);
    const uint32_t node = learned->node == TRIE_NONE || !o->copies ? learned->node : o->copies[learned->node];
    const bool audit = learner_is_audit(o->learner, sample);
    out->sample = sample_is_of(sample, o->event) || learned->held_back || (audit && held_out);
    if (audit)
        out->true_path = out->sample ? TRIE_NONE : node;
    else if (!held_out)
        out->own = o->own_dumps || is_announced(sample) ? node : TRIE_NONE;
}

int observer_take(struct observer *o, const struct observation *observation, struct observed *out,
                  struct fathom_error *err)
{
    struct learner *l = o->learner;
    const struct record *record = observation->record;
    *out = (struct observed){.true_path = TRIE_NONE, .own = TRIE_NONE};
    int rc = l->base_unknown ? stack_bases_record(l->bases, record, err) : 0;
    if (rc < 0 || record->kind != RECORD_SAMPLE)
        return rc < 0 ? rc : processes_apply(o->processes, record, err);
    const struct sample *sample = &record->sample;
    take_learned(o, observation, out);
    if (!out->sample && out->true_path == TRIE_NONE)
        return 0;
    out->process = process_at(o->processes, sample);
    bool placed = out->process && sample->has_regs;
    if (l->base_unknown && placed)
        rc = stack_bases_apply(l->bases, out->process, sample, err);
    if (rc == 0 && placed && settings_of(o->settings, l->origins, out->process, sample, &out->setting) < 0)
        rc = error_memory(err);
    out->run.thread_key = process_thread_key(out->process, sample);
    if (rc == 0 && o->times && run_times_pass(o->run_times, sample, &out->run) < 0)
        rc = error_memory(err);
    return rc;
}

void observer_open_mapped(const struct observer *o, const struct record *record)
{
    struct process *process = process_find(o->processes, record->pid);
    if (process && table_find(o->learner->ran, record->pid))
        process_mapping(process, record->mmap.address);
}

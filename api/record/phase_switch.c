#include "api/record/phase_switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/vec.h"
#include "image/cache.h"
#include "phases/tracker.h"
#include "process/process.h"
#include "profile/phasing.h"

#define THRESHOLD                                                                                            \
    0.17 /* with FATHOM_PHASE_SHARE: an error of 5% for regions of code, docs/benchmarks.md, "Phases" */

/* Why the other events are on in an interval. */
enum reason { NO_REASON, BY_POLICY, BY_TRIGGER, BY_REQUEST, REASONS };

/* An interval with the other events on. */
struct turn {
    uint64_t from;  /* time of the newest sample before it */
    uint32_t phase; /* the predicted phase; after the interval, the actual one */
};

struct phase_switch {
    struct collector *collector;
    const struct log *log;
    struct phase_switch_options options;
    struct decoder *decoder;
    struct image_cache *images; /* opens no files: only mappings are needed */
    struct processes *processes;
    struct phase_tracker *tracker;
    uint64_t time;              /* of the latest sample; samples of other CPUs can be older */
    struct phase_tally *phases; /* by number - 1 */
    size_t phase_count, capacity;
    enum reason on;
    struct turn *turns;
    size_t turn_count, turn_capacity;
    struct scaling_step *steps;            /* result of phase_switch_scaling() */
    uint64_t intervals, profiled[REASONS]; /* number of ended ones */
    uint64_t switches, switch_ns;
};

int phase_switch_new(struct collector *collector, const struct phase_switch_options *options,
                     const struct log *log, struct phase_switch **out, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(collector, &events);
    struct phase_switch *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    *s = (struct phase_switch){.collector = collector, .options = *options, .log = log};
    s->images = image_cache_new(&(struct image_options){.log = log});
    s->processes = s->images ? processes_new(s->images, log) : NULL;
    s->tracker = phase_tracker_new(&(struct phase_options){
        .interval = options->interval, .threshold = THRESHOLD, .capacity = PHASE_TABLE_PAPER});
    int rc = s->processes && s->tracker ? decoder_new(events, count, &s->decoder, err) : error_memory(err);
    if (rc < 0)
        phase_switch_free(s);
    else
        *out = s;
    if (rc == 0) {
        options->control->of = s;
        options->control->on = false;
    }
    return rc;
}

void phase_switch_free(struct phase_switch *s)
{
    if (!s)
        return;
    phase_tracker_free(s->tracker);
    processes_free(s->processes);
    image_cache_free(s->images);
    decoder_free(s->decoder);
    free(s->phases);
    free(s->turns);
    free(s->steps);
    free(s);
}

/* The region of code of a sample. Code without a file is identified by its address. false: the sample is not of the recorded program. */
static bool find_region(const struct phase_switch *s, const struct sample *sample, uint64_t *region)
{
    const struct phase_switch_user *user = s->options.user;
    const struct process *process = process_find(s->processes, sample->pid);
    const struct build_id *id;
    const struct mapping *m = process ? process_mapping_unopened(process, sample->ip, &id) : NULL;
    const bool no_file = !m || !m->path || strncmp(m->path, "//", 2) == 0;
    if (user && (no_file ? s->on != NO_REASON : strcmp(path_base(m->path), user->runtime) == 0))
        return false;
    *region = !m || !m->path ? sample->ip / PHASE_REGION_BYTES
                             : checksum_of(m->path, strlen(m->path)) +
                                   (sample->ip - m->start + m->offset) / PHASE_REGION_BYTES;
    return true;
}

/* Whether this file handles requests. */
static bool is_asked(const struct phase_switch *s)
{
    return s->options.control->of == s;
}

static void switch_events(struct phase_switch *s, enum reason on)
{
    if (!s->on != !on) {
        uint64_t from = clock_ns();
        if (s->options.user)
            s->options.user->turn(s->options.user->context, on);
        else
            collector_switch(s->collector, on);
        s->switch_ns += clock_ns() - from;
        s->switches++;
    }
    s->on = on;
    if (is_asked(s))
        s->options.control->on = on;
}

static struct phase_tally *phase_at(struct phase_switch *s, uint32_t phase)
{
    while (s->phase_count < phase)
        if (!vec_push(s->phases, s->phase_count, s->capacity, (struct phase_tally){0}))
            return NULL;
    return &s->phases[phase - 1];
}

/* Whether and why to profile the next interval, which is predicted to be of this phase. */
static enum reason decide_interval(const struct phase_switch *s, uint32_t next)
{
    struct phase_control *control = s->options.control;
    const bool triggered = collector_triggered(s->collector),
               once = is_asked(s) && atomic_exchange(&control->once, false);
    const int held = atomic_load(&control->held);
    return once || held == FATHOM_CONTROL_ON                                        ? BY_REQUEST
           : held == FATHOM_CONTROL_OFF                                             ? NO_REASON
           : triggered                                                              ? BY_TRIGGER
           : phase_sampling_wants(&s->options.sampling, next, &s->phases[next - 1]) ? BY_POLICY
                                                                                    : NO_REASON;
}

/* Counts an ended interval in which the other events were on. */
static void note_turn(struct phase_switch *s, uint32_t was, double weight)
{
    s->phases[was - 1].profiled++;
    s->phases[was - 1].profiled_weight += weight;
    s->profiled[s->on]++;
    s->turns[s->turn_count - 1].phase = was;
    s->options.control->profiled++;
    log_write(s->log, LOG_DEBUG, "interval %llu, of phase %u, was profiled", (unsigned long long)s->intervals,
              was);
}

static int end_interval(struct phase_switch *s, const struct phase_interval *ended, struct fathom_error *err)
{
    const bool by_phase = phase_sampling_by_phase(&s->options.sampling);
    const uint32_t was = by_phase ? ended->phase : 1,
                   next = by_phase ? phase_tracker_predicted(s->tracker) : 1;
    if (!phase_at(s, was > next ? was : next))
        return error_memory(err);
    s->intervals++;
    s->options.control->intervals++;
    s->phases[was - 1].intervals++;
    s->phases[was - 1].weight += ended->weight;
    if (s->on)
        note_turn(s, was, ended->weight);
    const struct phase_switch_user *user = s->options.user;
    int rc = user && s->on ? user->ended(user->context, was, err) : 0;
    if (rc < 0)
        return rc;
    switch_events(s, decide_interval(s, next));
    return !s->on || vec_push(s->turns, s->turn_count, s->turn_capacity, (struct turn){s->time, next})
               ? 0
               : error_memory(err);
}

static int take_sample(struct phase_switch *s, const struct sample *sample, struct fathom_error *err)
{
    struct phase_interval ended;
    uint64_t region;
    if (sample->event != 0 || !find_region(s, sample, &region))
        return 0;
    s->time = sample->time > s->time ? sample->time : s->time;
    int rc = phase_tracker_add(s->tracker,
                               &(struct phase_sample){s->time, (double)sample->period, &region, 1}, &ended);
    return rc < 0 ? error_memory(err) : rc ? end_interval(s, &ended, err) : 0;
}

int phase_switch_see(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct phase_switch *s = context;
    const uint8_t *at = records, *end = at + size;
    int rc = 0;
    while (rc == 0 && at < end) {
        struct perf_event_header header;
        struct record record;
        memcpy(&header, at, sizeof header);
        if (header.size < sizeof header || header.size > end - at)
            break;
        if (decoder_decode(s->decoder, at, header.size, &record, NULL) == 0)
            rc = record.kind == RECORD_SAMPLE ? take_sample(s, &record.sample, err)
                                              : processes_apply(s->processes, &record, err);
        at += header.size;
    }
    return rc;
}

size_t phase_switch_phases(const struct phase_switch *s, const struct phase_tally **out)
{
    *out = s->phases;
    return s->phase_count;
}

static uint64_t profiled_of(const struct phase_switch *s)
{
    return s->profiled[BY_POLICY] + s->profiled[BY_TRIGGER] + s->profiled[BY_REQUEST];
}

int phase_switch_scaling(struct phase_switch *s, struct scaling *out, struct fathom_error *err)
{
    const struct event *events;
    const size_t count = collector_events(s->collector, &events);
    uint64_t covered = 0;
    free(s->steps);
    s->steps = calloc(s->turn_count + 1, sizeof *s->steps);
    if (!s->steps)
        return error_memory(err);
    for (size_t i = 0; i < s->turn_count; i++) {
        const struct phase_tally *p = &s->phases[s->turns[i].phase - 1];
        const double factor = p->profiled ? (double)p->intervals / p->profiled : p->intervals;
        s->steps[i] = (struct scaling_step){s->turns[i].from, factor > 1 ? factor : 1};
    }
    for (size_t i = 0; i < s->phase_count; i++)
        covered += s->phases[i].profiled ? s->phases[i].intervals : 0;
    *out = (struct scaling){.steps = s->steps,
                            .count = s->turn_count,
                            .intervals = s->intervals,
                            .sampled = profiled_of(s),
                            .covered = s->intervals ? (double)covered / (double)s->intervals : 0};
    for (size_t i = 0; i < count && i < SCALING_EVENTS; i++)
        out->events |= (uint64_t)events[i].switched << i;
    return 0;
}

void phase_switch_tell(const struct phase_switch *s)
{
    char phases[64] = "", of[64] = "", asked[96] = "";
    size_t profiled = 0;
    for (size_t i = 0; i < s->phase_count; i++)
        profiled += s->phases[i].profiled > 0;
    if (phase_sampling_by_phase(&s->options.sampling)) {
        snprintf(phases, sizeof phases, "%zu phase%s in ", s->phase_count, s->phase_count == 1 ? "" : "s");
        snprintf(of, sizeof of, ", for %zu of the phases", profiled);
    }
    if (s->profiled[BY_TRIGGER] + s->profiled[BY_REQUEST])
        snprintf(asked, sizeof asked, " (%llu by --trigger, %llu on request)",
                 (unsigned long long)s->profiled[BY_TRIGGER], (unsigned long long)s->profiled[BY_REQUEST]);
    log_write(
        s->log, LOG_NOTE,
        "%s%llu interval%s; the other events were on in %llu of these%s%s; to switch took %.0f us each time",
        phases, (unsigned long long)s->intervals, s->intervals == 1 ? "" : "s",
        (unsigned long long)profiled_of(s), asked, of,
        s->switches ? (double)s->switch_ns / 1e3 / (double)s->switches : 0);
}

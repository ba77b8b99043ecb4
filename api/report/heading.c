/* heading.c - the heading of a report: what was recorded, and how far the report can be trusted. */
#include "api/report/reporting_data.h"

#include <string.h>

#include "base/saturate.h"
#include "api/inferred.h"
#include "base/script_language.h"
#include "perfdata/heap_event.h"
#include "perfdata/latency.h"
#include "perfdata/scaling.h"
#include "profile/interpreters.h"

/* The recorded command, "" if the recorder's own command line does not contain it. */
static const char *recorded_command(const struct reader *reader)
{
    const char *command = reader_command(reader), *end = command ? strstr(command, " -- ") : NULL;
    return end ? end + 4 : "";
}

/* Estimates the weight of lost records: the average of the kept ones, of all kinds. */
static uint64_t lost_weight(const struct reader_summary *summary, uint64_t weight)
{
    return summary->records
               ? count_saturating((double)summary->lost * (double)weight / (double)summary->records)
               : 0;
}

/* fathom record follows the event or, where it may not do that, adds an audit event. */
static void find_kinds(const struct reader *reader, bool *audits, bool *stacks)
{
    const struct event *events;
    *audits = *stacks = false;
    for (size_t i = reader_events(reader, &events); i-- > 0;) {
        *audits |= events[i].audit;
        *stacks |= events[i].stacks;
    }
}

/* The sums of the samples. */
static void fill_counts(struct view_heading *h, const struct profile_counts *counts)
{
    h->samples = counts->samples;
    h->weight = counts->weight;
    h->left_out = counts->left_out;
    h->proved = counts->by_certainty[CERTAINTY_PROVED];
    h->inferred = counts->by_certainty[CERTAINTY_INFERRED];
    h->unknown = counts->by_certainty[CERTAINTY_UNKNOWN];
    h->partial = counts->partial;
    h->kinds.precise = counts->by_kind[RESOLVED_PRECISE];
    h->kinds.ambiguous = counts->by_kind[RESOLVED_AMBIGUOUS];
    h->kinds.inferred = counts->by_kind[RESOLVED_INFERRED];
    memcpy(h->unknown_by_reason, counts->unknown_by_reason, sizeof counts->unknown_by_reason);
    h->base_unknown = counts->unknown_by_reason[UNKNOWN_BASE];
    h->bare = counts->unknown_by_reason[UNKNOWN_REGISTERS];
    h->expected = counts->expected;
    h->expected_least = counts->expected_least;
    h->expected_most = counts->expected_most;
    h->rests_on_inference =
        h->kinds.inferred + h->kinds.ambiguous + counts->unknown_by_reason[UNKNOWN_CONTEXT];
    h->verified = counts->by_source[SOURCE_VERIFIED];
    h->unwound = counts->by_source[SOURCE_UNWOUND];
    h->chains = counts->by_source[SOURCE_CHAIN];
    h->compared = counts->by_source[SOURCE_COMPARED];
    h->seen = counts->by_source[SOURCE_CID] - h->kinds.inferred;
    h->refused = counts->refused;
    h->returned = counts->returned;
}

/* What was recorded, and what was lost. After fill_counts(). */
static void fill_recording(const struct reporting *r, const struct reader *reader, struct view_heading *h)
{
    struct reader_summary summary;
    const struct event *events;
    bool audits;
    reader_events(reader, &events);
    const struct event *event = &events[r->event];
    const struct scaling *scaling = reader_scaling(reader, r->event);
    reader_summary(reader, &summary);
    find_kinds(reader, &audits, &h->followed);
    h->command = reader_command(reader);
    h->event = event->name;
    h->other_events = r->others;
    h->calls = latency_event_of(&event->attr) != LATENCY_NONE;
    h->user_only = event->attr.exclude_kernel && !h->calls;
    h->waits = attr_is_waits(&event->attr);
    h->wall = attr_is_wall(&event->attr);
    h->allocations = heap_event_of(&event->attr) != HEAP_NONE;
    h->by_thread = event->attr.inherit;
    h->foreign = !summary.stacks && !audits && !h->followed;
    h->other_event =
        !h->followed && !attr_is_clock(&event->attr) && !(event->attr.sample_type & PERF_SAMPLE_STACK_USER);
    if (r->options->metric == metric_table && !r->filter && !h->waits &&
        !h->calls) { /* the weights are in the event's unit */
        h->counted = summary.counted;
        h->cpu_time = summary.cpu_time;
    }
    h->counted_share = summary.counted_share;
    if (scaling) {
        h->intervals = scaling->intervals;
        h->sampled = scaling->sampled;
        h->covered = scaling->covered;
    }
    h->started = summary.started;
    h->unsampled = summary.unsampled;
    h->lost = summary.lost;
    h->lost_weight = lost_weight(&summary, h->weight);
    h->throttled = summary.throttled;
    h->damaged = summary.damaged;
    h->unended = h->calls ? summary.unended : 0;
    h->unresolved = summary.unresolved;
    h->scripts_apart = summary.script_readings > 0;
    h->truncated = summary.truncated;
}

/* What inference was based on, and how often it was right. */
static int fill_inference(const struct reporting *r, const struct cached_maps *kept,
                          const struct reader *reader, struct view_heading *h, struct fathom_error *err)
{
    static const enum expected_by by_training[] = {[TRAINED_BY_NOTHING] = EXPECTED_BY_NOTHING,
                                                   [TRAINED_BY_SLICES] = EXPECTED_BY_SLICES,
                                                   [TRAINED_BY_INPUTS] = EXPECTED_BY_INPUTS};
    struct engine_summary learned;
    struct score checked;
    int rc = evaluation_score(r->checked, &checked, err);
    if (rc < 0)
        return rc;
    engine_summary(r->engine, &learned);
    h->map = r->map_name;
    h->kept = kept->recordings;
    h->training = r->map_name || kept->map ? NULL : recorded_command(reader);
    h->audit_samples = learned.learned;
    h->walks_compared = learned.walks_compared;
    h->walks_differing = learned.walks_differing;
    h->audits_checked = count_saturating(checked.all.weight);
    h->audits_right = count_saturating(checked.right.weight);
    h->inferences = inferences_of(&learned);
    if (learned.trained) {
        h->expected_by = by_training[learned.trained->by];
        h->expected_parts = learned.trained->parts;
    }
    /* The line explains why callers are unknown; the files may have no samples at all. */
    bool concerned = h->partial || h->unknown_by_reason[UNKNOWN_UNREAD] ||
                     h->unknown_by_reason[UNKNOWN_MAPPING] || h->unknown_by_reason[UNKNOWN_RUN_TIME];
    h->unread = learned.unread;
    h->unread_count = concerned ? learned.unread_count : 0;
    return 0;
}

void heading_fill_uninlined(struct view_heading *h, const struct image_cache *images)
{
    const struct image *image;
    uint64_t size;
    while ((image = image_cache_unread(images, h->uninlined_count, &size))) {
        if (h->uninlined_count < UNINLINED_NAMED)
            h->uninlined[h->uninlined_count] = image_name(image);
        h->uninlined_count++;
        h->uninlined_bytes = add_saturating(h->uninlined_bytes, size);
    }
}

int heading_fill(struct reporting *r, const struct cached_maps *kept, const struct reader *reader,
                 struct fathom_error *err)
{
    static const char *reasons[UNKNOWN_REASONS];
    const struct framing_options *framing = &r->options->profile.framing;
    struct view_heading *h = &r->heading;
    struct profile_counts counts;
    for (unsigned i = 0; i < UNKNOWN_REASONS; i++)
        reasons[i] = unknown_reason_text((enum unknown_reason)i);
    profile_counts(r->profile, &counts);
    *h = (struct view_heading){.reason_text = reasons, .reason_count = UNKNOWN_REASONS};
    fill_counts(h, &counts);
    if (!framing->levels.count)
        h->process_count = process_shares_heaviest(profile_processes(r->profile), h->processes,
                                                   PROCESSES_NAMED, &h->other_processes);
    fill_recording(r, reader, h);
    h->interpreter = interpreter_in(&r->contexts);
    h->scripts_inlined = interpreters_run(&r->contexts, SCRIPT_JAVASCRIPT);
    h->native = framing->native && !framing->script;
    heading_fill_uninlined(h, r->images);
    return fill_inference(r, kept, reader, h, err);
}

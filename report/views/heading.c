/* heading.c - the heading of every report: what was recorded, and how far to trust it; see view.h. */
#include <string.h>

#include "base/saturate.h"
#include "report/text/printer.h"
#include "report/text/weight.h"
#include "report/views/view.h"

enum { REASONS_MAX = sizeof((struct view_heading *)0)->unknown_by_reason / sizeof(uint64_t) };

/* " (0.9% not in the map, 0.5% no base)": the reasons, heaviest first. */
static void write_reasons(struct printer *printer, const struct view_heading *heading)
{
    bool written[REASONS_MAX] = {false};
    unsigned count = heading->reason_count < REASONS_MAX ? heading->reason_count : REASONS_MAX;
    bool any = false;
    for (;;) {
        unsigned best = count;
        for (unsigned i = 0; i < count; i++) {
            if (!written[i] && heading->unknown_by_reason[i] > 0 &&
                (best == count || heading->unknown_by_reason[i] > heading->unknown_by_reason[best]))
                best = i;
        }
        if (best == count)
            break;
        written[best] = true;
        char share[SHARE_SIZE];
        printer_write(printer, "%s%s %s", any ? ", " : " (",
                      share_format(share, heading->unknown_by_reason[best], heading->weight),
                      heading->reason_text[best]);
        any = true;
    }
    printer_write(printer, any ? ")" : "");
}

static void write_word(struct printer *printer, const char *label, const char *word)
{
    if (!word)
        return;
    printer_write(printer, "%s", label);
    printer_foreign(printer, word);
    printer_write(printer, "\n");
}

/* What gives more unwound stacks. */
static const char *more_stacks(const struct view_heading *heading)
{
    if (heading->foreign)
        return "record with \"fathom record\", which unwinds some";
    return heading->followed
               ? "record longer, or with a larger --dumps; of stacks above 60 KB none is unwound"
               : "record longer, or with a larger --audit";
}

/* With neither a map nor an unwound stack, callers are known only from the binaries' code: even rows that
 * seem sure can be wrong, as nothing shows which functions ran. */
static void write_unwound_none(struct printer *printer, const struct view_heading *heading)
{
    if (heading->training && heading->audit_samples == 0 && heading->rests_on_inference > 0)
        printer_write(printer,
                      "warning:  no unwound stack was used: paths are based only on the binaries' code, and "
                      "many may be wrong (%s; or train a map)\n",
                      more_stacks(heading));
}

#define FEW_STACKS    20u /* unwound: fewer show only a small part of what runs */
#define INFERRED_MANY 0.1 /* of the weight: what is worth a warning */

/* The reported certainty is based on few stacks, or on stacks of something other than what was sampled. */
static void write_unwound_few(struct printer *printer, const struct view_heading *heading)
{
    if (heading->audit_samples == 0 ||
        (double)heading->rests_on_inference <= INFERRED_MANY * (double)heading->weight)
        return;
    if (heading->other_event)
        printer_write(
            printer,
            "warning:  the unwound stacks were sampled by time and say little about where this event "
            "happens: rows can look surer than they are (train a map with this event: fathom train -e)\n");
    else if (heading->audit_samples < FEW_STACKS)
        printer_write(printer,
                      "warning:  %llu unwound stack%s show%s only a small part of what runs: rows can look "
                      "surer than they are (%s%s)\n",
                      (unsigned long long)heading->audit_samples, heading->audit_samples == 1 ? "" : "s",
                      heading->audit_samples == 1 ? "s" : "", more_stacks(heading),
                      heading->map ? "" : "; or train a map");
}

/* What the contexts are based on, and what would make them more certain. */
static void write_belief(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if (heading->audit_samples > 0)
        printer_write(printer, "audit:    %llu unwound stack%s of this recording %s used\n",
                      (unsigned long long)heading->audit_samples, heading->audit_samples == 1 ? "" : "s",
                      heading->audit_samples == 1 ? "was" : "were");
    if (heading->audits_checked > 0)
        printer_write(printer,
                      "measured: %llu of %llu unwound stacks held back for checking were inferred right\n",
                      (unsigned long long)heading->audits_right, (unsigned long long)heading->audits_checked);
    if (heading->training && heading->rests_on_inference > 0) {
        printer_write(printer, "training: %s of the weight depends on inference; \"fathom train%s",
                      share_format(share, heading->rests_on_inference, heading->weight),
                      *heading->training ? " -- " : "");
        printer_foreign(printer, heading->training);
        printer_write(printer, "\" would learn its paths\n");
    }
}

#define UNREAD_SHOWN 4u /* names; the others are only counted */

/* Images whose code could not be read, so that it is unknown what they call. */
static void write_unread(struct printer *printer, const struct view_heading *heading)
{
    if (heading->unread_count == 0)
        return;
    printer_write(printer, "unread:   ");
    for (size_t i = 0; i < heading->unread_count && i < UNREAD_SHOWN; i++) {
        printer_write(printer, i ? ", " : "");
        printer_foreign(printer, heading->unread[i]);
    }
    if (heading->unread_count > UNREAD_SHOWN)
        printer_write(printer, " and %zu more", heading->unread_count - UNREAD_SHOWN);
    printer_write(printer, ": samples that may have come through %s are unknown\n",
                  heading->unread_count > 1 ? "them" : "it");
}

static void write_lost(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char weight[WEIGHT_SIZE];
    double all = (double)heading->weight + (double)heading->lost_weight;
    printer_write(printer, "warning:  %llu records were lost", (unsigned long long)heading->lost);
    if (heading->lost_weight > 0)
        printer_write(printer, ", about %s%s%s (%.1f%% of all)",
                      weight_format(weight, heading->lost_weight, unit), strcmp(unit, WEIGHT_NS) ? " " : "",
                      strcmp(unit, WEIGHT_NS) ? unit : "", 100 * (double)heading->lost_weight / all);
    printer_write(printer, " because the rings were full (use a larger --ring or sample less often)\n");
}

#define UNSAMPLED_LEAST 0.1  /* of the threads, and of the weight, are worth a warning */
#define COUNTED_MOST    0.99 /* of the time: less is worth a warning (readings differ by less than that) */

static const char *unit_behind(const char *unit)
{
    return strcmp(unit, WEIGHT_NS) ? unit : "";
}

/* A thread starts with a full period: if it ends sooner, it has no sample. */
static void write_unsampled(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char missed[WEIGHT_SIZE], all[WEIGHT_SIZE];
    uint64_t without = heading->counted > heading->weight ? heading->counted - heading->weight : 0;
    if (!heading->by_thread || (double)heading->unsampled <= UNSAMPLED_LEAST * (double)heading->started ||
        (double)without <= UNSAMPLED_LEAST * (double)heading->counted)
        return;
    const char *gap = *unit_behind(unit) ? " " : "";
    printer_write(
        printer,
        "warning:  %s of %s%s%s that were counted had no sample: %llu of %llu threads ended before "
        "their first one%s (sample more often, or record with --per-cpu always, which needs permission)\n",
        weight_format(missed, without, unit), weight_format(all, heading->counted, unit), gap,
        unit_behind(unit), (unsigned long long)heading->unsampled, (unsigned long long)heading->started,
        heading->user_only && !*unit_behind(unit) ? ", and time in the kernel has none" : "");
}

#define MISSING_LEAST 0.01 /* of the weight: what is worth a warning */
#define RECORD_ANEW                                                                                          \
    "record with \"fathom record\", or with \"perf record --intr-regs=sp,ip,bp --call-graph dwarf,32768\""

/* Without the stack pointer the context cannot be determined. */
static void write_bare(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if ((double)heading->bare > MISSING_LEAST * (double)heading->weight)
        printer_write(printer,
                      "warning:  %s of the weight was recorded without registers, and its contexts cannot be "
                      "found: " RECORD_ANEW "\n",
                      share_format(share, heading->bare, heading->weight));
}

/* Stock perf does not record stack bases; voting needs a map, and the code alone is enough for few programs.
 */
static void write_bases(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if ((double)heading->base_unknown <= MISSING_LEAST * (double)heading->weight)
        return;
    if (!heading->foreign) {
        printer_write(printer,
                      "warning:  %s of the weight is in processes that ended before their stack could be "
                      "located, or on stacks that no thread started on (coroutines, signal handlers)%s\n",
                      share_format(share, heading->base_unknown, heading->weight),
                      heading->map ? "" : ": a trained map (--map) resolves most of it");
        return;
    }
    printer_write(printer,
                  "warning:  the recording does not contain the bases of stacks, and for %s of the weight "
                  "they could not be determined: " RECORD_ANEW "%s\n",
                  share_format(share, heading->base_unknown, heading->weight),
                  heading->map ? "" : ", or give a trained map (--map)");
}

/* The recorder reads unknown stacks up to a limit. */
static void write_refused(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if ((double)heading->refused > MISSING_LEAST * (double)heading->weight)
        printer_write(
            printer,
            "warning:  for %s of the weight, the stack was not known and not read, as too many were new: "
            "their paths are inferred (record longer, with \"--dumps unlimited\" or a larger --ring)\n",
            share_format(share, heading->refused, heading->weight));
}

static void write_warnings(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    write_bare(printer, heading);
    write_refused(printer, heading);
    write_unwound_few(printer, heading);
    write_bases(printer, heading);
    if (heading->lost > 0)
        write_lost(printer, heading, unit);
    write_unsampled(printer, heading, unit);
    if (heading->counted_share > 0 && heading->counted_share < COUNTED_MOST)
        printer_write(printer,
                      "warning:  the event was counted only %.0f%% of the time, as it shared the counter "
                      "with others: weights are what was counted, not scaled up\n",
                      100 * heading->counted_share);
    if (heading->throttled > 0)
        printer_write(printer,
                      "warning:  the kernel throttled sampling %llu times: busy periods are underweighted\n",
                      (unsigned long long)heading->throttled);
    if (heading->damaged > 0)
        printer_write(printer, "warning:  %llu damaged records were left out\n",
                      (unsigned long long)heading->damaged);
    if (heading->truncated)
        printer_write(printer, "warning:  the recording ends early: its last part is missing\n");
}

/* What was sampled, where and how often. */
static void write_samples(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char weight[WEIGHT_SIZE];
    printer_write(printer, "samples:  %llu", (unsigned long long)heading->samples);
    if (heading->event) {
        printer_write(printer, " of ");
        printer_foreign(printer, heading->event);
    }
    if (heading->other_events && *heading->other_events) {
        printer_write(printer, " (--event: ");
        printer_foreign(printer, heading->other_events);
        printer_write(printer, ")");
    }
    if (heading->user_only)
        printer_write(printer, ", in user space only (the kernel was not sampled)");
    if (strcmp(unit, WEIGHT_NS) == 0)
        printer_write(printer, ": %s", weight_format(weight, heading->weight, unit));
    else if (heading->weight != heading->samples)
        printer_write(printer, ": weight %s %s", weight_format(weight, heading->weight, unit), unit);
    printer_write(printer, "\n");
}

/* Percentages below are of what is left. */
static void write_left_out(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    uint64_t all = add_saturating(heading->weight, heading->left_out);
    if (heading->left_out > 0)
        printer_write(printer, "left out: %s of the weight, by the options\n",
                      share_format(share, heading->left_out, all));
}

#define RANGE_LEAST 0.02 /* of the weight: what is narrower is not told */

/* How much weight is right, and where few stacks tell that, how much it is at least and at most. */
static void write_expected(struct printer *printer, const struct view_heading *heading)
{
    char expected[SHARE_SIZE], least[SHARE_SIZE], most[SHARE_SIZE];
    double wide = heading->expected_most - heading->expected_least;
    if (heading->weight == 0)
        return;
    printer_write(printer, "; %s expected on the right path",
                  share_format(expected, (uint64_t)(heading->expected + 0.5), heading->weight));
    if (wide >= RANGE_LEAST * (double)heading->weight)
        printer_write(printer, " (%s to %s)",
                      share_format(least, (uint64_t)(heading->expected_least + 0.5), heading->weight),
                      share_format(most, (uint64_t)(heading->expected_most + 0.5), heading->weight));
}

struct part {
    uint64_t weight;
    const char *text;
};

/* ", 20.0% inferred (15.0% seen at the same height, 5.0% never seen)", or what alone it consists of: "(never seen)" */
static void write_certainty(struct printer *printer, const struct view_heading *heading, const char *before,
                            struct part all, const struct part *parts, size_t count)
{
    char share[SHARE_SIZE];
    const char *between = " (";
    printer_write(printer, "%s%s %s", before, share_format(share, all.weight, heading->weight), all.text);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].weight == 0)
            continue;
        printer_write(printer, "%s", between);
        if (parts[i].weight < all.weight)
            printer_write(printer, "%s ", share_format(share, parts[i].weight, heading->weight));
        printer_write(printer, "%s", parts[i].text);
        between = ", ";
    }
    printer_write(printer, *between == ',' ? ")" : "");
}

/* How much of the weight has a path that is proved, or inferred, and what from. */
static void write_paths(struct printer *printer, const struct view_heading *heading)
{
    const struct part proved[] = {{heading->verified, "verified"},
                                  {heading->unwound, "unwound"},
                                  {heading->chains, "by call chains"}},
                      inferred[] = {{heading->compared, "compared in part"},
                                    {heading->seen, "seen at the same height"},
                                    {heading->inferred - heading->compared - heading->seen, "never seen"}};
    write_certainty(printer, heading, "paths:    ", (struct part){heading->proved, "proved"}, proved, 3);
    write_certainty(printer, heading, ", ", (struct part){heading->inferred, "inferred"}, inferred, 3);
    write_certainty(printer, heading, ", ", (struct part){heading->unknown, "unknown"}, NULL, 0);
    write_reasons(printer, heading);
    write_expected(printer, heading);
    printer_write(printer, "\n");
}

/* Unless stacks of the recording's own say nearly all. */
static void write_kept(struct printer *printer, const struct view_heading *heading, bool always)
{
    if (heading->kept &&
        (always || (double)(heading->weight - heading->proved) > MISSING_LEAST * (double)heading->weight))
        printer_write(
            printer,
            "map:      what %u other recording%s learned of the same programs (--no-cache: not used)\n",
            heading->kept, heading->kept == 1 ? "" : "s");
}

int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err)
{
    struct printer printer = {.out = out};
    if (options->verbose) {
        write_word(&printer, "command:  ", heading->command);
        write_word(&printer, "map:      ", heading->map);
    }
    write_kept(&printer, heading, options->verbose);
    write_samples(&printer, heading, options->unit ? options->unit : "weight");
    write_left_out(&printer, heading);
    write_paths(&printer, heading);
    if (options->verbose) {
        write_belief(&printer, heading);
        inferences_write(&printer, &heading->inferences);
    }
    write_unwound_none(&printer, heading);
    write_unread(&printer, heading);
    write_warnings(&printer, heading, options->unit ? options->unit : "weight");
    printer_write(&printer, "\n");
    return printer_finish(&printer, err);
}

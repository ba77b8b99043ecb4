/* heading.c - the heading of every report: what was recorded, and how reliable it is; see view.h. */
#include <math.h>
#include <string.h>

#include "base/saturate.h"
#include "image/script.h"
#include "report/text/printer.h"
#include "report/text/weight.h"
#include "report/views/heading_paths.h"

static void write_word(struct printer *printer, const char *label, const char *word)
{
    if (!word)
        return;
    printer_write(printer, "%s", label);
    printer_foreign(printer, word);
    printer_write(printer, "\n");
}

/* How to get more unwound stacks. */
static const char *more_stacks(const struct view_heading *heading)
{
    if (heading->foreign)
        return "record with \"fathom record\", which unwinds some";
    return heading->followed
               ? "record longer, or with a larger --dumps; of stacks above 60 KB none is unwound"
               : "record longer, or with a larger --audit";
}

/* With neither a map nor an unwound stack, callers are known only from the binaries' code: even rows that
 * seem certain can be wrong, as nothing shows which functions ran. */
static void write_unwound_none(struct printer *printer, const struct view_heading *heading)
{
    if (heading->training && heading->audit_samples == 0 && heading->rests_on_inference > 0)
        printer_write(printer,
                      "warning:  no unwound stack was used: paths are based only on the binaries' code, and "
                      "many may be wrong (%s; or train a map)\n",
                      more_stacks(heading));
}

#define FEW_STACKS    20u /* unwound: fewer cover only a small part of the program */
#define INFERRED_MANY 0.1 /* of the weight: what is worth a warning */

/* The reported certainty is based on few stacks, or on stacks of another event. */
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

/* Writes what the contexts are based on, and how to make them more certain. */
static void write_belief(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    if (heading->audit_samples > 0)
        printer_write(printer, "stacks:   %llu of this recording %s unwound and learned from\n",
                      (unsigned long long)heading->audit_samples,
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

#define FILES_SHOWN 4u /* names; the others are only counted */

static void write_files(struct printer *printer, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < FILES_SHOWN; i++) {
        printer_write(printer, i ? ", " : "");
        printer_foreign(printer, names[i]);
    }
    if (count > FILES_SHOWN)
        printer_write(printer, " and %zu more", count - FILES_SHOWN);
}

/* Writes images whose code could not be read, so that their calls are unknown. */
static void write_unread(struct printer *printer, const struct view_heading *heading)
{
    if (heading->unread_count == 0)
        return;
    printer_write(printer, "unread:   ");
    write_files(printer, heading->unread, heading->unread_count);
    printer_write(printer, ": callers beyond %s are unknown\n", heading->unread_count > 1 ? "them" : "it");
}

_Static_assert(UNINLINED_NAMED >= FILES_SHOWN, "as many are known");

static void write_uninlined(struct printer *printer, const struct view_heading *heading)
{
    if (heading->uninlined_count == 0)
        return;
    printer_write(printer, "inlined:  functions inlined in ");
    write_files(printer, heading->uninlined, heading->uninlined_count);
    printer_write(printer, " are not shown: %.1f MiB of debug information (--inline reads it)\n",
                  (double)heading->uninlined_bytes / (1 << 20));
}

static void write_lost(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char weight[WEIGHT_SIZE];
    double all = (double)heading->weight + (double)heading->lost_weight;
    printer_write(printer, "warning:  %llu record%s lost", (unsigned long long)heading->lost,
                  heading->lost == 1 ? " was" : "s were");
    if (heading->lost_weight > 0)
        printer_write(printer, ", about %s%s%s (%.1f%% of all)",
                      weight_format(weight, heading->lost_weight, unit), strcmp(unit, WEIGHT_NS) ? " " : "",
                      strcmp(unit, WEIGHT_NS) ? unit : "", 100 * (double)heading->lost_weight / all);
    printer_write(
        printer,
        " because the rings were full (use a larger --ring or sample less often): shares are of the rest\n");
}

#define UNSAMPLED_LEAST 0.1  /* of the threads and of the weight: more is worth a warning */
#define COUNTED_MOST    0.99 /* of the time: less is worth a warning (readings differ by less) */

static const char *unit_behind(const char *unit)
{
    return strcmp(unit, WEIGHT_NS) ? unit : "";
}

/* A thread starts with a full period: if it ends sooner, it has no sample. */
static bool unsampled_many(const struct view_heading *heading)
{
    return heading->by_thread && (double)heading->unsampled > UNSAMPLED_LEAST * (double)heading->started;
}

static void write_unsampled(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char missed[WEIGHT_SIZE], all[WEIGHT_SIZE];
    uint64_t without = heading->counted > heading->weight ? heading->counted - heading->weight : 0;
    if (!unsampled_many(heading) || (double)without <= UNSAMPLED_LEAST * (double)heading->counted)
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

#define HOTSPOT       "libjvm.so"
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
            "warning:  for %s of the weight, the stack was not known and not read, as too many were new or, "
            "of waits, as their thread waits too often: their paths are inferred (new ones: record longer, "
            "with \"--dumps unlimited\" or a larger --ring)\n",
            share_format(share, heading->refused, heading->weight));
}

bool view_heading_fault(const struct view_heading *h, unsigned which, char text[HEADING_FAULT_TEXT])
{
    const struct {
        uint64_t count, of;
        const char *format;
    } faults[HEADING_FAULTS] = {
        {h->damaged, 0, "%llu damaged records were left out"},
        {h->unresolved, 0, "%llu stacks are not known, as they refer to records that are missing or damaged"},
        {h->unended, 0,
         "%llu calls are left out, as they were not seen to end (by an exception or longjmp, or with their "
         "process "
         "or the recording)"},
        {h->walks_differing, h->walks_compared,
         "%llu of %llu stacks that were kept to check are unwound otherwise here than while recording: "
         "others may be, too (record with --keep-stacks, and all are unwound here)"},
    };
    snprintf(text, HEADING_FAULT_TEXT, faults[which].format, (unsigned long long)faults[which].count,
             (unsigned long long)faults[which].of);
    return faults[which].count > 0;
}

static void write_warnings(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char fault[HEADING_FAULT_TEXT];
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
    for (unsigned i = 0; i < HEADING_FAULTS; i++)
        if (view_heading_fault(heading, i, fault))
            printer_write(printer, "warning:  %s\n", fault);
    if (heading->truncated)
        printer_write(printer, "warning:  the recording ends early: its last part is missing\n");
}

#define USER_ONLY    " in user space (the kernel was not sampled)"
#define KERNEL_LEAST 0.01 /* of the time: less is not shown */

/* The CPU time without samples, which must have been in the kernel. 0: it can be due to chance, or to threads that ended before
 * their first sample. A clock of CPUs that took n samples measures time within 2/sqrt(n), in 95 of 100 recordings. */
static uint64_t time_in_kernel(const struct view_heading *heading)
{
    uint64_t seen = add_saturating(heading->weight, heading->lost_weight);
    double least = KERNEL_LEAST * (double)heading->cpu_time;
    if (!heading->by_thread && heading->samples)
        least += 2 * (double)heading->weight / sqrt((double)heading->samples);
    return (double)heading->cpu_time > (double)seen + least ? heading->cpu_time - seen : 0;
}

/* Writes the time, or what else was counted; false: only the number of samples is known. */
static bool write_whole(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    char weight[WEIGHT_SIZE], kernel[WEIGHT_SIZE], share[SHARE_SIZE];
    bool time = strcmp(unit, WEIGHT_NS) == 0;
    if (time)
        printer_write(printer, "time:     %s %s", weight_format(weight, heading->weight, unit),
                      heading->calls   ? "of calls, from entry to return"
                      : heading->wall  ? "of threads' lives: with a CPU and without"
                      : heading->waits ? "of waiting: threads without a CPU"
                                       : "of CPU time");
    else if (heading->weight != heading->samples)
        printer_write(printer, "weight:   %s %s", weight_format(weight, heading->weight, unit), unit);
    else
        return false;
    bool known = time && heading->cpu_time > 0 && !heading->intervals && !unsampled_many(heading);
    uint64_t without = known ? time_in_kernel(heading) : 0;
    if (heading->user_only)
        printer_write(printer, "%s", known ? " in user space" : USER_ONLY);
    if (heading->user_only && without)
        printer_write(printer, "; %s more (%s of all) in the kernel, not sampled (record --kernel)",
                      weight_format(kernel, without, unit), share_format(share, without, heading->cpu_time));
    if (heading->calls && heading->samples)
        printer_write(printer, ", %s on average",
                      weight_format(kernel, heading->weight / heading->samples, unit));
    printer_write(printer, "\n");
    return true;
}

/* Writes what was sampled, and how often. */
static void write_samples(struct printer *printer, const struct view_heading *heading, const char *unit)
{
    bool told = write_whole(printer, heading, unit);
    printer_write(printer, "samples:  %llu", (unsigned long long)heading->samples);
    if (heading->event) {
        printer_write(printer, " of ");
        printer_foreign(printer, heading->event);
    }
    if (heading->other_events && *heading->other_events) {
        printer_write(printer, " (also recorded, see --event: ");
        printer_foreign(printer, heading->other_events);
        printer_write(printer, ")");
    }
    printer_write(printer, "%s\n", !told && heading->user_only ? USER_ONLY : "");
}

#define ANOTHER_LEAST 0.01 /* of the weight: if other processes have more, they get a line */

/* Writes the processes that have the weight, unless nearly all of it belongs to one name. */
static void write_processes(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    uint64_t rest = heading->weight;
    const double alone = (1 - ANOTHER_LEAST) * (double)heading->weight;
    if (!heading->process_count || (double)heading->processes[0].weight > alone)
        return;
    for (size_t i = 0; i < heading->process_count; i++) {
        const struct process_share *p = &heading->processes[i];
        printer_write(printer, "%s%s ",
                      i ? ", " : "who ran:  ", share_format(share, p->weight, heading->weight));
        printer_foreign(printer, *p->name ? p->name : "[unknown]");
        rest -= p->weight < rest ? p->weight : rest;
    }
    if (heading->other_processes && rest)
        printer_write(printer, ", %s %zu other name%s", share_format(share, rest, heading->weight),
                      heading->other_processes, heading->other_processes == 1 ? "" : "s");
    printer_write(printer, " (--view groups; --by, --process-tree)\n");
}

/* Writes how an event that was not always on was scaled. */
static void write_scaled(struct printer *printer, const struct view_heading *heading)
{
    const double missed = 1 - heading->covered;
    if (!heading->intervals)
        return;
    printer_write(printer,
                  "scaled:   it was on in %llu of %llu intervals, which stand for the others of their phases",
                  (unsigned long long)heading->sampled, (unsigned long long)heading->intervals);
    if (missed > 0)
        printer_write(printer, "; %.1f%% of the intervals are of phases in which it never was", 100 * missed);
    printer_write(printer, "\n");
}

/* Writes what the options leave out; percentages below it refer to the rest. */
static void write_left_out(struct printer *printer, const struct view_heading *heading)
{
    char share[SHARE_SIZE];
    uint64_t all = add_saturating(heading->weight, heading->left_out);
    if (heading->left_out > 0)
        printer_write(printer, "left out: %s of the weight, by the options\n",
                      share_format(share, heading->left_out, all));
}

/* Writes the use of cached maps, unless the recording's own stacks prove nearly everything. */
static void write_kept(struct printer *printer, const struct view_heading *heading, bool always)
{
    if (heading->kept &&
        (always || (double)(heading->weight - heading->proved) > MISSING_LEAST * (double)heading->weight))
        printer_write(
            printer,
            "map:      what %u other recording%s learned of the same programs (--no-cache: not used)\n",
            heading->kept, heading->kept == 1 ? "" : "s");
}

static void write_interpreter(struct printer *printer, const struct view_heading *heading)
{
    if (heading->scripts_apart)
        printer_write(printer,
                      "script:   what the interpreter runs was read at other instants than the samples: a "
                      "function may be one that ran just before or after (as root, at each sample)\n");
    if (heading->scripts_inlined)
        printer_write(printer, "script:   functions that V8 has inlined into others are not in the paths\n");
    if (!heading->interpreter)
        return;
    printer_write(printer, "frames:   ");
    printer_foreign(printer, heading->interpreter);
    const bool hotspot = strncmp(heading->interpreter, HOTSPOT, strlen(HOTSPOT)) == 0;
    printer_write(printer, hotspot
                               ? " runs a program: these are the virtual machine's own frames, those of "
                                 "its compilers among them\n"
                                 "          the program's methods are named where Java has told their names "
                                 "(fathom record --java-map, or java -XX:+UnlockDiagnosticVMOptions "
                                 "-XX:+DumpPerfMapAtExit)\n"
                               : " runs a program: these are the interpreter's frames, not that "
                                 "program's functions\n");
    for (unsigned language = 1; language < SCRIPT_LANGUAGES; language++) {
        const struct script_facts *facts = script_facts(language);
        if (!strstr(heading->interpreter, facts->file))
            continue;
        if (heading->native)
            printer_write(printer, "          --native leaves out those of %s that are known\n", facts->name);
        else
            printer_write(
                printer,
                "          those of %s are named where its version is %s, and they can be read while "
                "it is recorded (fathom doctor says whether they can be)\n",
                facts->name, facts->known);
    }
    const uint64_t missing = heading->unknown + heading->partial;
    if (hotspot && (double)missing > MISSING_LEAST * (double)heading->weight)
        printer_write(printer,
                      "          java keeps the frame pointers that lead through what it compiled only with "
                      "-XX:+PreserveFramePointer\n");
}

int view_heading_write(const struct view_heading *heading, const struct view_options *options, FILE *out,
                       struct fathom_error *err)
{
    struct printer printer = {.out = out};
    if (options->verbose) {
        write_word(&printer, "command:  ", heading->command);
        write_word(&printer, "map:      ", heading->map);
    }
    write_word(&printer, "store:    ", heading->stored);
    write_kept(&printer, heading, options->verbose);
    write_samples(&printer, heading, options->unit ? options->unit : "weight");
    write_scaled(&printer, heading);
    write_left_out(&printer, heading);
    write_processes(&printer, heading);
    heading_paths_write(&printer, heading, options->verbose);
    write_interpreter(&printer, heading);
    if (options->verbose) {
        write_belief(&printer, heading);
        inferences_write(&printer, &heading->inferences);
    }
    write_unwound_none(&printer, heading);
    write_unread(&printer, heading);
    write_uninlined(&printer, heading);
    write_warnings(&printer, heading, options->unit ? options->unit : "weight");
    printer_write(&printer, "\n");
    return printer_finish(&printer, err);
}

/* text.c - phases as text: a strip of time, then the phases in the order of their first interval. */
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/vec.h"
#include "report/phases/phases.h"
#include "report/phases/shown.h"
#include "report/text/printer.h"
#include "report/text/weight.h"

#define STRIP_COLUMNS  100u /* if no width is given */
#define CONTEXTS_SHOWN 3u   /* of a phase, if no number is given */
#define FRAMES_SHOWN   64u  /* of a path, from its end: no line is long enough for more */

struct phases_text {
    const struct report *report;
    struct phases_shown shown;
    const struct cct_node *common; /* all shown paths begin with its frames; NULL: no path is shown */
    struct printer printer;
};

static const char symbols[] = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static char symbol_of(uint32_t phase)
{
    return phase < sizeof symbols ? symbols[phase - 1] : '+';
}

static double seconds(const struct phases_text *t, uint64_t time)
{
    return (double)(time - t->shown.intervals[0].from) * 1e-9;
}

static const char *share_of(char text[SHARE_SIZE], double part, double whole)
{
    return share_format(text, (uint64_t)part, (uint64_t)whole);
}

/* Writes the mean weight of an interval. */
static void write_heading(struct phases_text *t)
{
    const struct phasing_options *o = t->report->view->phasing;
    char weight[WEIGHT_SIZE], right[SHARE_SIZE], lasting[SHARE_SIZE];
    uint32_t predicted, same, later = t->shown.interval_count - 1;
    timeline_predicted(t->shown.timeline, &predicted, &same);
    weight_format(weight, count_saturating(t->shown.weight / t->shown.interval_count), t->report->view->unit);
    printer_write(&t->printer, "phases:   %u in %u interval%s of %s, by %s\n", t->shown.phase_count,
                  t->shown.interval_count, t->shown.interval_count == 1 ? "" : "s", weight,
                  phase_kind_names[o->kind]);
    if (later)
        printer_write(
            &t->printer,
            "predicted: %s of the intervals by how long phases last, %s by taking each phase to go on\n",
            share_format(right, predicted, later), share_format(lasting, same, later));
}

/* The phase with the most weight in some intervals. */
static uint32_t main_phase(const struct phases_text *t, uint32_t from, uint32_t to)
{
    uint32_t found = t->shown.intervals[from].phase;
    double most = 0;
    for (uint32_t i = from; i < to; i++) {
        double weight = 0;
        for (uint32_t j = i; j < to; j++)
            weight +=
                t->shown.intervals[j].phase == t->shown.intervals[i].phase ? t->shown.intervals[j].weight : 0;
        if (weight > most) {
            most = weight;
            found = t->shown.intervals[i].phase;
        }
    }
    return found;
}

/* Each column stands for the same amount of work. */
static void write_strip(struct phases_text *t)
{
    size_t width = t->report->view->width;
    uint32_t columns = width ? (uint32_t)width : STRIP_COLUMNS;
    if (columns > t->shown.interval_count)
        columns = t->shown.interval_count;
    printer_write(&t->printer, "from %.1f s to %.1f s:\n", 0.0,
                  seconds(t, t->shown.intervals[t->shown.interval_count - 1].to));
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t from = (uint32_t)((uint64_t)c * t->shown.interval_count / columns);
        uint32_t to = (uint32_t)((uint64_t)(c + 1) * t->shown.interval_count / columns);
        printer_write(&t->printer, "%c", symbol_of(main_phase(t, from, to)));
    }
    printer_write(&t->printer, "\n");
}

/* "2 (75%), 1 (25%)": the three phases that most often followed this one. */
static void write_following(struct phases_text *t, uint32_t phase, uint32_t *counts)
{
    uint32_t ends = 0;
    memset(counts, 0, (t->shown.phase_count + 1) * sizeof *counts);
    for (uint32_t i = 1; i < t->shown.interval_count; i++)
        if (t->shown.intervals[i - 1].phase == phase && t->shown.intervals[i].phase != phase) {
            counts[t->shown.intervals[i].phase]++;
            ends++;
        }
    for (int shown = 0; shown < 3; shown++) {
        uint32_t best = 0;
        for (uint32_t p = 1; p <= t->shown.phase_count; p++)
            best = counts[p] > counts[best] ? p : best;
        if (!counts[best])
            break;
        printer_write(&t->printer, "%s%u (%.0f%%)", shown ? ", " : "", best, 100.0 * counts[best] / ends);
        counts[best] = 0;
    }
}

/* "main > deflate > deflate_slow", of the frames inside of `outside`: as many of the innermost as fit. */
static void write_path(struct phases_text *t, const struct cct_node *outside, const struct cct_node *node,
                       size_t room)
{
    const struct frames *frames = t->report->contexts->frames;
    const char *names[FRAMES_SHOWN];
    size_t count = 0, used = 0;
    for (; node != outside && cct_parent(node) && count < FRAMES_SHOWN; node = cct_parent(node)) {
        const char *name = frames_at(frames, node->item)->name;
        used += strlen(name) + (count ? 3 : 0);
        if (count && room && used + 6 > room)
            break;
        names[count++] = name;
    }
    printer_write(&t->printer, "%s", cct_parent(node) ? "... > " : "");
    while (count-- > 0) {
        printer_foreign(&t->printer, names[count]);
        printer_write(&t->printer, count ? " > " : "");
    }
    printer_write(&t->printer, "\n");
}

/* The index after the last context that is shown of the phase. */
static size_t shown_end(const struct phases_text *t, uint32_t phase)
{
    const struct view_options *view = t->report->view;
    const size_t most = view->max_rows ? view->max_rows : CONTEXTS_SHOWN, first = t->shown.starts[phase - 1];
    const double least = view->min_percent / 100 * t->shown.phases[phase - 1].weight;
    size_t end = first;
    while (end < t->shown.starts[phase] && end - first < most && (double)t->shown.hot[end].weight >= least)
        end++;
    return end;
}

static size_t depth_of(const struct cct_node *node)
{
    size_t depth = 0;
    for (; cct_parent(node); node = cct_parent(node))
        depth++;
    return depth;
}

static const struct cct_node *common_of(const struct cct_node *a, const struct cct_node *b)
{
    size_t of_a = depth_of(a), of_b = depth_of(b);
    for (; of_a > of_b; of_a--)
        a = cct_parent(a);
    for (; of_b > of_a; of_b--)
        b = cct_parent(b);
    for (; a != b; a = cct_parent(a))
        b = cct_parent(b);
    return a;
}

static void find_common(struct phases_text *t)
{
    for (uint32_t p = 1; p <= t->shown.phase_count; p++)
        for (size_t i = t->shown.starts[p - 1], end = shown_end(t, p); i < end; i++) {
            const struct cct_node *caller = cct_parent(t->shown.hot[i].node);
            t->common = t->common && caller ? common_of(t->common, caller) : caller ? caller : t->common;
        }
}

static void write_contexts(struct phases_text *t, uint32_t phase)
{
    const size_t width = t->report->view->width, end = shown_end(t, phase);
    const double weight = t->shown.phases[phase - 1].weight;
    for (size_t i = t->shown.starts[phase - 1]; i < end; i++) {
        char share[SHARE_SIZE];
        printer_write(&t->printer, "        %7s  ", share_of(share, (double)t->shown.hot[i].weight, weight));
        write_path(t, t->common, t->shown.hot[i].node, width > 24 ? width - 17 : 0);
    }
}

static void write_phase(struct phases_text *t, uint32_t phase, uint32_t *counts)
{
    const struct phase *p = &t->shown.phases[phase - 1];
    const struct phase_interval *chosen = &t->shown.intervals[p->chosen];
    char share[SHARE_SIZE], weight[WEIGHT_SIZE];
    printer_write(&t->printer, "%5u %c %7s %9s %9u %6u %7.2f  %8.2f to %.2f s  ", phase,
                  phase < 10 ? ' ' : symbol_of(phase), share_of(share, p->weight, t->shown.weight),
                  weight_format(weight, count_saturating(p->weight), t->report->view->unit), p->intervals,
                  p->runs, p->spread, seconds(t, chosen->from), seconds(t, chosen->to));
    write_following(t, phase, counts);
    printer_write(&t->printer, "\n");
    write_contexts(t, phase);
}

static int write_phases(struct phases_text *t, struct fathom_error *err)
{
    uint32_t *counts = calloc((size_t)t->shown.phase_count + 1, sizeof *counts);
    if (!counts)
        return error_memory(err);
    write_heading(t);
    write_strip(t);
    find_common(t);
    if (t->common && cct_parent(t->common)) {
        printer_write(&t->printer, "\nall paths below begin with ");
        write_path(t, cct_root(t->report->contexts->tree), t->common, 0);
    }
    printer_write(&t->printer, "\n%5s   %7s %9s %9s %6s %7s  %-20s  %s\n", "phase", "share",
                  weight_title(t->report->view->unit), "intervals", "runs", "spread", "represented by",
                  "followed by");
    for (uint32_t p = 1; p <= t->shown.phase_count; p++)
        write_phase(t, p, counts);
    free(counts);
    return printer_finish(&t->printer, err);
}

int phases_text_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct phases_text t = {.report = report, .printer = {.out = out}};
    int rc = view_heading_write(report->heading, report->view, out, err);
    if (rc == 0)
        rc = phases_shown_find(report, &t.shown, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = write_phases(&t, err);
    phases_shown_clear(&t.shown);
    return rc;
}

/* text.c - the results of an evaluation as tables. */
#include "api/evaluate/evaluating.h"
#include "report/text/printer.h"

static double percent_of(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : 0;
}

static void write_row(struct printer *p, const char *name, const struct tally *t, const struct tally *all)
{
    printer_write(p, "%-12s %12llu %7.2f%% %18.0f %7.2f%%\n", name, (unsigned long long)t->paths,
                  percent_of((double)t->paths, (double)all->paths), t->weight,
                  percent_of(t->weight, all->weight));
}

static void write_categories(struct printer *p, const struct score *s)
{
    printer_write(p, "%-12s %12s %8s %18s %8s\n", "", "paths", "%", "weight", "%");
    for (unsigned i = 0; i < CATEGORIES; i++)
        write_row(p, category_names[i], &s->category[i], &s->all);
    write_row(p, "right path", &s->right, &s->all);
    write_row(p, "map's frames", &s->right_covered, &s->all);
    printer_write(p, "%-12s %12s %8s %18.0f %7.2f%%\n", "right frames", "", "", s->right_frames,
                  percent_of(s->right_frames, s->all.weight));
}

static void write_proved(struct printer *p, const struct score *s)
{
    if (s->proved.weight > 0)
        printer_write(p, "%.2f%% of the weight is reported as proved, %.2f%% of that is right\n",
                      percent_of(s->proved.weight, s->all.weight),
                      percent_of(s->proved.right, s->proved.weight));
}

static void write_stages(struct printer *p, const struct evaluate_result *result)
{
    if (result->stage_count < 2)
        return;
    printer_write(p, "\n%-14s %12s %13s %13s %10s %13s\n", "stage", "right paths", "right weight",
                  "right frames", "said", "calibration");
    for (unsigned i = 0; i < result->stage_count; i++) {
        const struct score *s = &result->stages[i].score;
        printer_write(p, "%-14s %11.2f%% %12.2f%% %12.2f%% %9.2f%% %13.4f\n", result->stages[i].name,
                      percent_of((double)s->right.paths, (double)s->all.paths),
                      percent_of(s->right.weight, s->all.weight), percent_of(s->right_frames, s->all.weight),
                      percent_of(s->said, s->all.weight), s->calibration_error);
    }
}

static void write_degrees(struct printer *p, const struct score *s)
{
    static const unsigned shown[] = {1, 2, 3, 5, 10, DEGREES};
    printer_write(p, "\nthe right path is one of at most\n");
    for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++) {
        char name[16];
        snprintf(name, sizeof name, "%8u", shown[i]);
        write_row(p, name, &s->within[shown[i] - 1], &s->all);
    }
}

static void write_calibration(struct printer *p, const struct score *s)
{
    printer_write(p, "\n%-12s %21s %18s %8s\n", "probability", "said", "weight", "right");
    for (unsigned i = 0; i < BINS; i++) {
        const struct bin *bin = &s->bins[i];
        if (bin->weight > 0)
            printer_write(p, "%.1f to %.1f   %20.2f%% %18.0f %7.2f%%\n", (double)i / BINS,
                          (double)(i + 1) / BINS, percent_of(bin->said, bin->weight), bin->weight,
                          percent_of(bin->right, bin->weight));
    }
    printer_write(p, "expected calibration error: %.4f\n", s->calibration_error);
}

/* "main;(qsort);run;[a;b];leaf": frames that differ from the other path are in brackets, frames that are not
 * compared in parentheses. */
static void write_path(struct printer *p, const char *label, const struct named_path *path, size_t outer,
                       size_t inner)
{
    size_t compared = path_names_compared(path), seen = 0;
    printer_write(p, "  %s", label);
    for (size_t i = 0; i < path->depth; i++) {
        const struct named_frame *frame = &path->frames[i];
        bool counts = frame->function != NOT_COMPARED, differ = counts && outer + inner < compared;
        bool first = differ && seen == outer;
        seen += counts;
        bool last = differ && seen == compared - inner;
        printer_write(p, "%s%s", i > 0 ? ";" : "", first ? "[" : "");
        printer_write(p, counts ? "%s%s" : "(%s)%s", frame->name, last ? "]" : "");
    }
    printer_write(p, "\n");
}

static void write_verdict(struct printer *p, const struct verdict *v, double whole,
                          const struct named_path *truth, const struct named_path *answer)
{
    const char *name = truth->depth ? truth->frames[truth->depth - 1].name : "unknown code";
    printer_write(p, "%.2f%% of the weight, %s at height %llu: ", percent_of(v->weight, whole), name,
                  (unsigned long long)v->cid.height);
    if (v->category == CATEGORY_MISSING)
        printer_write(p, "missing, %s\n", unknown_reason_text(v->reason));
    else
        printer_write(p, "%s, one of %u, said %.2f%%\n", category_names[v->category], v->paths,
                      percent_of(v->said, v->weight));
    size_t outer, inner;
    path_names_agree(truth, answer, &outer, &inner);
    write_path(p, "truth     ", truth, outer, inner);
    if (v->category != CATEGORY_MISSING)
        write_path(p, "inferred  ", answer, outer, inner);
}

static int write_wrong(struct printer *p, const struct evaluate_result *result, double whole,
                       struct fathom_error *err)
{
    printer_write(p, "\n%s\n", result->wrong_count ? "the heaviest wrong contexts" : "no context was wrong");
    for (size_t i = 0; i < result->wrong_count; i++) {
        const struct verdict *v = &result->wrong[i];
        struct named_path truth, answer;
        int rc = path_names_truth(result->names, v->truth, &truth, err);
        if (rc == 0)
            rc = path_names_answer(result->names, v->node, &answer, err);
        if (rc < 0)
            return rc;
        write_verdict(p, v, whole, &truth, &answer);
    }
    return 0;
}

/* Weight whose truth has only the innermost callers, or rests on unwind rows that were derived from code. */
static void write_part(struct printer *p, const struct score *s)
{
    double whole = s->part.weight + s->all.weight;
    if (s->derived > 0)
        printer_write(
            p, "the truth rests on rows derived from code without unwind tables: weight %.0f (%.2f%%)\n",
            s->derived, percent_of(s->derived, whole));
    if (s->part.weight <= 0)
        return;
    printer_write(p,
                  "only the innermost callers known: weight %.0f (%.2f%%), %.1f frames each; %.2f%% of it "
                  "has an answer, and %.2f%% of that has these frames\n",
                  s->part.weight, percent_of(s->part.weight, whole), s->part.frames / s->part.weight,
                  percent_of(s->part.answered, s->part.weight), percent_of(s->part.right, s->part.answered));
}

int evaluate_write_text(const struct evaluate_result *result, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    const struct score *s = &result->stages[result->stage_count - 1].score;
    write_categories(&printer, s);
    write_proved(&printer, s);
    write_stages(&printer, result);
    write_degrees(&printer, s);
    write_calibration(&printer, s);
    if (result->maps)
        printer_write(&printer, "\n%llu CIDs of the truth map\n", (unsigned long long)s->samples);
    else if (result->replayed)
        printer_write(&printer,
                      "\n%llu samples, of which recording would have written %llu stacks (%.2f%%), %llu "
                      "records about stacks in all (%.2f%%)\n",
                      (unsigned long long)s->samples, (unsigned long long)result->replay.read,
                      percent_of((double)result->replay.read, (double)result->replay.count),
                      (unsigned long long)result->replay.records,
                      percent_of((double)result->replay.records, (double)result->replay.count));
    else
        printer_write(&printer, "\n%llu samples, %llu copies of stacks used\n",
                      (unsigned long long)s->samples, (unsigned long long)result->audit_samples);
    inferences_write(&printer, &result->inferences);
    if (result->chains)
        printer_write(&printer, "true paths are those that the samples' call chains prove\n");
    write_part(&printer, s);
    for (unsigned i = 0; i < NO_TRUTHS; i++) {
        if (s->no_truth[i] > 0)
            printer_write(&printer, "left out, %s: weight %.0f\n", no_truth_text(i), s->no_truth[i]);
    }
    if (result->lost)
        printer_write(&printer,
                      "warning: %llu records were lost because the rings were full (use smaller dumps, such "
                      "as --stack 16384, or sample less often)\n",
                      (unsigned long long)result->lost);
    int rc = result->names ? write_wrong(&printer, result, s->all.weight, err) : 0;
    return rc < 0 ? rc : printer_finish(&printer, err);
}

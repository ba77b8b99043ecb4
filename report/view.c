/* view.c - chooses a view and lays out the tree for it; see view.h. */
#include "report/view.h"

#include "report/views.h"

bool weighs_enough(const struct drawing *drawing, uint64_t weight)
{
    return (double)weight * 100.0 >= drawing->options->min_percent * (double)drawing->whole;
}

void left_out_write(const struct drawing *drawing, uint64_t count, const char *one, const char *many,
                    uint64_t weight)
{
    if (count == 0)
        return;
    const struct view_options *options = drawing->options;
    char share[SHARE_SIZE];
    printer_write(drawing->printer, "... %llu more %s", (unsigned long long)count, count == 1 ? one : many);
    if (options->min_percent > 0 && options->max_rows == 0)
        printer_write(drawing->printer, " under %g%%", options->min_percent);
    printer_write(drawing->printer, ": %s of the weight\n", share_format(share, weight, drawing->whole));
}

static int write_branches(struct branches *b, const struct frames *frames, const struct view_options *options,
                          FILE *out, struct fathom_error *err)
{
    int rc = branches_check(b, frames_count(frames), err);
    if (rc == 0)
        rc = branches_arrange(b, branch_compare_weight, frames, err);
    if (rc)
        return rc;
    struct printer printer = {.out = out};
    struct drawing drawing = {.branches = b,
                              .frames = frames,
                              .options = options,
                              .unit = options->unit ? options->unit : "weight",
                              .whole = b->at[0].total,
                              .printer = &printer};
    if (drawing.whole == 0) {
        printer_write(&printer, "nothing was sampled\n");
        return printer_finish(&printer, err);
    }
    switch (options->kind) {
    case VIEW_TREE:
        rc = tree_write(&drawing, err);
        break;
    case VIEW_CALLERS:
        rc = callers_write(&drawing, err);
        break;
    case VIEW_FLAT:
        rc = flat_write(&drawing, err);
        break;
    }
    if (rc)
        return rc;
    char share[SHARE_SIZE];
    if (b->at[0].self > 0)
        printer_write(&printer, "... %s of the weight is in contexts that were not kept\n",
                      share_format(share, b->at[0].self, drawing.whole));
    return printer_finish(&printer, err);
}

int view_write(struct cct *cct, const struct frames *frames, const struct view_options *options, FILE *out,
               struct fathom_error *err)
{
    struct branches branches;
    int rc = branches_of_cct(&branches, cct, err);
    if (rc)
        return rc;
    rc = write_branches(&branches, frames, options, out, err);
    branches_clear(&branches);
    return rc;
}

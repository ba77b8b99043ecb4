/* view.c - the table of views, and the tree layout that they share. See view.h. */
#include "report/views/view.h"

#include "report/views/views.h"

#define ROW(text, help, ...) {.name = text, __VA_ARGS__},
const struct view view_table[] = {VIEWS(ROW){0}};

static int write_branches(struct branches *b, const struct contexts *contexts,
                          const struct view_options *options, FILE *out, struct fathom_error *err)
{
    const struct frames *frames = contexts->frames;
    const struct view *view = options->view ? options->view : view_table;
    const bool sampled = b->count > 1;
    int rc = branches_check(b, frames_count(frames), err);
    if (rc == 0 && (view->folds || view->levels))
        rc = branches_fold(b, frames, view->levels, err);
    if (rc == 0)
        rc = branches_arrange(b, branch_compare_weight, frames, err);
    if (rc)
        return rc;
    struct printer printer = {.out = out};
    struct drawing drawing = {.contexts = contexts,
                              .branches = b,
                              .frames = frames,
                              .options = options,
                              .unit = options->unit ? options->unit : "weight",
                              .whole = b->at[0].total,
                              .printer = &printer};
    if (drawing.whole == 0) {
        printer_write(&printer, sampled             ? "no sample has any weight\n"
                                : options->filtered ? "the options leave no sample\n"
                                                    : "nothing was sampled\n");
        return printer_finish(&printer, err);
    }
    rc = view->write(&drawing, err);
    if (rc)
        return rc;
    char share[SHARE_SIZE];
    if (b->at[0].self > 0)
        printer_write(&printer, "... %s of the weight is in contexts that were not kept\n",
                      share_format(share, b->at[0].self, drawing.whole));
    return printer_finish(&printer, err);
}

int view_write(const struct contexts *contexts, const struct view_options *options, FILE *out,
               struct fathom_error *err)
{
    struct branches branches;
    const uint32_t calls = metrics_calls(contexts->metrics);
    int rc = branches_of_cct(&branches, contexts->tree, contexts->doubts, err);
    for (uint32_t i = 1; rc == 0 && calls != METRICS_MAX && i < branches.count; i++)
        branches.at[i].calls = branches.at[i].node->self[calls];
    if (rc)
        return rc;
    rc = write_branches(&branches, contexts, options, out, err);
    branches_clear(&branches);
    return rc;
}

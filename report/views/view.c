/* view.c - chooses a view and lays out the tree for it; see view.h. */
#include "report/views/view.h"

#include "report/views/views.h"

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
    static int (*const views[])(const struct drawing *, struct fathom_error *) = {
        [VIEW_TREE] = tree_write, [VIEW_CALLERS] = callers_write, [VIEW_FLAT] = flat_write};
    rc = views[options->kind](&drawing, err);
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
    int rc = branches_of_cct(&branches, cct, options->doubts, err);
    if (rc)
        return rc;
    rc = write_branches(&branches, frames, options, out, err);
    branches_clear(&branches);
    return rc;
}

/* changes.c - see changes.h. */
#include "report/views/changes.h"

#include "base/sort.h"
#include "report/views/branches.h"

static int compare_change(const struct branch *a, const struct branch *b, const void *context)
{
    const struct changes *changes = context;
    const struct change *x = changes_path(changes, a->node), *y = changes_path(changes, b->node);
    double far_x = change_far(x), far_y = change_far(y);
    return order_of(far_y, far_x) ?: order_of(y->b, x->b) ?: frame_compare(changes->frames, a->item, b->item);
}

int changes_branches(const struct changes *changes, struct branches *out, struct fathom_error *err)
{
    int rc = branches_of_cct(out, changes->tree, NULL, err);
    if (rc < 0)
        return rc;
    rc = branches_arrange(out, compare_change, changes, err);
    if (rc < 0)
        branches_clear(out);
    return rc;
}

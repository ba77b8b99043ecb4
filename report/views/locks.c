/* locks.c - which locks threads wait for, and by which paths. */
#include "report/views/accessed.h"

/* Whether any path ends in an access. */
static bool any_access(const struct drawing *drawing)
{
    struct cct_node *root = cct_root(drawing->contexts->tree);
    for (struct cct_node *n = root; n; n = cct_next(root, n))
        if (n != root && frames_at(drawing->frames, n->item)->kind == FRAME_DATA)
            return true;
    return false;
}

int locks_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct accessed_wording words = {.what = "lock",
                                                  .one = "lock",
                                                  .many = "locks",
                                                  .path = "lock, and below it the path that waits for it",
                                                  .one_path = "path",
                                                  .many_paths = "paths",
                                                  .weight = true};
    if (!any_access(drawing)) {
        printer_write(drawing->printer, "no thread waited for a lock\n");
        return 0;
    }
    const int rc = accessed_write(drawing, &words, err);
    return rc == 0 ? releases_write(drawing, err) : rc;
}

/* dense.c - see dense.h. */
#include "streams/trace/dense.h"

#include <unistd.h>

int dense_open(const char *path, size_t header, struct file_view *view, struct fathom_error *err)
{
    int rc = file_view_open(path, view, err);
    if (rc < 0)
        return rc;
    rc = file_view_need(view, 0, view->size < header ? view->size : header, err);
    if (rc < 0)
        file_view_close(view);
    return rc;
}

int dense_read(struct file_view *view, uint64_t used, size_t *size, struct fathom_error *err)
{
    off_t hole = lseek(view->fd, 0, SEEK_HOLE);
    *size = view->size;
    if (hole >= 0 && (uint64_t)hole < *size)
        *size = (size_t)hole;
    if (used < *size)
        *size = (size_t)used;
    int rc = file_view_need(view, 0, *size, err);
    file_view_settle(view);
    return rc;
}

/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Reserves memory for the whole file, which costs nothing until it is filled. */
static int make_view(const char *path, int fd, struct file_view *view, struct fathom_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_system(err, errno, "cannot stat %s", path);
    struct file_view v = {.size = (size_t)st.st_size, .fd = fd};
    v.filled = calloc(v.size / FILE_VIEW_PIECE + 1, 1);
    v.path = strdup(path);
    void *p = v.size ? mmap(NULL, v.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                            -1, 0)
                     : NULL;
    if (!v.filled || !v.path || p == MAP_FAILED) {
        free(v.filled);
        free(v.path);
        if (v.size && p != MAP_FAILED)
            munmap(p, v.size);
        return error_memory(err);
    }
    v.data = p;
    *view = v;
    return 0;
}

int file_open_regular(const char *path, struct fathom_error *err)
{
    struct stat st; /* to open some devices does something: a watchdog's starts it */
    bool other = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    int fd = other ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (!other && fd < 0)
        return error_system(err, errno, "cannot open %s", text_name(path));
    if (!other && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return error_set(err, ENOMSG, "%s is not a regular file", text_name(path));
}

int file_view_open(const char *path, struct file_view *view, struct fathom_error *err)
{
    int fd = file_open_regular(path, err);
    if (fd < 0)
        return fd;
    int rc = make_view(path, fd, view, err);
    if (rc < 0)
        close(fd);
    return rc;
}

/* Reads [from, to) into its place. */
static int fill(struct file_view *view, size_t from, size_t to, struct fathom_error *err)
{
    while (from < to) {
        ssize_t n = pread(view->fd, (uint8_t *)(uintptr_t)view->data + from, to - from, (off_t)from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_system(err, errno, "cannot read %s", view->path);
        if (n == 0)
            return error_set(err, EBADMSG, "%s was truncated to %zu bytes while it was read", view->path,
                             from);
        from += (size_t)n;
    }
    return 0;
}

int file_view_need(struct file_view *view, uint64_t offset, uint64_t size, struct fathom_error *err)
{
    if (size == 0 || view->fd < 0)
        return 0;
    size_t last = (size_t)((offset + size - 1) / FILE_VIEW_PIECE);
    for (size_t piece = (size_t)(offset / FILE_VIEW_PIECE); piece <= last; piece++) {
        size_t end = piece;
        while (end <= last && !view->filled[end])
            end++;
        if (end == piece)
            continue;
        size_t to = end * FILE_VIEW_PIECE < view->size ? end * FILE_VIEW_PIECE : view->size;
        int rc = fill(view, piece * FILE_VIEW_PIECE, to, err);
        if (rc < 0)
            return rc;
        memset(view->filled + piece, 1, end - piece);
        piece = end - 1;
    }
    return 0;
}

void file_view_settle(struct file_view *view)
{
    if (view->fd >= 0 && view->path)
        close(view->fd);
    view->fd = -1;
    free(view->filled);
    free(view->path);
    view->filled = NULL;
    view->path = NULL;
}

int file_view_read(const char *path, struct file_view *view, struct fathom_error *err)
{
    struct file_view v;
    int rc = file_view_open(path, &v, err);
    if (rc < 0)
        return rc;
    rc = file_view_need(&v, 0, v.size, err);
    if (rc < 0) {
        file_view_close(&v);
        return rc;
    }
    file_view_settle(&v);
    *view = v;
    return 0;
}

void file_view_close(struct file_view *view)
{
    file_view_settle(view);
    if (view->data)
        munmap((void *)(uintptr_t)view->data, view->size);
    *view = (struct file_view){.fd = -1};
}

int file_write_all(int fd, const void *data, size_t size, const char *path, struct fathom_error *err)
{
    const uint8_t *p = data;
    while (size) {
        ssize_t n = write(fd, p, size);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return error_system(err, errno, "cannot write to %s", path);
        }
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

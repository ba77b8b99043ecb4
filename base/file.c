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
#include "base/vec.h"

#define LARGE_RANGE ((size_t)64 << 10) /* bytes: for fewer, calls that spare some cost more than they bring */

/* Reserves memory for the whole file, which costs nothing until it is filled. */
static int make_view(const char *path, int fd, struct file_view *view, struct fathom_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_system(err, errno, "cannot stat %s", path);
    struct file_view v = {.size = (size_t)st.st_size, .fd = fd, .written = st.st_mtim};
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
    struct stat st; /* opening some devices has an effect: it starts a watchdog's timer */
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

size_t file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t got = 0;
    errno = 0;
    while (got < size && offset + got <= INT64_MAX) {
        const ssize_t n = pread(fd, (char *)to + got, size - got, (off_t)(offset + got));
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        got += n > 0 ? (size_t)n : 0;
        errno = 0;
    }
    return got;
}

/* Reads [from, to) into `out`. */
static int read_range(const struct file_view *view, size_t from, size_t to, uint8_t *out,
                      struct fathom_error *err)
{
    const size_t got = file_read_at(view->fd, out, to - from, from);
    if (got == to - from)
        return 0;
    return errno ? error_system(err, errno, "cannot read %s", view->path)
                 : error_set(err, EBADMSG, "%s was truncated to %zu bytes while it was read", view->path,
                             from + got);
}

/* Reads [from, to) into the view. A file's holes are 0 there already: a sparse file takes no more memory than room on its disk. */
static int fill_range(const struct file_view *view, size_t from, size_t to, struct fathom_error *err)
{
    uint8_t *const data = (uint8_t *)(uintptr_t)view->data;
    if (to - from < LARGE_RANGE)
        return read_range(view, from, to, data + from, err);
    int rc = 0;
    while (rc == 0 && from < to) {
        const off_t begin = lseek(view->fd, (off_t)from, SEEK_DATA);
        if (begin < 0 && errno == ENXIO) /* a hole to its end: the last byte shows whether it was truncated */
            return read_range(view, to - 1, to, data + to - 1, err);
        from = begin < 0 ? from : (size_t)begin < to ? (size_t)begin : to;
        const off_t hole = from < to ? lseek(view->fd, (off_t)from, SEEK_HOLE) : -1;
        const size_t end = hole > (off_t)from && (size_t)hole < to ? (size_t)hole : to;
#ifdef MADV_POPULATE_WRITE /* at once instead of page by page, if the kernel can (5.14) */
        if (from < end)
            madvise(data + from / FILE_VIEW_PIECE * FILE_VIEW_PIECE, end - from, MADV_POPULATE_WRITE);
#endif
        rc = read_range(view, from, end, data + from, err);
        from = end;
    }
    return rc;
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
        int rc = fill_range(view, piece * FILE_VIEW_PIECE, to, err);
        if (rc < 0)
            return rc;
        memset(view->filled + piece, 1, end - piece);
        piece = end - 1;
    }
    return 0;
}

/* Whether all of these bytes were read. */
static bool file_view_has(const struct file_view *view, uint64_t offset, uint64_t size)
{
    if (size == 0 || view->fd < 0)
        return true;
    const size_t last = (size_t)((offset + size - 1) / FILE_VIEW_PIECE);
    size_t piece = (size_t)(offset / FILE_VIEW_PIECE);
    while (piece <= last && view->filled[piece])
        piece++;
    return piece > last;
}

/* Checks that the file has not changed since it was opened. */
static int check_same(const struct file_view *view, struct fathom_error *err)
{
    struct stat st;
    if (!view->lost && fstat(view->fd, &st) < 0)
        return error_system(err, errno, "cannot stat %s", view->path);
    const bool same = !view->lost && st.st_mtim.tv_sec == view->written.tv_sec &&
                      st.st_mtim.tv_nsec == view->written.tv_nsec;
    return same ? 0 : error_set(err, ESTALE, "%s was changed while it was read", view->path);
}

/* Reads into `out`; NULL: into the view. */
static int read_same(struct file_view *view, uint64_t offset, size_t size, uint8_t *out,
                     struct fathom_error *err)
{
    int rc = 0;
    if (!view->lost)
        rc = out ? read_range(view, (size_t)offset, (size_t)offset + size, out, err)
                 : file_view_need(view, offset, size, err);
    const int same = check_same(view, err);
    rc = same < 0 ? same : rc;
    view->lost |= rc < 0;
    return rc;
}

int file_view_need_same(struct file_view *view, uint64_t offset, uint64_t size, struct fathom_error *err)
{
    const bool there = !view->lost && file_view_has(view, offset, size);
    return there ? 0 : read_same(view, offset, (size_t)size, NULL, err);
}

int file_view_copy_same(struct file_view *view, uint64_t offset, void *out, size_t size,
                        struct fathom_error *err)
{
    if (view->lost || !file_view_has(view, offset, size))
        return read_same(view, offset, size, out, err);
    memcpy(out, view->data + offset, size);
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

int file_read_text(int fd, size_t most, char **text, size_t *size)
{
    size_t used = 0, capacity = 0;
    char *data = NULL;
    ssize_t n = 1;
    int rc = 0;
    while (rc == 0 && n != 0) {
        if (!vec_reserve(data, used, capacity, 4096)) {
            rc = -ENOMEM;
            break;
        }
        n = read(fd, data + used, capacity - used - 1);
        used += n > 0 ? (size_t)n : 0;
        rc = n < 0 && errno != EINTR ? -errno : used > most ? -EFBIG : 0;
    }
    if (rc < 0) {
        free(data);
        return rc;
    }
    data[used] = 0;
    *text = data;
    *size = used;
    return 0;
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

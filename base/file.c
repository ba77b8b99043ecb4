/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_view_open(const char *path, bool populate, struct file_view *view, struct fathom_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_system(err, errno, "cannot open %s", path);
    struct stat st;
    int rc = 0;
    if (fstat(fd, &st) < 0) {
        rc = error_system(err, errno, "cannot stat %s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        rc = error_set(err, EINVAL, "%s is not a regular file", path);
        goto out;
    }
    struct file_view v = {NULL, (size_t)st.st_size};
    if (v.size) {
        void *p = mmap(NULL, v.size, PROT_READ, MAP_PRIVATE | (populate ? MAP_POPULATE : 0), fd, 0);
        if (p == MAP_FAILED) {
            rc = error_system(err, errno, "cannot map %s", path);
            goto out;
        }
        v.data = p;
    }
    *view = v;
out:
    close(fd);
    return rc;
}

void file_view_close(struct file_view *view)
{
    if (view->data)
        munmap((void *)(uintptr_t)view->data, view->size);
    *view = (struct file_view){0};
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

int file_replace(const char *path, const void *data, size_t size, struct fathom_error *err)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return error_memory(err);
    int rc = 0;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        rc = error_system(err, errno, "cannot create a file beside %s", path);
        free(temporary);
        return rc;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    rc = file_write_all(fd, data, size, path, err);
    if (rc == 0 && fsync(fd) < 0 && errno != EINVAL)
        rc = error_system(err, errno, "cannot write to %s", path);
    close(fd);
    if (rc == 0 && rename(temporary, path) < 0)
        rc = error_system(err, errno, "cannot replace %s", path);
    if (rc != 0)
        unlink(temporary);
    free(temporary);
    return rc;
}

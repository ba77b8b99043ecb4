/* symlinks.c - see symlinks.h. The rule is that of the kernel's may_follow_link() (fs/namei.c). */
#include "base/symlinks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40   /* as in the kernel */
#define STEPS_MAX 4096 /* parts of a path, links followed */

static bool is_refused(const struct stat *link, const struct stat *directory)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    return (directory->st_mode & shared) == shared && link->st_uid != geteuid() &&
           link->st_uid != directory->st_uid;
}

/* The path with the link at its first `length` bytes replaced by its target; malloc'd. NULL: out of memory,
 * or it cannot be read (errno). */
static char *replace_link(const char *path, size_t length)
{
    char *prefix = strndup(path, length), text[PATH_MAX], *next = NULL;
    ssize_t size = prefix ? readlink(prefix, text, sizeof text - 1) : -1;
    const char *slash = prefix ? strrchr(prefix, '/') : NULL;
    int before = slash ? (int)(slash - prefix + 1) : 0;
    if (size > 0) {
        text[size] = '\0';
        if (asprintf(&next, "%.*s%s%s", text[0] == '/' ? 0 : before, prefix, text, path + length) < 0)
            next = NULL;
    }
    free(prefix);
    return next;
}

/* The length of the first part of a path that is a link, not counting the last; 0: none. *rc: -EPERM, -ENOMEM. */
static size_t find_link(const char *path, int *rc, struct fathom_error *err)
{
    struct stat holder, part;
    char *prefix = strdup(path);
    size_t found = 0;
    if (!prefix)
        *rc = error_memory(err);
    if (!prefix || stat(path[0] == '/' ? "/" : ".", &holder) != 0)
        goto out;
    for (size_t at = strspn(path, "/"); path[at]; at += strspn(path + at, "/")) {
        at += strcspn(path + at, "/");
        if (!path[at])
            break;
        memcpy(prefix, path, at);
        prefix[at] = '\0';
        if (lstat(prefix, &part) != 0)
            break;
        if (S_ISLNK(part.st_mode)) {
            if (is_refused(&part, &holder))
                *rc = error_set(err, EPERM, "%s is another user's symbolic link, which is not followed",
                                prefix);
            found = at;
            break;
        }
        holder = part;
    }
out:
    free(prefix);
    return found;
}

int symlinks_check(const char *path, struct fathom_error *err)
{
    char *at = strdup(path);
    int rc = at ? 0 : error_memory(err);
    for (int links = 0; rc == 0 && links < LINKS_MAX; links++) {
        size_t length = find_link(at, &rc, err);
        if (rc < 0 || !length)
            break;
        char *next = replace_link(at, length);
        if (!next)
            break; /* it is gone: opening the file will fail, too */
        free(at);
        at = next;
    }
    free(at);
    return rc;
}

/* The path to open instead of a link: its target, and `behind`. malloc'd; NULL: errno. */
static char *follow_own(int link, const struct stat *status, const char *behind)
{
    char text[PATH_MAX], *next = NULL;
    ssize_t size = -1;
    errno = EPERM;
    if (status->st_uid == geteuid() || status->st_uid == 0)
        size = readlinkat(link, "", text, sizeof text);
    if (size > 0 && asprintf(&next, "%.*s/%s", (int)size, text, behind) < 0)
        next = NULL;
    return next;
}

/* Descends one part of *path from `from`, which is closed. Returns the descriptor, or -1 (errno). */
static int step_down(int from, char **path, struct stat *status)
{
    char *name = *path + strspn(*path, "/"), *behind = name + strcspn(name, "/"), *next;
    bool last = !*behind;
    *behind = '\0';
    int fd = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, status) != 0)
        goto fail;
    next = S_ISLNK(status->st_mode) ? follow_own(fd, status, last ? "" : behind + 1)
                                    : strdup(last ? "" : behind + 1);
    if (!next)
        goto fail;
    free(*path);
    *path = next;
    if (S_ISLNK(status->st_mode)) {
        close(fd);
        return next[0] == '/' ? (close(from), open("/", O_PATH | O_CLOEXEC)) : from;
    }
    close(from);
    return fd;
fail:;
    int code = errno;
    close(from);
    if (fd >= 0)
        close(fd);
    errno = code;
    return -1;
}

int symlinks_open_own(const char *path)
{
    char *rest = strdup(path);
    struct stat status = {0};
    int fd = rest ? open(path[0] == '/' ? "/" : ".", O_PATH | O_CLOEXEC) : -1;
    for (int steps = 0; fd >= 0 && rest[strspn(rest, "/")]; steps++)
        if ((fd = step_down(fd, &rest, &status)) >= 0 && steps > STEPS_MAX) {
            close(fd);
            fd = -1;
            errno = ELOOP;
        }
    int rc = fd >= 0 ? fd : -errno;
    if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_uid != geteuid())) {
        close(fd);
        rc = -EPERM;
    }
    free(rest);
    return rc;
}

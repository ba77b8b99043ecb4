/* outfile.c - see outfile.h. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/symlinks.h"

#define LINKS_MAX 40        /* as in the kernel */
#define TEMPORARY ".XXXXXX" /* suffix of the name while the file is written */
#define OLD       ".old"    /* suffix of a kept file */

struct outfile {
    char *path;      /* as given, for messages */
    char *target;    /* the file itself, with links followed; NULL: a stream */
    char *temporary; /* its name in the target's directory; NULL: none (yet), or published */
    int fd;          /* -1: not begun */
    bool published;
    bool replaces; /* the next two are those of the existing file */
    mode_t mode;
    gid_t group;
};

/* Reads one link. */
static char *read_link(const char *link)
{
    char text[PATH_MAX], *next = NULL;
    ssize_t length = readlink(link, text, sizeof text - 1);
    const char *slash = strrchr(link, '/');
    if (length <= 0)
        return NULL;
    text[length] = 0;
    if (text[0] == '/' || !slash)
        return strdup(text);
    return asprintf(&next, "%.*s/%s", (int)(slash - link), link, text) < 0 ? NULL : next;
}

/* Refuses an invalid file name; the message says what is wrong with it. */
static int refuse_name(const char *path, int code, struct fathom_error *err)
{
    bool unusable = code == ENAMETOOLONG || code == ENOTDIR || code == ELOOP;
    error_system(err, code, "cannot write %.300s", path);
    if (!unusable)
        return -code;
    if (err)
        err->code = ENXIO;
    return -ENXIO;
}

/* Follows the user's links from `path` to a file, or to the link that leads to a pipe or device: the links of
 * /proc/PID/fd cannot be read as paths. *status: of what is there; *exists: whether anything is. */
static int follow_links(const char *path, char **target, struct stat *status, bool *exists,
                        struct fathom_error *err)
{
    char *at = strdup(path);
    struct stat behind;
    int rc = 0;
    for (int links = 0; at && rc == 0; links++) {
        rc = symlinks_check(at, err);
        if (rc < 0)
            break;
        *exists = lstat(at, status) == 0;
        if (!*exists && errno != ENOENT)
            rc = refuse_name(path, errno, err);
        if (rc < 0 || !*exists || !S_ISLNK(status->st_mode))
            break;
        if (status->st_uid != geteuid()) {
            rc = error_set(err, EPERM, "%s is another user's symbolic link, which is not followed", at);
            break;
        }
        if (stat(at, &behind) == 0 && !S_ISREG(behind.st_mode)) {
            *status = behind;
            break;
        }
        if (links == LINKS_MAX) {
            rc = refuse_name(path, ELOOP, err);
            break;
        }
        char *next = read_link(at);
        free(at);
        at = next;
    }
    if (!at)
        return error_memory(err);
    if (rc < 0)
        free(at);
    else
        *target = at;
    return rc;
}

static bool is_stream(mode_t mode)
{
    return S_ISFIFO(mode) || S_ISCHR(mode);
}

/* Uses a descriptor as the stream, unless it is a terminal. */
static int use_stream(struct outfile *file, int fd, struct fathom_error *err)
{
    if (fd < 0)
        return error_system(err, errno, "cannot write %s", file->path);
    file->fd = fd;
    return isatty(fd) ? error_set(err, ENOTTY, "%s is a terminal: name a file, or use a pipe", file->path)
                      : 0;
}

/* The pipe or device at `target`; only if it still is one. */
static int open_stream(struct outfile *file, const char *target, struct fathom_error *err)
{
    struct stat status;
    int fd = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int rc = use_stream(file, fd, err);
    if (rc == 0 && (fstat(fd, &status) < 0 || !is_stream(status.st_mode)))
        rc = error_set(err, ENXIO, "%s is no longer a pipe", file->path);
    return rc;
}

/* malloc'd. */
static char *directory_of(const char *target)
{
    const char *slash = strrchr(target, '/');
    return slash ? strndup(target, slash == target ? 1 : (size_t)(slash - target)) : strdup(".");
}

/* Checks that a file can be created in the directory of `target`, and can replace a file of `owner`: with the
 * sticky bit, as in /tmp, other users' files can be written but not replaced. */
static int check_directory(const char *target, uid_t owner, struct fathom_error *err)
{
    char *directory = directory_of(target);
    struct stat status;
    int rc = 0;
    if (!directory)
        return error_memory(err);
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0 || stat(directory, &status) < 0)
        rc = error_system(err, errno, "cannot create %s", target);
    else if (status.st_mode & S_ISVTX && geteuid() != 0 && geteuid() != owner && geteuid() != status.st_uid)
        rc = error_set(err, EPERM, "%s is another user's file, and %s lets only that user replace it", target,
                       directory);
    free(directory);
    return rc;
}

static int check_regular(struct outfile *file, const struct stat *status, bool exists,
                         struct fathom_error *err)
{
    size_t length = strlen(file->target);
    const char *slash = strrchr(file->target, '/'), *name = slash ? slash + 1 : file->target;
    if (exists && S_ISDIR(status->st_mode))
        return error_set(err, EISDIR, "%s is a directory", file->path);
    if (exists && !S_ISREG(status->st_mode))
        return error_set(err, ENXIO, "%s is neither a regular file nor a pipe or character device",
                         file->path);
    if (length == 0 || file->target[length - 1] == '/')
        return error_set(err, EISDIR, "'%s' names no file", file->path);
    if (strlen(name) + strlen(TEMPORARY OLD) > NAME_MAX)
        return refuse_name(file->path, ENAMETOOLONG, err);
    if (exists && faccessat(AT_FDCWD, file->target, W_OK, AT_EACCESS) < 0)
        return error_system(err, errno, "cannot write %s", file->path);
    if (exists && status->st_uid == geteuid()) {
        file->replaces = true;
        file->mode = status->st_mode & 0777;
        file->group = status->st_gid;
    }
    return check_directory(file->target, exists ? status->st_uid : geteuid(), err);
}

const char *outfile_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static struct outfile *new_file(const char *path, struct fathom_error *err)
{
    struct outfile *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    if (!file || !copy) {
        free(file);
        free(copy);
        error_memory(err);
        return NULL;
    }
    file->fd = -1;
    file->path = copy;
    return file;
}

int outfile_stream(int fd, struct outfile **out, struct fathom_error *err)
{
    struct outfile *file = new_file(outfile_name("-"), err);
    int rc = file ? use_stream(file, fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), err) : -ENOMEM;
    if (rc < 0)
        outfile_close(file);
    else
        *out = file;
    return rc;
}

int outfile_open(const char *path, struct outfile **out, struct fathom_error *err)
{
    if (strcmp(path, "-") == 0)
        return outfile_stream(STDOUT_FILENO, out, err);
    struct outfile *file = new_file(path, err);
    bool exists;
    char *target = NULL;
    struct stat status;
    int rc = file ? follow_links(path, &target, &status, &exists, err) : -ENOMEM;
    if (rc == 0 && target && exists && is_stream(status.st_mode)) {
        rc = open_stream(file, target, err);
        free(target);
    } else if (rc == 0 && target) {
        file->target = target;
        rc = check_regular(file, &status, exists, err);
    }
    if (rc < 0)
        outfile_close(file);
    else
        *out = file;
    return rc;
}

bool outfile_is_stream(const struct outfile *file)
{
    return !file->target;
}

const char *outfile_target(const struct outfile *file)
{
    return file->target;
}

char *outfile_absolute(const struct outfile *file)
{
    char *directory = file->target ? directory_of(file->target) : NULL;
    char *real = directory ? realpath(directory, NULL) : NULL, *path = NULL;
    if (real) {
        const char *slash = strrchr(file->target, '/');
        const char *name = slash ? slash + 1 : file->target;
        if (asprintf(&path, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
            path = NULL;
    }
    free(real);
    free(directory);
    return path;
}

const char *outfile_path(const struct outfile *file)
{
    return file->path;
}

/* Copies the mode of the replaced file; without group permissions if the group cannot be kept. */
static void keep_mode(const struct outfile *file)
{
    struct stat status;
    mode_t mode = file->mode;
    if (fstat(file->fd, &status) == 0 && status.st_gid != file->group &&
        fchown(file->fd, (uid_t)-1, file->group) < 0)
        mode &= ~(mode_t)070;
    fchmod(file->fd, mode);
}

/* Creates a file without a name, which vanishes if this process is killed. -1: not supported by the file
 * system, or there is no /proc, which is needed to name it later. */
static int make_nameless(const char *target)
{
    char *directory = directory_of(target), link[32];
    int fd = directory ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(directory);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(link, F_OK) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Gives the file a temporary name, which the next step of outfile_publish() replaces. */
static int give_name(struct outfile *file, struct fathom_error *err)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    for (unsigned i = 0; !file->temporary; i++) {
        char *name;
        if (asprintf(&name, "%s.%03x%03x", file->target, (unsigned)getpid() & 0xfff, i & 0xfff) < 0)
            return error_memory(err);
        if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            file->temporary = name;
            break;
        }
        int code = errno;
        free(name);
        if (code != EEXIST || i > 0xfff)
            return error_system(err, code, "cannot create a file next to %s", file->path);
    }
    return 0;
}

static int make_named(struct outfile *file, struct fathom_error *err)
{
    char *temporary;
    if (asprintf(&temporary, "%s" TEMPORARY, file->target) < 0)
        return error_memory(err);
    file->fd = mkostemp(temporary, O_CLOEXEC);
    if (file->fd < 0) {
        int code = errno;
        free(temporary);
        return error_system(err, code, "cannot create a file next to %s", file->path);
    }
    file->temporary = temporary;
    return 0;
}

int outfile_begin(struct outfile *file, int *fd, struct fathom_error *err)
{
    if (file->fd < 0) {
        file->fd = make_nameless(file->target);
        int rc = file->fd < 0 ? make_named(file, err) : 0;
        if (rc < 0)
            return rc;
        if (file->replaces)
            keep_mode(file);
    }
    *fd = file->fd;
    return 0;
}

/* Links the existing file as `old`, so that at no moment either name is missing. Without hard links, the file
 * is moved. */
static int keep_linked(const struct outfile *file, const char *old, struct fathom_error *err)
{
    char *aside; /* link() replaces nothing, rename() does */
    if (asprintf(&aside, "%s" OLD, file->temporary) < 0)
        return error_memory(err);
    bool linked = link(file->target, aside) == 0;
    int rc = 0;
    if (rename(linked ? aside : file->target, old) < 0)
        rc = error_system(err, errno, "cannot keep %s as %s", file->path, old);
    if (linked)
        unlink(aside); /* still exists if `old` was already the same file */
    free(aside);
    return rc;
}

static int keep_as_old(const struct outfile *file, struct fathom_error *err)
{
    struct stat status;
    char *old;
    if (lstat(file->target, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return 0;
    if (asprintf(&old, "%s" OLD, file->target) < 0)
        return error_memory(err);
    int rc = keep_linked(file, old, err);
    free(old);
    return rc;
}

int outfile_publish(struct outfile *file, bool keep_old, struct fathom_error *err)
{
    struct stat status;
    if (!file->target || file->published)
        return 0;
    if (lstat(file->target, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(err, ENXIO, "%s is no longer a regular file", file->path);
    int rc = give_name(file, err);
    if (rc == 0 && keep_old)
        rc = keep_as_old(file, err);
    if (rc == 0 && rename(file->temporary, file->target) < 0)
        rc = error_system(err, errno, "cannot replace %s", file->path);
    if (rc < 0)
        return rc;
    free(file->temporary);
    file->temporary = NULL;
    file->published = true;
    return 0;
}

void outfile_close(struct outfile *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->target);
    free(file->path);
    free(file);
}

int outfile_put(struct outfile *file, const void *data, size_t size, struct fathom_error *err)
{
    int fd, rc = outfile_begin(file, &fd, err);
    if (rc == 0)
        rc = file_write_all(fd, data, size, file->path, err);
    if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
        rc = error_system(err, errno, "cannot write to %s", file->path);
    return rc < 0 ? rc : outfile_publish(file, false, err);
}

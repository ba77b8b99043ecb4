/* session_directory.c - see session_directory.h. */
#include "pathmap/train/session_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "pathmap/wire/mail.h"
#include "pathmap/wire/store.h"

#define PREFIX     "fathom-train."
#define MAKE_TRIES 100
#define ABOUT_NAME "about"
#define ABOUT_HEAD                                                                                           \
    "fathom train 1" /* the file: this, "partial", "whole" or "calls", and the output, each NUL-terminated */

static const char *parent_directory(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && parent[0] == '/' ? parent : "/tmp";
}

/* -EAGAIN: another process took it for abandoned and removed it before it was locked. */
static int make_once(const char *parent, struct session_directory *out, struct fathom_error *err)
{
    struct session_directory made = {.fd = -1};
    struct stat st = {0};
    if (asprintf(&made.path, "%s/" PREFIX "XXXXXX", parent) < 0)
        return error_memory(err);
    if (!mkdtemp(made.path)) {
        int code = errno;
        free(made.path);
        return error_system(err, code, "cannot create a training directory in %s", parent);
    }
    made.fd = open(made.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = made.fd < 0 ? errno : 0;
    /* Waits while another process checks whether this one is abandoned: it has no mailbox yet. */
    if (!code && (flock(made.fd, LOCK_EX) != 0 || stat(made.path, &st) != 0))
        code = errno;
    if (code == ENOENT)
        code = EAGAIN;
    if (code) {
        rmdir(made.path);
        error_system(err, code, "cannot lock %s", made.path);
        session_directory_close(&made);
        return -code;
    }
    *out = made;
    return 0;
}

int session_directory_make(struct session_directory *out, struct fathom_error *err)
{
    const char *parent = parent_directory();
    int rc = make_once(parent, out, err);
    for (int i = 1; i < MAKE_TRIES && rc == -EAGAIN; i++)
        rc = make_once(parent, out, err);
    return rc;
}

int session_directory_describe(const struct session_directory *directory, const struct session_about *about,
                               struct fathom_error *err)
{
    char text[sizeof ABOUT_HEAD + sizeof "partial" + sizeof about->output];
    const char *kind = about->calls ? "calls" : about->partial ? "partial" : "whole";
    int size = snprintf(text, sizeof text, ABOUT_HEAD "%c%s%c%s", 0, kind, 0, about->output);
    int fd = openat(directory->fd, ABOUT_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_system(err, errno, "cannot write into %s", directory->path);
    int rc = file_write_all(fd, text, (size_t)size + 1, directory->path, err);
    close(fd);
    return rc;
}

/* Leaves *about unchanged if the file is invalid: it is optional. */
static void read_about(const struct session_directory *directory, struct session_about *about)
{
    char text[sizeof ABOUT_HEAD + sizeof "partial" + sizeof about->output];
    int fd = openat(directory->fd, ABOUT_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t size = fd < 0 ? -1 : pread(fd, text, sizeof text, 0);
    if (fd >= 0)
        close(fd);
    if (size <= (ssize_t)sizeof ABOUT_HEAD || text[size - 1] || strcmp(text, ABOUT_HEAD) != 0)
        return;
    const char *kind = text + sizeof ABOUT_HEAD, *output = kind + strlen(kind) + 1;
    about->partial = strcmp(kind, "partial") == 0;
    about->calls = strcmp(kind, "calls") == 0;
    if (output < text + size && output[0] == '/')
        snprintf(about->output, sizeof about->output, "%s", output);
}

static int judge_directory(const struct session_directory *directory, struct fathom_error *err)
{
    struct stat st, mail;
    if (fstat(directory->fd, &st) != 0)
        return error_system(err, errno, "cannot stat %s", directory->path);
    if (st.st_uid != geteuid())
        return error_set(err, EPERM, "%s belongs to another user", directory->path);
    if (flock(directory->fd, LOCK_EX | LOCK_NB) != 0)
        return error_set(err, EBUSY, "%s is in use: 'fathom train' is still running", directory->path);
    if (fstatat(directory->fd, MAIL_NAME, &mail, AT_SYMLINK_NOFOLLOW) != 0)
        return error_set(err, ENOMSG, "%s is not a directory of 'fathom train'", directory->path);
    return 0;
}

int session_directory_adopt(const char *path, struct session_directory *out, struct session_about *about,
                            struct fathom_error *err)
{
    struct session_directory found = {.path = strdup(path), .fd = -1};
    if (!found.path)
        return error_memory(err);
    found.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int rc = found.fd < 0 ? error_system(err, errno, "cannot open %s", text_name(path))
                          : judge_directory(&found, err);
    if (rc < 0) {
        session_directory_close(&found);
        return rc;
    }
    *about = (struct session_about){0};
    read_about(&found, about);
    *out = found;
    return 0;
}

/* Whether it only contains what is made before the mailbox. */
static bool is_unfilled(DIR *dir)
{
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ABOUT_NAME) != 0)
            return false;
    }
    return true;
}

void session_directory_sweep(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir && fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_unfilled(dir)) {
        unlinkat(fd, ABOUT_NAME, 0);
        rmdir(path);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

bool session_directory_has_calls(const char *path)
{
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir)) != NULL;)
        found = strncmp(entry->d_name, STORE_PREFIX, sizeof STORE_PREFIX - 1) == 0;
    if (dir)
        closedir(dir);
    return found;
}

static int is_session(const struct dirent *entry)
{
    return strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0;
}

int session_directory_list(char ***out, size_t *count, struct fathom_error *err)
{
    const char *parent = parent_directory();
    struct dirent **entries;
    int found = scandir(parent, &entries, is_session, alphasort);
    if (found < 0)
        return error_system(err, errno, "cannot read %s", parent);
    char **paths = calloc((size_t)found + 1, sizeof *paths);
    size_t n = 0;
    for (int i = 0; i < found; i++) {
        char *path;
        struct stat st;
        if (paths && asprintf(&path, "%s/%s", parent, entries[i]->d_name) >= 0) {
            if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
                paths[n++] = path;
            else
                free(path);
        }
        free(entries[i]);
    }
    free(entries);
    if (!paths)
        return error_memory(err);
    *out = paths;
    *count = n;
    return 0;
}

void session_directory_close(struct session_directory *directory)
{
    if (directory->fd >= 0)
        close(directory->fd);
    free(directory->path);
    *directory = (struct session_directory){.fd = -1};
}

void session_directory_remove(struct session_directory *directory)
{
    int copy = directory->fd >= 0 ? dup(directory->fd) : -1; /* closedir() closes its own */
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (dir) {
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            if (strcmp(entry->d_name, MAIL_NAME) != 0)
                unlinkat(directory->fd, entry->d_name, 0); /* refused for "." and ".." */
        }
        unlinkat(directory->fd, MAIL_NAME, 0); /* last: if killed here, the directory is still recognised */
        closedir(dir);
    } else if (copy >= 0) {
        close(copy);
    }
    if (directory->path)
        rmdir(directory->path);
    session_directory_close(directory);
}

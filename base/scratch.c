/* scratch.c - see scratch.h. */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_AT_ONCE 1 /* descriptors for nftw(): few may be free */

struct scratch {
    char *directory;
    bool (*keep)(const char *directory); /* NULL: never */
    int alive; /* a pipe's end: when it is closed, the child removes the directory */
    pid_t child;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(path);
    return 0;
}

/* Enters the directory, so that nobody who may rename it (in a TMPDIR of another user) can redirect the
 * removal. */
static bool enter_directory(const char *directory)
{
    struct stat st;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && fchdir(fd) == 0;
}

/* Runs with all signals blocked. */
static _Noreturn void child_main(const struct scratch *s, int alive)
{
    char byte;
    bool inside = enter_directory(s->directory);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd); /* readers of the parent's output do not wait for the child */
    if (alive != 3 && dup2(alive, 3) < 0)
        _exit(1);
    close_range(4, UINT_MAX, 0);
    setsid();
    while (read(3, &byte, 1) < 0 && errno == EINTR)
        ;
    if (inside && s->keep && s->keep("."))
        _exit(0);
    if (inside)
        nftw(".", remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
    rmdir(s->directory);
    _exit(0);
}

static int start_child(struct scratch *s, struct fathom_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_system(err, errno, "cannot create a pipe");
    s->child = fork();
    if (s->child == 0)
        child_main(s, ends[0]);
    int failed = errno;
    close(ends[0]);
    if (s->child < 0) {
        close(ends[1]);
        return error_system(err, failed, "cannot create a process");
    }
    s->alive = ends[1];
    return 0;
}

/* Makes the directory if its name is a template, and starts the child. No signal may end this process between the two, or
 * the child before it has entered the directory. */
static int begin_scratch(struct scratch *s, bool make, struct fathom_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int rc = !make || mkdtemp(s->directory)
                 ? 0
                 : error_system(err, errno, "cannot create the directory %s", s->directory);
    if (rc == 0 && (rc = start_child(s, err)) < 0 && make)
        rmdir(s->directory);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Takes ownership of the name. */
static int make_scratch(char *directory, bool (*keep)(const char *directory), bool is_template,
                        struct scratch **out, struct fathom_error *err)
{
    struct scratch *s = directory ? calloc(1, sizeof *s) : NULL;
    int rc = s ? 0 : error_memory(err);
    if (s) {
        *s = (struct scratch){.directory = directory, .keep = keep};
        rc = begin_scratch(s, is_template, err);
    }
    if (rc < 0) {
        free(directory);
        free(s);
        return rc;
    }
    *out = s;
    return 0;
}

static const char *parent_directory(void)
{
    const char *where = secure_getenv("TMPDIR");
    return where && where[0] == '/' ? where : "/var/tmp";
}

int scratch_file(void)
{
    char *name;
    int fd = open(parent_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) ||
        asprintf(&name, "%s/fathom-XXXXXX", parent_directory()) < 0)
        return fd;
    fd = mkostemp(name, O_CLOEXEC); /* the file system has no O_TMPFILE */
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

int scratch_new(struct scratch **out, struct fathom_error *err)
{
    char *directory;
    if (asprintf(&directory, "%s/fathom-XXXXXX", parent_directory()) < 0)
        return error_memory(err);
    return make_scratch(directory, NULL, true, out, err);
}

int scratch_watch(const char *directory, bool (*keep)(const char *directory), struct scratch **out,
                  struct fathom_error *err)
{
    return make_scratch(strdup(directory), keep, false, out, err);
}

const char *scratch_directory(const struct scratch *s)
{
    return s->directory;
}

void scratch_free(struct scratch *s)
{
    if (!s)
        return;
    close(s->alive);
    while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
        ;
    free(s->directory);
    free(s);
}

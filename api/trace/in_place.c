#include "api/trace/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

/* Maps this user to itself in the new user namespace. */
static bool become_user(unsigned uid, unsigned gid)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
    return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups);
}

/* Replaces the files, for this process. Returns 0 or an errno. */
static int put_in_place(const struct in_place *files, size_t count)
{
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWNS) < 0) {
        if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            return errno;
        if (!become_user(uid, gid))
            return EPERM;
    }
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return errno;
    for (size_t i = 0; i < count; i++)
        if (mount(files[i].other, files[i].original, NULL, MS_BIND, NULL) < 0)
            return errno;
    return 0;
}

int in_place_try(const struct in_place *files, size_t count)
{
    int status;
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        _exit(put_in_place(files, count));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL); /* if ignored here, the command would ignore it too */
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Called in the new process. Returns an errno if it fails. */
static int run_command(const struct in_place_run *run)
{
    int code = run->count ? put_in_place(run->files, run->count) : 0;
    int nowhere = run->quiet ? open("/dev/null", O_RDWR) : -1;
    for (int fd = 0; fd <= 2 && nowhere >= 0; fd++)
        dup2(nowhere, fd);
    reset_signals();
    if (code)
        return code;
    execvpe(run->program ? run->program : run->command[0], run->command, run->environment);
    return errno;
}

int in_place_start(const struct in_place_run *run, pid_t *pid, struct fathom_error *err)
{
    const char *name = text_name(run->command[0]);
    int told[2], code = 0;
    if (pipe2(told, O_CLOEXEC) < 0)
        return error_system(err, errno, "cannot make a pipe");
    *pid = fork();
    if (*pid == 0) {
        code = run_command(run);
        _exit(write(told[1], &code, sizeof code) == sizeof code ? 127 : 126);
    }
    int failed = *pid < 0 ? errno : 0;
    close(told[1]);
    ssize_t n = failed ? 0 : read(told[0], &code, sizeof code);
    while (n < 0 && errno == EINTR)
        n = read(told[0], &code, sizeof code);
    close(told[0]);
    if (failed)
        return error_system(err, failed, "cannot fork to run %s", name);
    if (n != sizeof code)
        return 0;
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (code == ENOENT)
        return error_set(err, code, "cannot run %s: not found", name);
    return error_system(err, code, "cannot run %s", name);
}

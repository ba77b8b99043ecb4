/* trace.c - runs a command whose code is duplicated, with the runtime that writes its trace. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/runtime.h"
#include "api/trace/duplicating.h"
#include "api/trace/tracing.h"
#include "api/train/libraries.h"
#include "base/path.h"
#include "base/vec.h"
#include "image/name.h"
#include "streams/trace/directory.h"

#define GRACE_MS 3000 /* for a command that was sent SIGTERM */

/* The directory ------------------------------------------------------------------------------------------------ */

/* Renames an earlier trace; refuses anything else. */
static int move_old(const char *directory, struct fathom_error *err)
{
    char *old = NULL;
    struct stat status;
    if (lstat(directory, &status) < 0)
        return errno == ENOENT ? 0 : error_system(err, errno, "cannot write to %s", directory);
    if (S_ISDIR(status.st_mode) && rmdir(directory) == 0) /* it was empty */
        return 0;
    if (!trace_directory_is(directory))
        return error_set(err, EEXIST, "%s exists and is no trace: remove it, or give another --output",
                         directory);
    if (asprintf(&old, "%s.old", directory) < 0)
        return error_memory(err);
    int rc = trace_directory_is(old) ? trace_directory_remove(old, err) : 0;
    if (rc == 0 && rename(directory, old) < 0)
        rc = error_system(err, errno, "cannot rename %s to %s", directory, old);
    free(old);
    return rc;
}

static int make_directory(struct fathom_trace *t, struct fathom_error *err)
{
    char *name = strdup(t->options.output);
    size_t length = name ? strlen(name) : 0;
    while (length > 1 && name[length - 1] == '/')
        name[--length] = 0;
    int rc = name ? move_old(name, err) : error_memory(err);
    if (rc == 0)
        rc = trace_directory_make(name, err);
    if (rc == 0 && !(t->directory = realpath(name, NULL)))
        rc = error_system(err, errno, "cannot find %s", name);
    free(name);
    return rc;
}

/* Duplication ------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct fathom_trace_code *code, const char *path)
{
    return name_begins(path, code->images, code->image_count);
}

static int add_file(struct fathom_trace *t, const char *path, struct fathom_error *err)
{
    char *original = realpath(path, NULL), *other = NULL;
    if (!original)
        return error_system(err, errno, "cannot read %s", path);
    if (asprintf(&other, "%s/" TRACE_IMAGES "/%zu-%s", t->directory, t->count, path_base(original)) < 0) {
        free(original);
        return error_memory(err);
    }
    host_status(&t->host, "duplicating %s", path_base(original));
    int rc = duplicating_write(original, other, &t->options.code, &t->host, err);
    if (rc == 0 && !vec_push(t->files, t->count, t->capacity, (struct in_place){original, other}))
        rc = error_memory(err);
    if (rc < 0) {
        free(original);
        free(other);
    }
    return rc;
}

/* Duplicates the chosen libraries. One that cannot be duplicated is reported and left out. */
static int add_libraries(struct fathom_trace *t, struct fathom_error *err)
{
    char **paths = NULL;
    size_t count = 0;
    int rc = libraries_list(t->program.loader, t->program.path, &paths, &count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct fathom_error why = {0};
        if (!is_wanted(&t->options.code, paths[i]))
            continue;
        rc = name_is_c_library(paths[i])
                 ? error_set(&why, ENOTSUP, "%s: code of the C library runs before a runtime can", paths[i])
                 : add_file(t, paths[i], &why);
        if (rc < 0)
            log_write(&t->host.log, LOG_WARNING, "%s; it is not traced", why.text);
        rc = 0;
    }
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
    return rc;
}

static int find_program(struct fathom_trace *t, struct fathom_error *err)
{
    int rc = program_find(t->options.command[0], &t->program, err);
    if (rc < 0)
        return rc;
    if (t->program.kind == PROGRAM_FOREIGN && access(t->program.path, R_OK) != 0)
        return error_system(err, errno, "cannot read %s", t->program.path);
    if (t->program.kind != PROGRAM_DYNAMIC)
        return error_set(err, ENOTSUP, "%s is %s: the runtime cannot be loaded into it", t->program.path,
                         t->program.kind == PROGRAM_STATIC ? "statically linked" : "no program for x86-64");
    if (t->program.raised)
        return error_set(err, ENOTSUP,
                         "%s gains privileges, so no runtime is loaded into it: run it as its owner",
                         t->program.path);
    return 0;
}

static int duplicate_files(struct fathom_trace *t, struct fathom_error *err)
{
    const struct fathom_trace_code *code = &t->options.code;
    int rc = 0;
    if (!code->image_count || is_wanted(code, t->program.path))
        rc = add_file(t, t->program.path, err);
    if (rc == 0 && code->image_count)
        rc = add_libraries(t, err);
    for (size_t i = 0; rc == 0 && i < t->options.file_count; i++)
        rc = add_file(t, t->options.files[i], err);
    if (rc == 0 && !t->count)
        rc = error_set(err, ENODATA, "%s loads no file that can be traced and that --image names",
                       t->program.path);
    return rc;
}

/* Checks whether the duplicated files can replace the original ones; else runs only the duplicated program, at its own path. */
static int place_files(struct fathom_trace *t, struct fathom_error *err)
{
    int rc = in_place_try(t->files, t->count);
    char *original = realpath(t->program.path, NULL), *named = realpath(t->options.command[0], NULL);
    bool itself = t->count == 1 && original && strcmp(t->files[0].original, original) == 0;
    bool script = named && original && strcmp(named, original) != 0;
    t->in_place = rc == 0;
    free(named);
    free(original);
    if (rc == 0)
        return 0;
    if (!itself || script)
        return error_set(err, EPERM,
                         "libraries, and interpreters of scripts, are replaced in a mount namespace, which "
                         "is not allowed here (%s): run this as root, or allow user namespaces",
                         strerror(-rc));
    log_write(&t->host.log, LOG_NOTE,
              "no mount namespace is allowed here (%s): the program runs as %s, and so does /proc/self/exe",
              strerror(-rc), t->files[0].other);
    return 0;
}

int fathom_trace_open(const struct fathom_trace_options *options, const struct fathom_listener *listener,
                      struct fathom_trace **out, struct fathom_error *err)
{
    static const struct runtime runtime = {"libfathom-burst.so", "FATHOM_BURST_LIBRARY", "runtime of bursts"};
    struct fathom_trace *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->options = *options;
    t->status = -1;
    host_init(&t->host, listener);
    int rc = runtime_find(&runtime, options->runtime, t->library, sizeof t->library, err);
    if (rc == 0)
        rc = find_program(t, err);
    if (rc == 0)
        rc = make_directory(t, err);
    if (rc == 0)
        rc = duplicate_files(t, err);
    if (rc == 0)
        rc = place_files(t, err);
    if (rc < 0 && t->directory)
        trace_directory_remove(t->directory, NULL);
    if (rc == 0)
        *out = t;
    else
        fathom_trace_close(t);
    return rc;
}

/* The run ------------------------------------------------------------------------------------------------------ */

int tracing_start(struct fathom_trace *t, const char *directory, bool quiet, struct fathom_error *err)
{
    const struct fathom_trace_options *o = &t->options;
    char *how = NULL;
    if (asprintf(&how, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%s", o->checks, o->burst, o->bytes,
                 o->heap_bytes, directory) < 0)
        return error_memory(err);
    const struct runtime_variable variables[] = {{"FATHOM_TRACE", how, false},
                                                 {"LD_PRELOAD", t->library, true}};
    char **environment = runtime_environment(variables, sizeof variables / sizeof *variables);
    const struct in_place_run run = {.command = o->command,
                                     .program = t->in_place ? NULL : t->files[0].other,
                                     .environment = environment,
                                     .files = t->files,
                                     .count = t->in_place ? t->count : 0,
                                     .quiet = quiet};
    int rc = environment ? in_place_start(&run, &t->pid, err) : error_memory(err);
    runtime_environment_free(environment);
    free(how);
    return rc;
}

int fathom_trace_start(struct fathom_trace *t, struct fathom_error *err)
{
    return tracing_start(t, t->directory, false, err);
}

/* When stopped, sends SIGTERM once, and SIGKILL later. A signal handler for SIGCHLD makes the end be noticed at once. */
void fathom_trace_run(struct fathom_trace *t)
{
    int pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0), left = -1;
    struct pollfd poll_for = {.fd = pidfd, .events = POLLIN};
    struct rusage use = {0};
    for (pid_t ended; (ended = wait4(t->pid, &t->status, WNOHANG, &use)) != t->pid;) {
        t->status = -1;
        if (ended < 0 && errno != EINTR)
            break;
        if (atomic_load(&t->stop) && left < 0) {
            kill(t->pid, SIGTERM);
            left = GRACE_MS;
        }
        poll(&poll_for, 1, 50);
        if (left > 0 && (left -= 50) <= 0)
            kill(t->pid, SIGKILL);
    }
    t->seconds = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec * 1e-6;
    if (pidfd >= 0)
        close(pidfd);
}

void fathom_trace_stop(struct fathom_trace *t)
{
    atomic_store(&t->stop, true);
}

int fathom_trace_end(struct fathom_trace *t, struct fathom_error *err)
{
    struct trace_totals totals;
    int rc = trace_directory_totals(t->directory, &totals, err);
    if (rc < 0)
        return rc;
    if (!totals.bursts)
        return error_set(err, ENODATA,
                         "no burst began: %s passed fewer checks than there are between two of them; give a "
                         "smaller --checks, or --full, or trace what does its work: a library by --image, a "
                         "program that it executes by --file",
                         t->program.path);
    log_write(&t->host.log, LOG_NOTE,
              "%" PRIu64 " records in %" PRIu64 " burst%s of %u thread%s, %u process%s: %.1f MB%s%s",
              totals.records, totals.bursts, totals.bursts == 1 ? "" : "s", totals.threads,
              totals.threads == 1 ? "" : "s", totals.processes, totals.processes == 1 ? "" : "es",
              (double)totals.bytes / 1e6, t->options.temporary ? "" : " in ",
              t->options.temporary ? "" : t->options.output);
    if (totals.lost)
        log_write(&t->host.log, LOG_WARNING, "%" PRIu64 " records are lost: a burst's piece had too many",
                  totals.lost);
    if (totals.full)
        log_write(&t->host.log, LOG_WARNING, "%u trace%s ended at %s", totals.full,
                  totals.full == 1 ? "" : "s",
                  totals.disk ? "a disk that is full, or a limit of the size of files"
                              : "the bound: give a larger --bytes");
    return 0;
}

int fathom_trace_status(const struct fathom_trace *t)
{
    return t->status;
}

void fathom_trace_close(struct fathom_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        free((char *)(uintptr_t)t->files[i].original);
        free((char *)(uintptr_t)t->files[i].other);
    }
    free(t->files);
    free(t->directory);
    free(t);
}

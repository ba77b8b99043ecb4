#include "api/record/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/record/java_maps.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "collector/rings/clock_pair.h"
#include "collector/targets/proc.h"
#include "image/made/jitdump.h"
#include "image/made/perf_map.h"
#include "image/mapped_name.h"

#define LOOK_NS    200000000u /* minimum time between two scans of code_files_look(), */
#define LOOK_SHARE 50u        /* and this many times the duration of a scan */

enum { AS_MAP, AS_DUMP, KINDS };

struct watched {
    uint32_t pid;
    struct proc_self self;
    int tmp; /* its /tmp, opened with O_PATH; -1: missing, or no longer needed */
    int files[KINDS];
    bool hotspot;
    uint64_t since; /* time of the mapping for which it is watched, ns; 0: it was already running */
    uint64_t until; /* end of the time for which its files apply; UINT64_MAX: it is still running */
};

struct code_files {
    const struct log *log;
    struct java_maps *java; /* NULL: HotSpots are not asked */
    struct table *by_pid;   /* PIDs of running ones -> index + 1 */
    struct watched *list;
    size_t count, capacity;
    struct code_namer *namer;
    struct jitdump_clock clock; /* its state at the beginning */
    bool clocked;
    bool told_full, told_foreign, told_many;
    uint64_t due;       /* next scan of code_files_look(), ns */
    uint64_t looked_at; /* size of all files at the last scan, bytes */
};

struct code_files *code_files_new(const struct log *log, struct java_maps *java)
{
    struct code_files *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->log = log;
    f->java = java;
    f->by_pid = table_new();
    f->namer = code_namer_new();
    f->clocked = clock_pair_read(&f->clock.monotonic[0], &f->clock.recording[0]) == 0;
    if (!f->by_pid || !f->namer) {
        code_files_free(f);
        f = NULL;
    }
    return f;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct watched *w)
{
    close_one(&w->tmp);
    for (int i = 0; i < KINDS; i++)
        close_one(&w->files[i]);
}

void code_files_free(struct code_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        close_all(&f->list[i]);
    table_free(f->by_pid);
    code_namer_free(f->namer);
    free(f->list);
    free(f);
}

/* Where the process is known -------------------------------------------------------------------------------------- */

/* Reopens a descriptor of O_PATH for reading if it is a regular file: opening a device may have effects, and the process may have put a
 * device there that it could not open itself. Closes `fd`. */
static int open_regular(int fd)
{
    char path[40];
    struct stat st;
    int file = -1;
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    close(fd);
    return file;
}

/* Opens a path as the process sees it. Links cannot leave its root. */
static int open_as(const struct watched *w, const char *path, uint64_t flags)
{
    char root[40];
    const struct open_how how = {.flags = flags | O_CLOEXEC,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    snprintf(root, sizeof root, "/proc/%" PRIu32 "/root", w->pid);
    const int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    const int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
    close(directory);
    return fd;
}

static bool make_room(struct code_files *f);

/* The process, added if it is new; NULL: it has ended, or there are too many. */
static struct watched *watch_process(struct code_files *f, uint32_t pid, uint64_t time, int *rc)
{
    const uint64_t *known = table_find(f->by_pid, pid);
    struct watched w = {.pid = pid, .tmp = -1, .files = {-1, -1}, .since = time, .until = UINT64_MAX};
    if (known)
        return &f->list[*known - 1];
    if (!make_room(f)) {
        if (!f->told_many)
            log_write(f->log, LOG_WARNING,
                      "more than %u processes make code at run time: what others make has no names",
                      CODE_FILES_MOST);
        f->told_many = true;
        return NULL;
    }
    if (proc_self((pid_t)pid, &w.self) < 0)
        return NULL;
    w.tmp = open_as(&w, "/tmp", O_PATH | O_DIRECTORY);
    uint64_t *number = table_put(f->by_pid, pid, NULL);
    if (!number || !vec_push(f->list, f->count, f->capacity, w)) {
        close_all(&w);
        *rc = -ENOMEM;
        return NULL;
    }
    *number = f->count;
    return &f->list[f->count - 1];
}

/* Files ------------------------------------------------------------------------------------------------------------ */

/* Whether the file belongs to the process's user. Else it is closed. */
static bool is_its_own(struct code_files *f, const struct watched *w, int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && proc_self_may_have_written(&w->self, &st)) {
        if (proc_self_trusts(&w->self, &st))
            return true;
        if (!f->told_foreign)
            log_write(f->log, LOG_WARNING,
                      "names of code that process %" PRIu32
                      " made are not read: their file belongs to user %u, the process to %u",
                      w->pid, st.st_uid, w->self.user);
        f->told_foreign = true;
    }
    close(fd);
    return false;
}

static void take_file(struct code_files *f, struct watched *w, int kind, int fd)
{
    if (fd < 0 || !is_its_own(f, w, fd))
        return;
    close_one(&w->files[kind]);
    w->files[kind] = fd;
}

static void open_map(struct code_files *f, struct watched *w)
{
    char name[32];
    if (w->until == UINT64_MAX)
        proc_self((pid_t)w->pid, &w->self); /* its user may have changed */
    snprintf(name, sizeof name, "perf-%d.map", (int)w->self.pid);
    if (w->tmp >= 0)
        take_file(f, w, AS_MAP, open_regular(openat(w->tmp, name, O_PATH | O_CLOEXEC | O_NOFOLLOW)));
}

/* Opens the map of a process that ends, for the last time. */
static void open_last_map(struct code_files *f, struct watched *w)
{
    open_map(f, w);
    close_one(&w->tmp);
}

/* Reads at most CODE_FILES_BYTES, and stops at a read error. *data: malloc'ed. 0; -ENOMEM. */
static int read_file(int fd, uint8_t **data, size_t *size)
{
    struct stat st;
    *size = 0;
    const size_t most = fstat(fd, &st) != 0 || st.st_size < 0     ? 0
                        : (uint64_t)st.st_size < CODE_FILES_BYTES ? (size_t)st.st_size
                                                                  : CODE_FILES_BYTES;
    *data = malloc(most + 1);
    if (!*data)
        return -ENOMEM;
    *size = file_read_at(fd, *data, most, 0);
    return 0;
}

/* The clocks at the beginning and now; NULL: unknown. */
static const struct jitdump_clock *clock_of(struct code_files *f)
{
    struct jitdump_clock *c = &f->clock;
    if (!f->clocked)
        return NULL;
    if (clock_pair_read(&c->monotonic[1], &c->recording[1]) < 0) {
        c->monotonic[1] = c->monotonic[0];
        c->recording[1] = c->recording[0];
    }
    return c;
}

/* Adds names from a process's files; of a file with too many names, only the first ones. 0 or -ENOMEM. */
static int read_files(struct code_files *f, struct code_namer *namer, const struct watched *w)
{
    int rc = 0, read = 0;
    for (int i = 0; i < KINDS && rc == 0; i++) {
        uint8_t *data = NULL;
        size_t size;
        if (w->files[i] < 0)
            continue;
        rc = read_file(w->files[i], &data, &size);
        if (rc == 0)
            read = i == AS_MAP ? perf_map_read(namer, (const char *)data, size)
                               : jitdump_read(namer, data, size, clock_of(f));
        free(data);
        if ((read == -ENOSPC || size == CODE_FILES_BYTES) && !f->told_full)
            log_write(f->log, LOG_WARNING,
                      "process %" PRIu32 " names more code than is kept: what is left of it is %s", w->pid,
                      "[run-time code]");
        f->told_full |= read == -ENOSPC || size == CODE_FILES_BYTES;
        rc = read == -ENOMEM ? read : rc;
    }
    return rc;
}

/* Adds all names of a process. */
static int name_one(struct code_files *f, struct code_namer *namer, const struct watched *w)
{
    int rc = code_namer_begin(namer);
    if (rc == 0)
        rc = read_files(f, namer, w);
    return rc == 0 ? code_namer_end(namer, w->pid, w->until) : rc;
}

/* Reads the files that a process left behind. */
static int read_one(struct code_files *f, struct watched *w)
{
    const int rc = name_one(f, f->namer, w);
    close_all(w);
    return rc;
}

/* The program in the process has ended. Records of several CPUs are unordered: an exec may be reported after later mappings. */
static void end_one(struct code_files *f, uint32_t pid, uint64_t time)
{
    const uint64_t *known = table_find(f->by_pid, pid);
    if (!known)
        return;
    struct watched *w = &f->list[*known - 1];
    if (time < w->since)
        return;
    w->until = time;
    open_last_map(f, w);
    table_remove(f->by_pid, pid);
}

/* Reads the files of ended processes if there are too many. */
static bool make_room(struct code_files *f)
{
    size_t kept = 0;
    if (f->count < CODE_FILES_MOST)
        return true;
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].until != UINT64_MAX) {
            if (read_one(f, &f->list[i]) < 0)
                return false;
            continue;
        }
        uint64_t *number = table_find(f->by_pid, f->list[i].pid);
        f->list[kept++] = f->list[i];
        if (number)
            *number = kept;
    }
    f->count = kept;
    return kept < CODE_FILES_MOST;
}

static int note_mapping(struct code_files *f, const struct record *record)
{
    const char *path = record->mmap.path;
    int rc = 0;
    if (!record->mmap.executable || !path)
        return 0;
    const bool dump = mapped_is_jitdump(path), hotspot = strcmp(path_base(path), "libjvm.so") == 0;
    struct watched *w =
        dump || hotspot || mapped_is_run_time(path) ? watch_process(f, record->pid, record->time, &rc) : NULL;
    if (w)
        w->hotspot |= hotspot;
    if (w && dump)
        take_file(f, w, AS_DUMP, open_regular(open_as(w, path, O_PATH | O_NOFOLLOW)));
    return rc;
}

int code_files_note(struct code_files *f, const struct record *record)
{
    if (record->kind == RECORD_MMAP)
        return note_mapping(f, record);
    if ((record->kind == RECORD_EXIT && record->pid == record->tid) ||
        (record->kind == RECORD_COMM && record->comm.exec))
        end_one(f, record->pid, record->time);
    return 0;
}

static void ask_java(const struct code_files *f, const struct watched *w)
{
    if (!f->java)
        return;
    if (w->until != UINT64_MAX && w->files[AS_MAP] < 0)
        log_write(f->log, LOG_WARNING,
                  "the Java of process %" PRIu32 " ended before it could be asked for a map of its code: "
                  "started with -XX:+DumpPerfMapAtExit, it writes one",
                  w->pid);
    if (w->until == UINT64_MAX && !java_maps_ask(f->java, w->pid))
        log_write(f->log, LOG_WARNING,
                  "the Java of process %" PRIu32 " wrote no map of its code: 'jcmd %" PRIu32
                  " Compiler.perfmap', of JDK 17 or later, failed or is not installed",
                  w->pid, w->pid);
}

int code_files_finish(struct code_files *f, uint8_t **data, size_t *size)
{
    int rc = 0;
    for (size_t i = 0; i < f->count && rc == 0; i++) {
        struct watched *w = &f->list[i];
        if (w->hotspot)
            ask_java(f, w);
        if (w->until == UINT64_MAX)
            open_last_map(f, w);
        rc = read_one(f, w);
    }
    f->count = 0;
    return rc == 0 ? code_namer_write(f->namer, data, size) : rc;
}

/* Current size of all files, in bytes. */
static uint64_t measure(struct code_files *f)
{
    uint64_t size = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct watched *w = &f->list[i];
        if (w->until == UINT64_MAX)
            open_map(f, w);
        for (int k = 0; k < KINDS; k++) {
            struct stat st;
            size += w->files[k] >= 0 && fstat(w->files[k], &st) == 0 ? (uint64_t)st.st_size : 0;
        }
    }
    return size;
}

int code_files_look(struct code_files *f, uint8_t **data, size_t *size)
{
    const uint64_t began = clock_ns();
    *data = NULL;
    if (began < f->due)
        return 0;
    const uint64_t bytes = measure(f);
    struct code_namer *namer = bytes == f->looked_at ? NULL : code_namer_new();
    int rc = bytes == f->looked_at || namer ? 0 : -ENOMEM;
    for (size_t i = 0; namer && i < f->count && rc == 0; i++)
        rc = name_one(f, namer, &f->list[i]);
    if (namer && rc == 0)
        rc = code_namer_write(namer, data, size);
    code_namer_free(namer);
    f->looked_at = bytes;
    const uint64_t now = clock_ns(), pause = LOOK_SHARE * (now - began);
    f->due = now + (pause > LOOK_NS ? pause : LOOK_NS);
    return rc;
}

/*
 * execs.c - see execs.h. Follows the "#!" of scripts, like the kernel. Unreadable programs are not judged:
 * they are not executed, or the runtime starts in them anyway.
 */
#include "pathmap/probe/execs.h"

#include <elf.h>
#include <sys/stat.h>

#include "pathmap/probe/leave.h"
#include "pathmap/probe/notes.h"
#include "base/raw.h"

#define SCRIPTS_MAX 5 /* the kernel's limit */
#define HEADERS_MAX 64
#define PATH_SIZE   1024

static struct {
    char mail[4096];    /* path of the mailbox */
    char runtime[4096]; /* the first entry of LD_PRELOAD, as set by fathom train; "": unknown */
    const char *directory;
} state;

/* The value of a variable; NULL: not set. */
static const char *value_of(char *const *environment, const char *name)
{
    size_t length = raw_length(name);
    for (char *const *e = environment; e && *e; e++)
        if (raw_begins(*e, name) && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

static bool ends_entry(char c)
{
    return c == 0 || c == ':' || c == ' ';
}

void execs_start(const char *directory, char *const *environment)
{
    const char *preload = value_of(environment, "LD_PRELOAD");
    size_t end = raw_append(state.mail, sizeof state.mail, 0, directory), n = 0;
    raw_append(state.mail, sizeof state.mail, end, "/" MAIL_NAME);
    for (; preload && !ends_entry(preload[n]) && n + 1 < sizeof state.runtime; n++)
        state.runtime[n] = preload[n];
    state.runtime[n] = 0;
    state.directory = directory;
}

/* Whether an entry of LD_PRELOAD is the runtime. */
static bool preloads_runtime(const char *list)
{
    size_t length = raw_length(state.runtime);
    for (const char *at = list; at && *at; at++) {
        size_t n = 0;
        while (!ends_entry(at[n]))
            n++;
        if (n == length && raw_equal(at, state.runtime, n))
            return true;
        at += n;
        if (!*at)
            break;
    }
    return false;
}

static bool in_environment(char *const *environment)
{
    const char *probe = value_of(environment, "FATHOM_PROBE");
    return probe && raw_same(probe, state.directory) && preloads_runtime(value_of(environment, "LD_PRELOAD"));
}

static uint32_t effective_user(void)
{
    return (uint32_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

/* Whether it can still be opened after the execution, without this process's capabilities. */
static bool can_open(const char *path, int flags, bool owned)
{
    struct stat st;
    int fd = raw_open(path, flags);
    bool can = fd >= 0 && raw_call(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 &&
               (!owned || effective_user() == 0 || effective_user() == st.st_uid);
    if (fd >= 0)
        raw_close(fd);
    return can;
}

/* Whether the file grants privileges that this process does not have (execve(2), ld.so(8)). */
static bool is_raised(int fd)
{
    struct stat st;
    uint32_t group = (uint32_t)raw_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
    static const char capability[] = "security.capability";
    if (raw_call(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0)
        return false;
    return ((st.st_mode & S_ISUID) && st.st_uid != effective_user()) ||
           ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != group) ||
           (effective_user() != 0 && raw_call(SYS_fgetxattr, fd, (long)capability, 0, 0, 0, 0) > 0);
}

/* The note's kind; -1: a program that the runtime can be loaded into. */
static int kind_of(int fd, const char *head, size_t size)
{
    const Elf64_Ehdr *elf = (const void *)head;
    if (size < sizeof *elf || !raw_equal(elf->e_ident, ELFMAG, SELFMAG) ||
        elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64)
        return NOTE_FOREIGN;
    if (is_raised(fd))
        return NOTE_RAISED;
    for (uint16_t i = 0; i < elf->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr p;
        long at = (long)(elf->e_phoff + i * sizeof p);
        if (raw_call(SYS_pread64, fd, (long)&p, sizeof p, at, 0, 0) != sizeof p)
            return NOTE_FOREIGN;
        if (p.p_type == PT_INTERP)
            return -1;
    }
    return NOTE_STATIC;
}

/* Stores a script's interpreter in `path`; false: not a script. */
static bool read_interpreter(const char *head, size_t size, char *path)
{
    size_t at = 2, n = 0;
    if (size < 3 || head[0] != '#' || head[1] != '!')
        return false;
    while (at < size && (head[at] == ' ' || head[at] == '\t'))
        at++;
    for (; at < size && n + 1 < PATH_SIZE; at++) {
        if (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == 0)
            break;
        path[n++] = head[at];
    }
    path[n] = 0;
    return n > 0;
}

/* A named pipe is not a program, and must not make us wait for a writer. */
static int open_program(const char *path)
{
    return raw_open(path, O_RDONLY | O_NONBLOCK);
}

/* Examines the program; closes fd. */
static void examine_program(int fd, const char *path, char *const *environment)
{
    char script[PATH_SIZE];
    _Alignas(8) char head[256];
    for (int depth = 0; fd >= 0; depth++) {
        long size = raw_call(SYS_pread64, fd, (long)head, sizeof head, 0, 0, 0);
        if (size <= 0 || depth > SCRIPTS_MAX)
            break;
        if (!read_interpreter(head, (size_t)size, script)) {
            int kind = kind_of(fd, head, (size_t)size);
            if (kind < 0 && !in_environment(environment))
                kind = NOTE_ENVIRONMENT;
            if (kind < 0 &&
                (!can_open(state.mail, O_RDWR, true) || !can_open(state.runtime, O_RDONLY, false)))
                kind = NOTE_UNREACHABLE;
            if (kind >= 0)
                note((enum mail_note_kind)kind, 0, path);
            break;
        }
        raw_close(fd);
        path = script;
        fd = open_program(path);
    }
    if (fd >= 0)
        raw_close(fd);
}

/* Searches this process's PATH like execvp(3). */
static int search_path(const char *name, char *const *own, char *path)
{
    const char *list = value_of(own, "PATH");
    for (const char *at = list ? list : "/bin:/usr/bin"; *at;) {
        size_t n = 0;
        for (; *at && *at != ':'; at++)
            if (n + 1 < PATH_SIZE)
                path[n++] = *at;
        path[n] = 0;
        n = raw_append(path, PATH_SIZE, n, n ? "/" : "./");
        raw_append(path, PATH_SIZE, n, name);
        if (raw_call(SYS_access, (long)path, 1 /* X_OK */, 0, 0, 0, 0) == 0)
            return open_program(path);
        at += *at == ':';
    }
    return -1;
}

void execs_look(const char *name, bool search, char *const *environment)
{
    extern char **environ;
    char path[PATH_SIZE];
    bool slash = false;
    if (!probe_works() || !state.directory || !name)
        return;
    for (const char *c = name; *c; c++)
        slash |= *c == '/';
    if (search && !slash)
        examine_program(search_path(name, environ, path), path, environment);
    else
        examine_program(open_program(name), name, environment);
}

void execs_look_at(int fd, char *const *environment)
{
    if (!probe_works() || !state.directory)
        return;
    examine_program((int)raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0, 0, 0, 0), "an open file", environment);
}

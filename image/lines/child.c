/* child.c - see child.h. */
#include "image/lines/child.h"

#include <errno.h>
#include <fcntl.h>
#include <libdwarf/libdwarf.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/lines/reader.h"

/* ms, on the clock used for deadlines */
static int64_t exchange_now(void)
{
    return (int64_t)(clock_ns() / 1000000);
}

/* Receives all of it before the deadline (0: none). false: the peer is gone or timed out. */
static bool exchange_receive(int socket, void *data, size_t size, int64_t deadline)
{
    uint8_t *at = data;
    while (size) {
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        int64_t left = deadline ? deadline - exchange_now() : -1;
        if (deadline && left <= 0)
            return false;
        int ready = poll(&wait, 1, (int)left);
        ssize_t n = ready > 0 ? recv(socket, at, size, 0) : ready;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Sends all of it, without SIGPIPE. false: the peer is gone. */
static bool exchange_send(int socket, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size) {
        ssize_t n = send(socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* If the program has opened an ELF file by libdwarf itself, libdwarf of 2021 takes any object for one of its own, and
 * reads flags by this function. */
extern int (*_dwarf_get_elf_flags_func_ptr)(void) __attribute__((weak));

#define SOCKET_AT 3 /* first of the child's two descriptors */
#define ALIVE_AT  4

/* The child's side --------------------------------------------------------------------------------------- */

struct answer {
    size_t size;
    uint8_t bytes[LINES_CHILD_ANSWER];
};

static void put_answer(struct answer *a, const void *data, size_t size)
{
    memcpy(a->bytes + a->size, data, size);
    a->size += size;
}

static void put_text(struct answer *a, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length > 4096)
        length = 4096; /* (the largest answer has room for all frames) */
    uint32_t stored = text ? (uint32_t)length + 1 : 0;
    put_answer(a, &stored, sizeof stored);
    put_answer(a, text ? text : "", length);
}

_Static_assert(sizeof(uint32_t) + LINES_CHILD_FRAMES * (6 * sizeof(uint32_t) + 3 * 4096) <=
                   LINES_CHILD_ANSWER,
               "an answer holds all frames");

/* Lowers a resource limit. */
static void lower_limit(int resource, uint64_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(resource, &limit);
    }
}

/* The size of this process's address space now, including everything inherited, such as a recording. */
static uint64_t inherited_bytes(void)
{
    unsigned long long pages = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    bool read = in && fscanf(in, "%llu", &pages) == 1;
    if (in)
        fclose(in);
    return read ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX - LINES_CHILD_MEMORY;
}

/* Limits the child to this many more seconds of CPU time; SIGXCPU then kills it. */
static void give_time(uint64_t seconds)
{
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0) {
        uint64_t until = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + seconds;
        limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

/* SIGIO, sent when the parent's end of the pipe is closed, kills the child even while it is busy.
 * (PR_SET_PDEATHSIG would signal when the forking thread ends.) */
static void die_with_parent(void)
{
    struct pollfd end = {.fd = ALIVE_AT};
    fcntl(ALIVE_AT, F_SETOWN, getpid());
    fcntl(ALIVE_AT, F_SETFL, O_ASYNC);
    if (poll(&end, 1, 0) != 0)
        _exit(1); /* it was already closed */
}

/* Keeps the child invisible: a crash leaves no core and no message. Closes the parent's descriptors except for
 * the child's socket and pipe. */
static void be_quiet(int socket, int alive)
{
    socket = fcntl(socket, F_DUPFD_CLOEXEC, ALIVE_AT + 1);
    alive = fcntl(alive, F_DUPFD_CLOEXEC, ALIVE_AT + 1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    if (dup2(socket, SOCKET_AT) < 0 || dup2(alive, ALIVE_AT) < 0)
        _exit(1);
    close_range(ALIVE_AT + 1, UINT_MAX, 0);
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++)
        signal(s, s == SIGINT || s == SIGTERM || s == SIGTTOU ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_AS, inherited_bytes() + LINES_CHILD_MEMORY);
    give_time(LINES_CHILD_OPENS);
    die_with_parent();
}

static void serve_queries(struct lines_reader *reader, struct answer *a)
{
    struct line_frame frames[LINES_CHILD_FRAMES];
    uint64_t address;
    while (exchange_receive(SOCKET_AT, &address, sizeof address, 0)) {
        uint32_t size;
        give_time(LINES_CHILD_TELLS);
        size_t count = lines_reader_at(reader, address, frames, LINES_CHILD_FRAMES);
        a->size = sizeof size;
        for (size_t i = 0; i < count; i++) {
            const struct line_frame *f = &frames[i];
            const uint32_t numbers[] = {f->line, f->start, f->discriminator};
            put_answer(a, numbers, sizeof numbers);
            put_text(a, f->function);
            put_text(a, f->file);
            put_text(a, f->linkage);
        }
        size = (uint32_t)(a->size - sizeof size);
        if (lines_reader_spent(reader) || lines_reader_damaged(reader)) {
            size = lines_reader_spent(reader) ? LINES_CHILD_SPENT : LINES_CHILD_DAMAGED;
            a->size = sizeof size;
        }
        memcpy(a->bytes, &size, sizeof size);
        if (!exchange_send(SOCKET_AT, a->bytes, a->size))
            return;
    }
}

static _Noreturn void child_main(const struct image *image, const struct image_options *options, int socket,
                                 int alive)
{
    be_quiet(socket, alive);
    dwarf_set_de_alloc_flag(0); /* memory is only freed by exit, so libdwarf need not track it */
    if (&_dwarf_get_elf_flags_func_ptr)
        _dwarf_get_elf_flags_func_ptr = NULL;
    struct image_options quiet = options ? *options : (struct image_options){0};
    quiet.log = NULL;
    struct lines_reader *reader = NULL;
    struct answer *answer = malloc(sizeof *answer);
    int rc = answer ? lines_reader_open(image, &quiet, &reader, NULL) : -ENOMEM;
    uint32_t state = (uint32_t)-rc;
    char lacks[LINES_CHILD_LACKS] = "";
    if (rc == 0)
        snprintf(lacks, sizeof lacks, "%s", lines_reader_lacks(reader));
    if (exchange_send(SOCKET_AT, &state, sizeof state) && rc == 0 &&
        exchange_send(SOCKET_AT, lacks, sizeof lacks))
        serve_queries(reader, answer);
    _exit(0);
}

/* The parent's side -------------------------------------------------------------------------------------- */

void lines_child_end(struct lines_child *child)
{
    if (!child->pid)
        return;
    close(child->socket);
    close(child->alive);
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
}

int lines_child_start(struct lines_child *child, const struct image *image,
                      const struct image_options *options, struct fathom_error *err)
{
    int ends[2], alive[2];
    uint32_t state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_system(err, errno, "cannot create a socket to read debug information");
    if (pipe2(alive, O_CLOEXEC) < 0) {
        int rc = error_system(err, errno, "cannot create a pipe to the process that reads debug information");
        close(ends[0]);
        close(ends[1]);
        return rc;
    }
    pid_t pid = fork();
    if (pid == 0)
        child_main(image, options, ends[1], alive[0]);
    int failed = errno;
    close(ends[1]);
    close(alive[0]);
    if (pid < 0) {
        close(ends[0]);
        close(alive[1]);
        return error_system(err, failed, "cannot create a process to read debug information");
    }
    struct lines_child started = {pid, ends[0], alive[1], ""};
    int64_t deadline = exchange_now() + LINES_CHILD_OPENS * 1000;
    if (!exchange_receive(ends[0], &state, sizeof state, deadline) ||
        (!state && !exchange_receive(ends[0], started.lacks, sizeof started.lacks, deadline)))
        state = EBADMSG;
    started.lacks[sizeof started.lacks - 1] = 0;
    if (state) {
        lines_child_end(&started);
        if (state == ENOMEM)
            return error_memory(err);
        return error_set(
            err, state == ENODATA ? ENODATA : EBADMSG,
            state == ENODATA
                ? "%s has no debug information: install its debug symbols"
                : "the debug information of %s is damaged: its lines and inlined functions are not shown",
            image_path(image));
    }
    *child = started;
    return 0;
}

int lines_child_ask(struct lines_child *child, uint64_t address, uint8_t **answer, size_t *size)
{
    int64_t deadline = exchange_now() + LINES_CHILD_TELLS * 1000;
    uint32_t length = 0;
    uint8_t *bytes = NULL;
    bool good = exchange_send(child->socket, &address, sizeof address) &&
                exchange_receive(child->socket, &length, sizeof length, deadline) &&
                length <= LINES_CHILD_ANSWER;
    if (good && !(bytes = malloc((size_t)length + 1)))
        return -ENOMEM;
    if (!good || !exchange_receive(child->socket, bytes, length, deadline)) {
        free(bytes);
        lines_child_end(child);
        return length == LINES_CHILD_DAMAGED                               ? -EBADMSG
               : length == LINES_CHILD_SPENT || exchange_now() >= deadline ? -EOVERFLOW
                                                                           : -EIO;
    }
    *answer = bytes;
    *size = length;
    return 0;
}

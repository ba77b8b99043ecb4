/* lines_child.c - see lines_child.h. */
#include "image/lines_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/lines_reader.h"

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads all of it before the deadline (0: there is none). false: the other side is gone, or too late. */
static bool receive(int socket, void *data, size_t size, int64_t deadline)
{
    uint8_t *at = data;
    while (size) {
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        int64_t left = deadline ? deadline - now_ms() : -1;
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

static bool transmit(int socket, const void *data, size_t size)
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

/* The child's side --------------------------------------------------------------------------------------- */

struct answer {
    size_t size;
    uint8_t bytes[LINES_CHILD_ANSWER];
};

static void put(struct answer *a, const void *data, size_t size)
{
    memcpy(a->bytes + a->size, data, size);
    a->size += size;
}

static void put_text(struct answer *a, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length > 4096)
        length = 4096; /* (the largest answer has room for all frames) */
    uint32_t told = text ? (uint32_t)length + 1 : 0;
    put(a, &told, sizeof told);
    put(a, text ? text : "", length);
}

_Static_assert(sizeof(uint32_t) + LINES_CHILD_FRAMES * (3 * sizeof(uint32_t) + 2 * 4096) <=
                   LINES_CHILD_ANSWER,
               "an answer holds all frames");

static void serve(struct lines_reader *reader, int socket, struct answer *a)
{
    struct line_frame frames[LINES_CHILD_FRAMES];
    uint64_t address;
    while (receive(socket, &address, sizeof address, 0)) {
        uint32_t size;
        size_t count = lines_reader_at(reader, address, frames, LINES_CHILD_FRAMES);
        a->size = sizeof size;
        for (size_t i = 0; i < count; i++) {
            put(a, &frames[i].line, sizeof frames[i].line);
            put_text(a, frames[i].function);
            put_text(a, frames[i].file);
        }
        size = (uint32_t)(a->size - sizeof size);
        memcpy(a->bytes, &size, sizeof size);
        if (!transmit(socket, a->bytes, a->size))
            return;
    }
}

/* Nothing of this may be seen or waited for: a crash leaves no core and no message. */
static void be_quiet(pid_t parent)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    for (int s = 1; s < NSIG; s++)
        signal(s, s == SIGINT || s == SIGTERM || s == SIGTTOU ? SIG_IGN : SIG_DFL);
}

static _Noreturn void child_main(const struct image *image, const struct image_options *options, int socket,
                                 pid_t parent)
{
    be_quiet(parent);
    struct image_options quiet = options ? *options : (struct image_options){0};
    quiet.log = NULL;
    struct lines_reader *reader = NULL;
    struct answer *answer = malloc(sizeof *answer);
    int rc = answer ? lines_reader_open(image, &quiet, &reader, NULL) : -ENOMEM;
    uint32_t state = (uint32_t)-rc;
    if (transmit(socket, &state, sizeof state) && rc == 0)
        serve(reader, socket, answer);
    _exit(0);
}

/* The parent's side -------------------------------------------------------------------------------------- */

void lines_child_end(struct lines_child *child)
{
    if (!child->pid)
        return;
    close(child->socket);
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
}

int lines_child_start(struct lines_child *child, const struct image *image,
                      const struct image_options *options, struct fathom_error *err)
{
    int ends[2];
    uint32_t state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_system(err, errno, "cannot make a socket to read debug information through");
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child_main(image, options, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        int rc = error_system(err, errno, "cannot make a process to read debug information in");
        close(ends[0]);
        return rc;
    }
    struct lines_child started = {pid, ends[0]};
    if (!receive(ends[0], &state, sizeof state, now_ms() + LINES_CHILD_OPENS * 1000))
        state = EBADMSG;
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
    int64_t deadline = now_ms() + LINES_CHILD_TELLS * 1000;
    uint32_t length = 0;
    uint8_t *bytes = NULL;
    bool good = transmit(child->socket, &address, sizeof address) &&
                receive(child->socket, &length, sizeof length, deadline) && length <= LINES_CHILD_ANSWER;
    if (good && !(bytes = malloc((size_t)length + 1)))
        return -ENOMEM;
    if (!good || !receive(child->socket, bytes, length, deadline)) {
        free(bytes);
        lines_child_end(child);
        return -EIO;
    }
    *answer = bytes;
    *size = length;
    return 0;
}

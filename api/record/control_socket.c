#include "api/record/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A connected client. */
struct peer {
    int fd; /* -1: none */
    char line[CONTROL_SOCKET_LINE];
    size_t length; /* bytes received of a command */
};

struct control_socket {
    int fd;
    struct sockaddr_un address;
    struct stat made; /* identifies the socket file as ours */
    struct phase_control *control;
    struct peer peers[CONTROL_SOCKET_PEERS];
};

static const struct {
    const char *word;
    enum fathom_control what;
} commands[] = {
    {"once", FATHOM_CONTROL_ONCE},
    {"on", FATHOM_CONTROL_ON},
    {"off", FATHOM_CONTROL_OFF},
    {"auto", FATHOM_CONTROL_AUTO},
};

/* Removes a socket that a killed run left behind: nobody listens on it. */
static int remove_stale(const struct sockaddr_un *address, struct fathom_error *err)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0)
        return errno == ENOENT ? 0 : error_system(err, errno, "%s", address->sun_path);
    if (!S_ISSOCK(there.st_mode))
        return error_set(err, EEXIST, "%s exists, and is no socket", address->sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_system(err, errno, "cannot make a socket");
    const bool dead = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                      errno == ECONNREFUSED && there.st_uid == geteuid();
    close(fd);
    if (!dead)
        return error_set(err, EEXIST, "%s is the socket of another program", address->sun_path);
    return unlink(address->sun_path) == 0 ? 0
                                          : error_system(err, errno, "cannot remove %s", address->sun_path);
}

/* The mode is set before others can see the socket: the file's mode is the socket's without the umask's bits (net/unix/af_unix.c,
 * unix_bind_bsd). */
static int listen_there(struct control_socket *s, struct fathom_error *err)
{
    const char *path = s->address.sun_path;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0 || fchmod(s->fd, 0600) != 0)
        return error_system(err, errno, "cannot make a socket");
    if (bind(s->fd, (const struct sockaddr *)&s->address, sizeof s->address) != 0)
        return error_system(err, errno, "cannot make the socket %s", path);
    if (lstat(path, &s->made) != 0 || listen(s->fd, CONTROL_SOCKET_PEERS) != 0)
        return error_system(err, errno, "cannot listen on %s", path);
    return 0;
}

int control_socket_open(const char *path, struct phase_control *control, struct control_socket **out,
                        struct fathom_error *err)
{
    if (!*path || strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return error_set(err, EINVAL, "the path of a socket has from 1 to %zu bytes: '%.200s'",
                         sizeof((struct sockaddr_un *)0)->sun_path - 1, path);
    struct control_socket *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->fd = -1;
    s->control = control;
    s->address.sun_family = AF_UNIX;
    strcpy(s->address.sun_path, path);
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++)
        s->peers[i].fd = -1;
    int rc = remove_stale(&s->address, err);
    if (rc == 0)
        rc = listen_there(s, err);
    if (rc < 0)
        control_socket_close(s);
    else
        *out = s;
    return rc;
}

static void disconnect_peer(struct peer *p)
{
    close(p->fd);
    *p = (struct peer){.fd = -1};
}

/* false: the client does not read it. */
static bool send_answer(int fd, const char *text)
{
    const size_t length = strlen(text);
    return send(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static bool say_status(int fd, const struct phase_control *c)
{
    static const char *const held[] = {
        [FATHOM_CONTROL_AUTO] = "auto", [FATHOM_CONTROL_ON] = "held on", [FATHOM_CONTROL_OFF] = "held off"};
    char text[128];
    snprintf(text, sizeof text, "ok: %s, %s; on in %llu of %llu intervals\n", c->on ? "on" : "off",
             held[atomic_load(&c->held)], (unsigned long long)c->profiled, (unsigned long long)c->intervals);
    return send_answer(fd, text);
}

static bool run_command(const struct control_socket *s, int fd, const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].word, word) == 0) {
            phase_control_ask(s->control, commands[i].what);
            return send_answer(fd, "ok\n");
        }
    return strcmp(word, "status") == 0
               ? say_status(fd, s->control)
               : send_answer(fd, "error: no such command: once, on, off, auto and status are there\n");
}

/* Handles the commands of a single read, so that one peer cannot hold up the recording. */
static void read_commands(const struct control_socket *s, struct peer *p)
{
    ssize_t got = recv(p->fd, p->line + p->length, sizeof p->line - p->length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    bool stays = got > 0;
    p->length += got > 0 ? (size_t)got : 0;
    for (char *end; stays && (end = memchr(p->line, '\n', p->length));) {
        *end = '\0';
        if (end > p->line && end[-1] == '\r')
            end[-1] = '\0';
        stays = run_command(s, p->fd, p->line);
        p->length -= (size_t)(end + 1 - p->line);
        memmove(p->line, end + 1, p->length);
    }
    if (stays && p->length == sizeof p->line)
        stays = send_answer(p->fd, "error: the line is longer than any command\n") && false;
    if (!stays)
        disconnect_peer(p);
}

/* Accepts a client, or tells it why not. */
static void accept_peer(struct control_socket *s, int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    struct peer *p = s->peers;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || (who.uid != geteuid() && who.uid != 0))
        send_answer(fd, "error: this is another user's recording\n");
    else {
        while (p < s->peers + CONTROL_SOCKET_PEERS && p->fd >= 0)
            p++;
        if (p < s->peers + CONTROL_SOCKET_PEERS) {
            p->fd = fd;
            return;
        }
        send_answer(fd, "error: too many are connected\n");
    }
    close(fd);
}

void control_socket_serve(struct control_socket *s)
{
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            break;
        accept_peer(s, fd);
    }
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++)
        if (s->peers[i].fd >= 0)
            read_commands(s, &s->peers[i]);
}

void control_socket_close(struct control_socket *s)
{
    struct stat there;
    if (!s)
        return;
    for (size_t i = 0; i < CONTROL_SOCKET_PEERS; i++)
        if (s->peers[i].fd >= 0)
            disconnect_peer(&s->peers[i]);
    if (s->made.st_ino && lstat(s->address.sun_path, &there) == 0 && there.st_dev == s->made.st_dev &&
        there.st_ino == s->made.st_ino)
        unlink(s->address.sun_path);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

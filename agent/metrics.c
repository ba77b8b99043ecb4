#include "agent/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define PEERS        (METRICS_WAITS - 1)
#define REQUEST_MOST 2048 /* bytes */
#define PATIENCE_NS  UINT64_C(5000000000)

struct peer {
    int fd;         /* -1: there is none */
    uint64_t since; /* ns */
    char request[REQUEST_MOST + 1];
    size_t got;
    char *answer; /* malloc'd; NULL: the request is not complete */
    size_t size, sent;
};

struct metrics_server {
    int socket;
    /* The next peer could not be accepted: tried again, but not polled for, as it would always be ready. */
    bool refused;
    struct peer peers[PEERS];
};

uint16_t metrics_port(const char *address)
{
    const char *colon = strchr(address, ':');
    char *end = NULL;
    unsigned long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
    return port > 65535 || (end && *end) ? 0 : (uint16_t)port;
}

static int listen_at(const char *address, struct fathom_error *err)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons(metrics_port(address)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_system(err, errno, "listen %s", address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, PEERS) != 0) {
        int failed = errno;
        close(fd);
        return error_system(err, failed, "listen %s", address);
    }
    return fd;
}

int metrics_listen(const char *address, struct metrics_server **out, struct fathom_error *err)
{
    int socket = listen_at(address, err);
    struct metrics_server *s = socket < 0 ? NULL : calloc(1, sizeof *s);
    if (socket < 0)
        return socket;
    if (!s) {
        close(socket);
        return error_memory(err);
    }
    s->socket = socket;
    for (size_t i = 0; i < PEERS; i++)
        s->peers[i].fd = -1;
    *out = s;
    return 0;
}

static void end_peer(struct peer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->answer);
    *p = (struct peer){.fd = -1};
}

void metrics_close(struct metrics_server *s)
{
    for (size_t i = 0; s && i < PEERS; i++)
        end_peer(&s->peers[i]);
    if (s)
        close(s->socket);
    free(s);
}

unsigned metrics_waits(const struct metrics_server *s, struct pollfd waits[METRICS_WAITS])
{
    unsigned count = 0;
    if (s && !s->refused)
        waits[count++] = (struct pollfd){.fd = s->socket, .events = POLLIN};
    for (size_t i = 0; s && i < PEERS; i++)
        if (s->peers[i].fd >= 0)
            waits[count++] =
                (struct pollfd){.fd = s->peers[i].fd, .events = s->peers[i].answer ? POLLOUT : POLLIN};
    return count;
}

static void write_text(FILE *out, const struct agent_metrics *m)
{
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"recording", "gauge", "Whether a recorder runs.", m->recording},
        {"recorder_starts_total", "counter", "Recorders that were started.", (double)m->starts},
        {"shipped_total", "counter", "Recordings put into the store.", (double)m->shipped},
        {"shipped_bytes_total", "counter", "Bytes of them in the spool.", (double)m->shipped_bytes},
        {"sent_bytes_total", "counter", "Bytes sent to the store's server for them.", (double)m->sent_bytes},
        {"failures_total", "counter", "Attempts to put one there that failed.", (double)m->failures},
        {"dropped_total", "counter", "Recordings removed for want of room in the spool.", (double)m->dropped},
        {"damaged_total", "counter", "Recordings that could not be read.", (double)m->damaged},
        {"spool_recordings", "gauge", "Recordings in the spool.", (double)m->spool_parts},
        {"spool_bytes", "gauge", "Bytes of the spool.", (double)m->spool_bytes},
        {"last_shipped_timestamp_seconds", "gauge", "When the last one was put there.",
         (double)m->last_shipped},
        {"recorder_cpu_seconds_total", "counter", "CPU time of recorders.", m->recorder_cpu},
        {"shipping_cpu_seconds_total", "counter", "CPU time of putting recordings there.", m->shipping_cpu},
        {"own_cpu_seconds_total", "counter", "CPU time of the agent itself.", m->own_cpu},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, "# HELP fathom_agent_%s %s\n# TYPE fathom_agent_%s %s\nfathom_agent_%s %.15g\n",
                rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name, rows[i].value);
}

static void make_answer(struct peer *p, const struct agent_metrics *m)
{
    FILE *out = open_memstream(&p->answer, &p->size);
    if (!out)
        return;
    if (strncmp(p->request, "GET /metrics ", 13) == 0 || strncmp(p->request, "GET / ", 6) == 0) {
        fputs("HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n", out);
        write_text(out, m);
    } else {
        fputs("HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n", out);
    }
    if (fclose(out) != 0) {
        free(p->answer);
        p->answer = NULL;
    }
}

/* Reads up to the blank line, the end of the data, or the maximum size. false: the peer has gone. */
static bool read_request(struct peer *p, const struct agent_metrics *m)
{
    ssize_t got = recv(p->fd, p->request + p->got, REQUEST_MOST - p->got, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    p->got += (size_t)got;
    if (got > 0 && p->got < REQUEST_MOST && !strstr(p->request, "\r\n\r\n") && !strstr(p->request, "\n\n"))
        return true;
    if (p->got)
        make_answer(p, m);
    return p->answer;
}

/* Returns false once the peer has everything, or has gone. */
static bool send_answer(struct peer *p)
{
    ssize_t sent = send(p->fd, p->answer + p->sent, p->size - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    p->sent += (size_t)sent;
    if (p->sent < p->size)
        return true;
    shutdown(p->fd, SHUT_WR);
    return false;
}

static struct peer *find_place(struct metrics_server *s)
{
    struct peer *oldest = &s->peers[0];
    for (size_t i = 0; i < PEERS && oldest->fd >= 0; i++)
        if (s->peers[i].fd < 0 || s->peers[i].since < oldest->since)
            oldest = &s->peers[i];
    end_peer(oldest);
    return oldest;
}

void metrics_serve(struct metrics_server *s, const struct agent_metrics *m)
{
    if (!s)
        return;
    for (size_t i = 0; i < PEERS; i++) { /* at most PEERS at a time */
        int fd = accept4(s->socket, NULL, NULL, SOCK_CLOEXEC);
        s->refused = fd < 0 && errno != EAGAIN;
        if (fd < 0)
            break;
        struct peer *p = find_place(s);
        p->fd = fd;
        p->since = clock_ns();
    }
    for (size_t i = 0; i < PEERS; i++) {
        struct peer *p = &s->peers[i];
        bool stays = p->fd >= 0 && (p->answer || read_request(p, m));
        if (stays && p->answer)
            stays = send_answer(p);
        if (p->fd >= 0 && (!stays || clock_ns() - p->since > PATIENCE_NS))
            end_peer(p);
    }
}

/* metrics.c - see metrics.h. */
#include "cli/agent/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

uint16_t metrics_port(const char *address)
{
    const char *colon = strchr(address, ':');
    char *end = NULL;
    unsigned long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
    return port > 65535 || (end && *end) ? 0 : (uint16_t)port;
}

int metrics_listen(const char *address, int *out, struct fathom_error *err)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons(metrics_port(address)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_system(err, errno, "listen %s", address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, 8) != 0) {
        int failed = errno;
        close(fd);
        return error_system(err, failed, "listen %s", address);
    }
    *out = fd;
    return 0;
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

/* Whether the request is one that is answered: its first line is enough. */
static bool is_asked(int fd)
{
    char request[1024] = "";
    ssize_t got = recv(fd, request, sizeof request - 1, 0);
    return got > 0 && (strncmp(request, "GET /metrics ", 13) == 0 || strncmp(request, "GET / ", 6) == 0);
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        size -= (size_t)sent;
    }
}

void metrics_answer(int socket, const struct agent_metrics *m)
{
    static const char missing[] = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    static const char head[] = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n";
    const struct timeval patience = {.tv_sec = 1};
    int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    char *text = NULL;
    size_t size = 0;
    FILE *out = is_asked(fd) ? open_memstream(&text, &size) : NULL;
    if (out) {
        write_text(out, m);
        fclose(out);
        send_all(fd, head, sizeof head - 1);
        send_all(fd, text, size);
    } else {
        send_all(fd, missing, sizeof missing - 1);
    }
    shutdown(fd, SHUT_WR);
    free(text);
    close(fd);
}

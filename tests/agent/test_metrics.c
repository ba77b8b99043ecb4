/* The agent's port, where descriptors are short. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/metrics.h"

static struct metrics_server *server;
static const struct agent_metrics metrics = {.shipped = 7};
static struct sockaddr_in at = {.sin_family = AF_INET};

/* On a port that was free a moment ago. */
static void listen_somewhere(void)
{
    struct fathom_error err;
    char address[32];
    socklen_t size = sizeof at;
    int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(bind(taken, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(getsockname(taken, (struct sockaddr *)&at, &size), 0);
    close(taken);
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(at.sin_port));
    cr_assert_eq(metrics_listen(address, &server, &err), 0, "%s", err.text);
}

/* No descriptor is left: the limit is what is open. */
static void limit_descriptors(rlim_t *before)
{
    struct rlimit limit;
    int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    *before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)next;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Waits for what can be done, and does it, until the peer has its answer. */
static void serve(int peer, char *answer, size_t size)
{
    size_t got = 0;
    for (int i = 0; i < 1000 && got < size; i++) {
        struct pollfd waits[METRICS_WAITS];
        poll(waits, metrics_waits(server, waits), 10);
        metrics_serve(server, &metrics);
        ssize_t now = recv(peer, answer + got, size - got, MSG_DONTWAIT);
        if (now == 0)
            break;
        got += now > 0 ? (size_t)now : 0;
    }
    answer[got < size ? got : size - 1] = '\0';
}

Test(metrics, rest_without_descriptors)
{
    static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
    struct pollfd waits[METRICS_WAITS];
    struct rlimit limit;
    rlim_t before;
    char answer[8192];
    listen_somewhere();
    int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(peer, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(send(peer, request, strlen(request), 0), (ssize_t)strlen(request));
    cr_assert_eq(metrics_waits(server, waits), 1);
    cr_assert_eq(poll(waits, 1, 10000), 1, "a peer is there");

    limit_descriptors(&before);
    metrics_serve(server, &metrics);
    cr_assert_eq(metrics_waits(server, waits), 0, "it waits for the peer that it cannot take");
    metrics_serve(server, &metrics);
    cr_assert_eq(metrics_waits(server, waits), 0);

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    serve(peer, answer, sizeof answer);
    cr_assert(strstr(answer, "\nfathom_agent_shipped_total 7\n"), "%s", answer);
    cr_assert_eq(metrics_waits(server, waits), 1);
    close(peer);
    metrics_close(server);
}

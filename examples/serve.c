/*
 * serve.c - a server that serves its own profile over HTTP, as pprof.
 *
 *     cc -O2 serve.c -o serve $(pkg-config --cflags --libs fathom) -lpthread
 *     ./serve 8080 &
 *     go tool pprof 'http://127.0.0.1:8080/profile?seconds=5'
 *
 * For each request the process records itself for some seconds. One client at a time, on the loopback alone: whoever may ask sees the names of all functions.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <fathom.h>

#define SECONDS_MOST 60

static void say(void *context, enum fathom_level level, const char *text)
{
    (void)context;
    if (level == FATHOM_WARNING)
        fprintf(stderr, "serve: %s\n", text);
}

/* Writes a profile of this process of so many seconds. */
static int take_profile(double seconds, FILE *out, struct fathom_error *error)
{
    struct fathom_listener listener = {.say = say};
    struct fathom_live *live = NULL;
    int rc = fathom_live_start_as(NULL, 0, "pprof", &listener, &live, error);
    if (rc == 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                     .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
                  NULL);
    if (rc == 0)
        rc = fathom_live_finish(live, error);
    if (rc == 0)
        rc = fathom_live_write(live, out, error);
    fathom_live_close(live);
    return rc;
}

static void answer(FILE *client, const char *status, const char *type, const char *body, size_t size)
{
    fprintf(client, "HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", status, type, size);
    fwrite(body, 1, size, client);
}

static void serve_profile(FILE *client, double seconds)
{
    struct fathom_error error = {0, ""};
    char *body = NULL;
    size_t size = 0;
    FILE *profile = open_memstream(&body, &size);
    int rc = profile ? take_profile(seconds, profile, &error) : -1;
    if (profile && fclose(profile) != 0)
        rc = -1;
    if (rc < 0)
        answer(client, "500 Internal Server Error", "text/plain", error.text, strlen(error.text));
    else
        answer(client, "200 OK", "application/octet-stream", body, size);
    free(body);
}

static void serve(FILE *client)
{
    static const char unknown[] = "GET /profile?seconds=N\n";
    char line[1024];
    double seconds = 1;
    if (!fgets(line, sizeof line, client))
        return;
    int ours = !strncmp(line, "GET /profile", 12) &&
               (line[12] == ' ' || sscanf(line + 12, "?seconds=%lf", &seconds) == 1) && seconds > 0 &&
               seconds <= SECONDS_MOST;
    while (fgets(line, sizeof line, client) && strcmp(line, "\r\n") != 0)
        ;
    fseek(client, 0, SEEK_CUR); /* from reading to writing */
    if (ours)
        serve_profile(client, seconds);
    else
        answer(client, "404 Not Found", "text/plain", unknown, strlen(unknown));
}

/* What it is a server for. */
static volatile unsigned sum;

__attribute__((noinline)) static void compress(void)
{
    for (unsigned i = 0; i < 3000000; i++)
        sum += i;
}

__attribute__((noinline)) static void encrypt(void)
{
    for (unsigned i = 0; i < 1000000; i++)
        sum ^= i;
}

static void *work(void *unused)
{
    for (;;) {
        compress();
        encrypt();
    }
    return unused;
}

int main(int argc, char **argv)
{
    char *end = "";
    const unsigned long port = argc > 1 ? strtoul(argv[1], &end, 10) : 0; /* 0: one that is free */
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    pthread_t worker;
    if (*end || port > UINT16_MAX) {
        fprintf(stderr, "serve: '%s' is no port\n", argv[1]);
        return 2;
    }
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, 8) < 0 ||
        getsockname(server, (struct sockaddr *)&address, &size) < 0) {
        perror("serve");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    printf("http://127.0.0.1:%d/profile\n", ntohs(address.sin_port));
    fflush(stdout);
    if (pthread_create(&worker, NULL, work, NULL))
        return 1;
    for (;;) {
        int accepted = accept(server, NULL, NULL);
        FILE *client = accepted < 0 ? NULL : fdopen(accepted, "r+");
        if (client) {
            serve(client);
            fclose(client);
        }
    }
}

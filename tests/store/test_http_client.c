/* test_http_client.c - servers that drip, do not end, do not speak HTTP, or send elsewhere. */
#include "store/http_client.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A server for one request. */
struct server {
    pid_t pid;
    char url[64];
};

/* Sends `begin`, and then `more` again and again until the other end closes. */
static void serve(int listening, const char *begin, const char *more)
{
    char request[4096];
    const int fd = accept(listening, NULL, NULL);
    signal(SIGPIPE, SIG_IGN);
    bool open = read(fd, request, sizeof request) > 0 && write(fd, begin, strlen(begin)) > 0;
    while (open && *more && write(fd, more, strlen(more)) > 0)
        usleep(1000);
    close(fd);
    _exit(0);
}

static struct server begin(const char *begin, const char *more)
{
    struct server s;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 1) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    snprintf(s.url, sizeof s.url, "http://127.0.0.1:%u/", ntohs(at.sin_port));
    s.pid = fork();
    if (s.pid == 0)
        serve(fd, begin, more);
    close(fd);
    return s;
}

/* What comes of a request; told: the error, or where it is sent to. */
static int ask(const char *answer, const char *more, unsigned seconds, char told[ERROR_TEXT_SIZE])
{
    struct server server = begin(answer, more);
    struct http_client *client = NULL;
    struct http_answer got;
    struct fathom_error err = {0};
    const struct http_request request = {"", NULL, "x", 1, 4096, seconds};
    cr_assert_eq(http_client_new(server.url, strlen(server.url), NULL, &client, &err), 0, "%s", err.text);
    const int rc = http_client_post(client, &request, &got, &err);
    snprintf(told, ERROR_TEXT_SIZE, "%s", rc < 0 ? err.text : got.elsewhere);
    http_client_free(client);
    waitpid(server.pid, NULL, 0);
    return rc;
}

Test(http_client, ends_what_does_not)
{
    char told[ERROR_TEXT_SIZE];
    cr_assert_eq(ask("HTTP/1.1 200 OK\r\n\r\n", "\n", 1, told), -ETIMEDOUT);
    cr_assert(strstr(told, "took too long"), "%s", told);
    cr_assert_eq(ask("HTTP/1.1 200 OK\r\n\r\n",
                     "many bytes at once: 64 of them are more than four kilobytes soon", 600, told),
                 -EFBIG);
    cr_assert(strstr(told, "the answer is too large"), "%s", told);
}

Test(http_client, tells_what_is_no_answer)
{
    char told[ERROR_TEXT_SIZE];
    cr_assert_eq(ask("220 mail.example.org ESMTP\r\n", "", 600, told), -ECONNREFUSED);
    cr_assert(strstr(told, "does not speak HTTP"), "%s", told);
    cr_assert_eq(ask("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", "", 600, told),
                 0);
    cr_assert(strstr(told, "/login"), "%s", told);
}

Test(http_client, knows_types)
{
    static const struct {
        const char *type;
        bool is;
    } cases[] = {{"text/html", true},      {"Text/HTML; charset=utf-8", true},
                 {"text/html ;a=b", true}, {"text/htmlx", false},
                 {"text/plain", false},    {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct http_answer answer = {.type = cases[i].type};
        cr_assert_eq(http_answer_is(&answer, "text/html"), cases[i].is, "%s", cases[i].type);
    }
}

/* A line of so many bytes, 'user:xxx...'. */
static int use_credentials(int length, struct fathom_error *err)
{
    struct http_client *client = NULL;
    char file[] = "/tmp/fathom_login_XXXXXX";
    const int fd = mkstemp(file);
    dprintf(fd, "user:%0*d\n", length - 5, 0);
    close(fd);
    int rc = http_client_new("http://localhost/", 0, file, &client, err);
    http_client_free(client);
    unlink(file);
    return rc;
}

Test(http_client, refuses_a_long_password)
{
    struct fathom_error err = {0};
    cr_assert_eq(use_credentials(1023, &err), 0, "%s", err.text);
    cr_assert_eq(use_credentials(1024, &err), -EINVAL);
    cr_assert(strstr(err.text, "has more than 1023 bytes"), "%s", err.text);
    cr_assert_eq(use_credentials(5000, &err), -EINVAL);
}

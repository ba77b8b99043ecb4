/* http_client.c - see http_client.h. libcurl(3), loaded when it is first needed (base/library.h). */
#include "store/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/library.h"
#include "base/vec.h"

#define LINE_MOST    1023 /* maximum bytes of a line of credentials */
#define PACKED_LEAST 1024 /* least bytes of a body to compress */

/* A server slower than that for so long hangs: queries take ClickHouse seconds, during which nothing
 * arrives. */
enum { CONNECT_S = 10, SLOW_S = 120, SLOW_BYTES = 1000 };

struct http_client {
    CURL *curl;
    struct curl_slist *headers; /* those of every request */
    char *url;
    size_t base; /* bytes of the URL before the target */
    uint8_t *answer;
    size_t size, capacity, most;
    bool too_large, compresses;
    uint64_t sent;
};

/* What is used of libcurl: `lib.easy_init()` is curl_easy_init(3). */
#define CURL_EACH(X)                                                                                         \
    X(easy_cleanup)                                                                                          \
    X(easy_escape)                                                                                           \
    X(easy_getinfo)                                                                                          \
    X(easy_init)                                                                                             \
    X(easy_perform)                                                                                          \
    X(easy_setopt)                                                                                           \
    X(easy_strerror)                                                                                         \
    X(free)                                                                                                  \
    X(global_cleanup)                                                                                        \
    X(global_init)                                                                                           \
    X(slist_append)                                                                                          \
    X(slist_free_all)

static struct {
#define MEMBER(name) __typeof__(curl_##name) *name;
    CURL_EACH(MEMBER)
} lib;

static int load_curl(struct fathom_error *err)
{
#define ROW(name) {"curl_" #name, &lib.name},
    static const struct library_function functions[] = {CURL_EACH(ROW)};
    static struct library library = {"libcurl.so.4", functions, sizeof functions / sizeof *functions, false};
    return library_load(&library, err);
}

/* Credentials -------------------------------------------------------------------------------------------------------- */

static int read_line(const char *file, char line[LINE_MOST + 2], struct fathom_error *err)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_system(err, errno, "%s", file);
    int rc = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                 ? 0
                 : error_set(err, EINVAL, "%s is not a regular file", file);
    if (rc == 0 && st.st_mode & 077)
        rc = error_set(err, EACCES, "%s may be read or written by others: chmod 600 %s", file, file);
    ssize_t got = rc == 0 ? read(fd, line, LINE_MOST + 1) : 0;
    if (got < 0)
        rc = error_system(err, errno, "%s", file);
    line[got > 0 ? got : 0] = '\0';
    const size_t length = strcspn(line, "\r\n");
    line[length] = '\0';
    if (rc == 0 && length > LINE_MOST)
        rc = error_set(err, EINVAL, "the first line of %s has more than %d bytes", file, LINE_MOST);
    close(fd);
    return rc;
}

static int take_credentials(struct http_client *c, const char *file, struct fathom_error *err)
{
    char line[LINE_MOST + 2];
    int rc = read_line(file, line, err);
    char *colon = rc == 0 ? strchr(line, ':') : NULL;
    if (rc == 0 && !colon)
        rc = error_set(err, EINVAL, "%s has no line 'USER:PASSWORD'", file);
    if (rc == 0) {
        *colon = '\0';
        rc = lib.easy_setopt(c->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
                     lib.easy_setopt(c->curl, CURLOPT_USERNAME, line) == CURLE_OK &&
                     lib.easy_setopt(c->curl, CURLOPT_PASSWORD, colon + 1) == CURLE_OK
                 ? 0
                 : error_memory(err);
    }
    explicit_bzero(line, sizeof line);
    return rc;
}

/* The connection ----------------------------------------------------------------------------------------------------- */

static size_t take_piece(char *data, size_t one, size_t size, void *context)
{
    struct http_client *c = context;
    c->too_large |= size > c->most - c->size;
    if (c->too_large || !vec_reserve(c->answer, c->size, c->capacity, size * one + 1))
        return 0;
    memcpy(c->answer + c->size, data, size * one);
    c->size += size * one;
    return size * one;
}

static bool set_options(struct http_client *c)
{
    CURL *curl = c->curl;
    return lib.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES) == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_S) == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_piece) == CURLE_OK &&
           lib.easy_setopt(curl, CURLOPT_WRITEDATA, c) == CURLE_OK;
}

static bool has_password(const char *url)
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url, *at = strchr(host, '@');
    return at && strcspn(host, "/") > (size_t)(at - host);
}

int http_client_new(const char *url, size_t base, const char *credentials, struct http_client **out,
                    struct fathom_error *err)
{
    if (has_password(url))
        return error_set(err, EINVAL,
                         "a password does not belong into a URL: put 'USER:PASSWORD' into a file, "
                         "and give it with --credentials");
    int rc = load_curl(err);
    if (rc < 0)
        return rc;
    struct http_client *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    lib.global_init(CURL_GLOBAL_DEFAULT);
    c->url = strdup(url);
    c->base = base;
    c->curl = lib.easy_init();
    c->headers =
        lib.slist_append(NULL, "Expect:"); /* send a body without waiting for the server to ask for it */
    rc = c->url && c->curl && c->headers && set_options(c) ? 0 : error_memory(err);
    if (rc == 0 && credentials)
        rc = take_credentials(c, credentials, err);
    if (rc < 0)
        http_client_free(c);
    else
        *out = c;
    return rc;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    lib.easy_cleanup(c->curl);
    lib.slist_free_all(c->headers);
    free(c->url);
    free(c->answer);
    free(c);
    lib.global_cleanup();
}

const char *http_client_url(const struct http_client *c)
{
    return c->url;
}

char *http_client_escape(struct http_client *c, const char *text)
{
    return lib.easy_escape(c->curl, text, 0);
}

void http_client_escaped(char *text)
{
    lib.free(text);
}

/* Sending ------------------------------------------------------------------------------------------------------------ */

static CURLcode perform(struct http_client *c, const char *url, const struct http_request *r)
{
    char line[128], encoding[] = "Content-Encoding: gzip";
    size_t packed_size = 0;
    uint8_t *packed =
        c->compresses && r->size >= PACKED_LEAST ? gzip_pack(r->data, r->size, &packed_size) : NULL;
    const size_t size = packed ? packed_size : r->size;
    struct curl_slist of_encoding = {encoding, c->headers},
                      of_type = {line, packed ? &of_encoding : c->headers};
    snprintf(line, sizeof line, "Content-Type: %s", r->type ? r->type : "application/x-www-form-urlencoded");
    c->size = 0;
    c->most = r->answer_most;
    c->too_large = false;
    lib.easy_setopt(c->curl, CURLOPT_HTTPHEADER, &of_type);
    lib.easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    lib.easy_setopt(c->curl, CURLOPT_POSTFIELDS, packed ? packed : r->data);
    lib.easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)r->seconds_most);
    CURLcode code = lib.easy_setopt(c->curl, CURLOPT_URL, url);
    if (code == CURLE_OK)
        code = lib.easy_perform(c->curl);
    free(packed);
    c->sent += code == CURLE_OK ? strlen(url) + size : 0;
    return code;
}

static int tell_failure(const struct http_client *c, CURLcode code, struct fathom_error *err)
{
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY)
        return error_set(err, ECONNREFUSED, "%s: what answers there does not speak HTTP", c->url);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return error_set(err, ETIMEDOUT, "%s: the server took too long", c->url);
    return error_set(err, ECONNREFUSED, "%s: %s", c->url, lib.easy_strerror(code));
}

int http_client_post(struct http_client *c, const struct http_request *request, struct http_answer *answer,
                     struct fathom_error *err)
{
    char *url = NULL, *type = NULL, *elsewhere = NULL;
    if (asprintf(&url, "%.*s%s", (int)c->base, c->url, request->target) < 0)
        return error_memory(err);
    const CURLcode code = perform(c, url, request);
    free(url);
    if (c->too_large)
        return error_set(err, EFBIG, "%s: the answer is too large", c->url);
    if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR ||
        !vec_reserve(c->answer, c->size, c->capacity, 1))
        return error_memory(err);
    if (code != CURLE_OK)
        return tell_failure(c, code, err);
    c->answer[c->size] = '\0';
    lib.easy_getinfo(c->curl, CURLINFO_CONTENT_TYPE, &type);
    lib.easy_getinfo(c->curl, CURLINFO_REDIRECT_URL, &elsewhere);
    *answer = (struct http_answer){0, c->answer, c->size, type ? type : "", elsewhere ? elsewhere : ""};
    lib.easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    return 0;
}

bool http_answer_is(const struct http_answer *answer, const char *type)
{
    const size_t length = strlen(type);
    return strncasecmp(answer->type, type, length) == 0 && strchr("; \t", answer->type[length]);
}

void http_client_compress(struct http_client *c)
{
    c->compresses = true;
}

uint64_t http_client_sent(const struct http_client *c)
{
    return c->sent;
}

void http_client_give(struct http_client *c)
{
    c->answer = NULL;
    c->size = c->capacity = 0;
}

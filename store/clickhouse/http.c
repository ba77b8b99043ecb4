/* http.c - see http.h. libcurl(3). */
#include "store/clickhouse/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"

#define ANSWER_MOST ((size_t)1 << 30)
#define LINE_MOST   1024 /* of a file of credentials */
#define TOLD_MOST   300  /* bytes of what a server says of an error */

enum { CONNECT_S = 10, SILENT_S = 120 };

struct http {
    CURL *curl;
    struct curl_slist *headers;
    char *url;  /* "http://HOST:PORT/" */
    char *name; /* as it was given, for messages */
    char *database;
    uint8_t *answer;
    size_t size, capacity;
    bool too_large;
};

/* Credentials -------------------------------------------------------------------------------------------------------- */

static int add_header(struct http *h, const char *name, const char *value, struct fathom_error *err)
{
    char line[LINE_MOST + 64];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(h->headers, line);
    explicit_bzero(line, sizeof line);
    h->headers = more ? more : h->headers;
    return more ? 0 : error_memory(err);
}

static int read_line(const char *file, char line[LINE_MOST], struct fathom_error *err)
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
    ssize_t got = rc == 0 ? read(fd, line, LINE_MOST - 1) : 0;
    if (got < 0)
        rc = error_system(err, errno, "%s", file);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    close(fd);
    return rc;
}

static int take_credentials(struct http *h, const char *file, struct fathom_error *err)
{
    char line[LINE_MOST];
    int rc = read_line(file, line, err);
    char *colon = rc == 0 ? strchr(line, ':') : NULL;
    if (rc == 0 && !colon)
        rc = error_set(err, EINVAL, "%s has no line 'USER:PASSWORD'", file);
    if (rc == 0) {
        *colon = '\0';
        rc = add_header(h, "X-ClickHouse-User", line, err);
    }
    if (rc == 0)
        rc = add_header(h, "X-ClickHouse-Key", colon + 1, err);
    explicit_bzero(line, sizeof line);
    return rc;
}

/* The connection ----------------------------------------------------------------------------------------------------- */

static int take_url(struct http *h, const char *url, struct fathom_error *err)
{
    const char *host = strstr(url, "://") + 3, *slash = strchr(host, '/'), *at = strchr(host, '@');
    if (at && (!slash || at < slash))
        return error_set(err, EINVAL,
                         "a password does not belong into a URL: put 'USER:PASSWORD' into a file, "
                         "and give it with --credentials");
    h->name = strdup(url);
    h->url = slash ? strndup(url, (size_t)(slash - url) + 1) : NULL;
    h->database = slash ? strdup(slash + 1) : NULL;
    if (!h->name || (slash && (!h->url || !h->database)))
        return error_memory(err);
    const size_t letters =
        slash ? strspn(h->database, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;
    return letters && !h->database[letters] && (h->database[0] < '0' || h->database[0] > '9')
               ? 0
               : error_set(err, EINVAL,
                           "%s names no database: http://HOST:8123/DATABASE, of letters, digits and '_'",
                           url);
}

static size_t take_piece(char *data, size_t one, size_t size, void *context)
{
    struct http *h = context;
    h->too_large |= size > ANSWER_MOST - h->size;
    if (h->too_large || !vec_reserve(h->answer, h->size, h->capacity, size * one + 1))
        return 0;
    memcpy(h->answer + h->size, data, size * one);
    h->size += size * one;
    return size * one;
}

static bool set_options(struct http *h)
{
    CURL *c = h->curl;
    return c && curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_piece) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_WRITEDATA, h) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers) == CURLE_OK;
}

int http_new(const char *url, const char *credentials, struct http **out, struct fathom_error *err)
{
    struct http *h = calloc(1, sizeof *h);
    if (!h)
        return error_memory(err);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int rc = take_url(h, url, err);
    if (rc == 0)
        rc = add_header(h, "Expect", "", err); /* a body is not held back until the server asks for it */
    if (rc == 0 && credentials)
        rc = take_credentials(h, credentials, err);
    h->curl = curl_easy_init();
    if (rc == 0 && !set_options(h))
        rc = error_memory(err);
    if (rc < 0)
        http_free(h);
    else
        *out = h;
    return rc;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->curl);
    for (struct curl_slist *at = h->headers; at; at = at->next)
        explicit_bzero(at->data, strlen(at->data));
    curl_slist_free_all(h->headers);
    free(h->url);
    free(h->name);
    free(h->database);
    free(h->answer);
    free(h);
    curl_global_cleanup();
}

const char *http_database(const struct http *h)
{
    return h->database;
}

/* Asking ------------------------------------------------------------------------------------------------------------- */

/* "Code: 60, e.displayText() = DB::Exception: TEXT, e.what() = ...": the number, and TEXT in place. */
static int tell_refusal(struct http *h, long status, struct fathom_error *err)
{
    enum {
        UNKNOWN_USER = 192,
        WRONG_PASSWORD = 193,
        REQUIRED_PASSWORD = 194,
        DENIED = 497,
        FAILED = 516,
        FULL = 243
    };
    char *text = (char *)h->answer, *begin = text ? strstr(text, "Exception: ") : NULL;
    const long code = text && strncmp(text, "Code: ", 6) == 0 ? strtol(text + 6, NULL, 10) : 0;
    char told[TOLD_MOST];
    snprintf(told, sizeof told, "%s", begin ? begin + strlen("Exception: ") : text ? text : "");
    char *end = strstr(told, ", e.what()");
    if (end)
        *end = '\0';
    told[strcspn(told, "\n")] = '\0';
    text_clean(told);
    if (status == 401 || status == 403 || code == UNKNOWN_USER || code == WRONG_PASSWORD ||
        code == REQUIRED_PASSWORD || code == DENIED || code == FAILED)
        return error_set(err, EACCES, "%s: %s (--credentials FILE)", h->name, told);
    return error_set(err, code == FULL ? ENOSPC : EIO, "%s: %s", h->name,
                     *told ? told : "no ClickHouse answers there");
}

static char *full_url(const struct http *h, const char *sql)
{
    char *query = sql ? curl_easy_escape(h->curl, sql, 0) : NULL, *url = NULL;
    if (sql && !query)
        return NULL;
    if (asprintf(&url, "%s?wait_end_of_query=1%s%s", h->url, sql ? "&query=" : "", sql ? query : "") < 0)
        url = NULL;
    curl_free(query);
    return url;
}

int http_ask(struct http *h, const char *sql, const void *data, size_t size, const uint8_t **answer,
             size_t *answer_size, struct fathom_error *err)
{
    char *url = full_url(h, data ? sql : NULL);
    long status = 0;
    if (!url)
        return error_memory(err);
    h->size = 0;
    h->too_large = false;
    curl_easy_setopt(h->curl, CURLOPT_URL, url);
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(data ? size : strlen(sql)));
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, data ? data : sql);
    const CURLcode code = curl_easy_perform(h->curl);
    free(url);
    if (h->too_large)
        return error_set(err, EFBIG, "%s: the answer is too large: choose less", h->name);
    if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR ||
        !vec_reserve(h->answer, h->size, h->capacity, 1))
        return error_memory(err);
    if (code != CURLE_OK)
        return error_set(err, ECONNREFUSED, "%s: %s", h->name, curl_easy_strerror(code));
    h->answer[h->size] = '\0';
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return tell_refusal(h, status, err);
    if (answer) {
        *answer = h->answer;
        *answer_size = h->size;
    }
    return 0;
}

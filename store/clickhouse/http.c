/* http.c - see http.h. */
#include "store/clickhouse/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { ASK_S = 3600 }; /* time for a report's gigabyte at 2 Mbit/s */

/* Position and length of the database's name in a URL; 0: it has none. A slash may end the URL. */
static size_t find_database(const char *url, size_t *length)
{
    const char *slash = strchr(strstr(url, "://") + 3, '/'), *name = slash ? slash + 1 : "";
    const size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    *length = letters;
    return letters && strcmp(name + letters, name[letters] ? "/" : "") == 0 && (*name < '0' || *name > '9')
               ? (size_t)(name - url)
               : 0;
}

int http_open(const char *url, const char *credentials, struct http *h, struct fathom_error *err)
{
    size_t length;
    const size_t database = find_database(url, &length);
    int rc = http_client_new(url, database, credentials, &h->client, err);
    if (rc == 0 && !database)
        rc = error_set(err, EINVAL,
                       "%s names no database: http://HOST:8123/DATABASE, of letters, digits and '_'", url);
    if (rc == 0)
        http_client_compress(h->client);
    if (rc == 0 && !(h->database = strndup(url + database, length)))
        rc = error_memory(err);
    return rc;
}

void http_close(struct http *h)
{
    http_client_free(h->client);
    free(h->database);
}

int http_refuse(const struct http *h, struct fathom_error *err)
{
    return error_set(err, EIO, "%s: no ClickHouse answers there", http_client_url(h->client));
}

/* Parses "Code: 60, e.displayText() = DB::Exception: TEXT, e.what() = ...": the number, and TEXT in place. */
static int tell_refusal(const struct http *h, const struct http_answer *answer, struct fathom_error *err)
{
    enum {
        UNKNOWN_USER = 192,
        WRONG_PASSWORD = 193,
        REQUIRED_PASSWORD = 194,
        DENIED = 497,
        FAILED = 516,
        FULL = 243
    };
    const char *text = (const char *)answer->data, *begin = strstr(text, "Exception: "),
               *name = http_client_url(h->client);
    const long code = strncmp(text, "Code: ", 6) == 0 ? strtol(text + 6, NULL, 10) : 0;
    char told[HTTP_TOLD_MOST];
    snprintf(told, sizeof told, "%s", begin ? begin + strlen("Exception: ") : text);
    char *end = strstr(told, ", e.what()");
    if (end)
        *end = '\0';
    told[strcspn(told, "\n")] = '\0';
    text_clean(told);
    if (answer->status == 401 || answer->status == 403 || code == UNKNOWN_USER || code == WRONG_PASSWORD ||
        code == REQUIRED_PASSWORD || code == DENIED || code == FAILED)
        return error_set(err, EACCES, "%s: %s (--credentials FILE)", name, told);
    if (*answer->elsewhere)
        return error_set(err, EIO, "%s: it redirects to %.200s, which is not followed", name,
                         answer->elsewhere);
    return *told && !http_answer_is(answer, "text/html")
               ? error_set(err, code == FULL ? ENOSPC : EIO, "%s: %s", name, told)
               : http_refuse(h, err);
}

/* Puts the statement into the URL if there is data. NULL: out of memory. */
static char *make_target(const struct http *h, const char *sql)
{
    char *query = sql ? http_client_escape(h->client, sql) : NULL, *target = NULL;
    if (sql && !query)
        return NULL;
    if (asprintf(&target, "?wait_end_of_query=1%s%s", sql ? "&query=" : "", sql ? query : "") < 0)
        target = NULL;
    http_client_escaped(query);
    return target;
}

int http_ask(const struct http *h, const char *sql, const void *data, size_t size, const uint8_t **answer,
             size_t *answer_size, struct fathom_error *err)
{
    char *target = make_target(h, data ? sql : NULL);
    const struct http_request request = {.target = target,
                                         .data = data ? data : sql,
                                         .size = data ? size : strlen(sql),
                                         .answer_most = data ? HTTP_SENT_ANSWER_MOST : HTTP_ANSWER_MOST,
                                         .seconds_most = data ? HTTP_SEND_S : ASK_S};
    struct http_answer got;
    if (!target)
        return error_memory(err);
    int rc = http_client_post(h->client, &request, &got, err);
    free(target);
    if (rc == -EFBIG && answer)
        rc = error_set(err, EFBIG, "%s: the answer is too large: choose less", http_client_url(h->client));
    if (rc == 0 && got.status != 200)
        rc = tell_refusal(h, &got, err);
    else if (rc == 0 && (http_answer_is(&got, "text/html") || (!answer && got.size)))
        rc = http_refuse(h, err);
    if (rc == 0 && answer) {
        *answer = got.data;
        *answer_size = got.size;
    }
    return rc;
}

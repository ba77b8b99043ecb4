/*
 * http_client.h - sends data to a server over HTTP or HTTPS, and takes its answer.
 *
 * User and password come from a file, and go nowhere but into headers ("basic", RFC 7617). Redirections are not followed, and certificates
 * are checked.
 */
#ifndef FATHOM_STORE_HTTP_CLIENT_H
#define FATHOM_STORE_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct http_client;

struct http_request {
    const char *target;
    const char *type; /* of the data, as "application/json"; NULL: that of forms */
    const void *data;
    size_t size;
    /* What the answer may be, and how long all may take: a server that sends a little at a time would go on for ever. */
    size_t answer_most;    /* bytes, at most HTTP_ANSWER_MOST */
    unsigned seconds_most; /* at least 1 */
};

#define HTTP_ANSWER_MOST ((size_t)1 << 30)
/* Of sending profiles: seconds (a recording's take some), and bytes of an answer, which says no more than an error; of this, what is told. */
enum { HTTP_SEND_S = 600, HTTP_SENT_ANSWER_MOST = 64 << 10, HTTP_TOLD_MOST = 300 };

/* Texts and data are the client's, until the next call. */
struct http_answer {
    long status;
    uint8_t *data; /* followed by a NUL */
    size_t size;
    const char *type;      /* as its header tells; "": untold */
    const char *elsewhere; /* where it redirects to; "": nowhere */
};

/* url: that of which messages speak, "http://HOST:PORT/..."; what is sent goes to its first `base` bytes and a target behind them.
 * credentials: a file that others may not read, with "USER:PASSWORD" in its first line; NULL: none. Nothing is sent yet. -EINVAL: a URL with
 * a password; -EACCES: others may read the file. */
int http_client_new(const char *url, size_t base, const char *credentials, struct http_client **out,
                    struct fathom_error *err);
void http_client_free(struct http_client *client); /* NULL is allowed */
const char *http_client_url(const struct http_client *client);
/* With '%' where a URL wants it; freed by http_client_escaped(). NULL: out of memory. */
char *http_client_escape(struct http_client *client, const char *text);
void http_client_escaped(char *text);

/* -ECONNREFUSED: no connection, or no HTTP; -ETIMEDOUT; -EFBIG: a larger answer, whose reason the caller adds. What the answer says is the
 * caller's to judge, but for: */
int http_client_post(struct http_client *client, const struct http_request *request,
                     struct http_answer *answer, struct fathom_error *err);
/* Whether its type, without parameters, is this one, as "text/html". */
bool http_answer_is(const struct http_answer *answer, const char *type);
/* From then on bodies of a kilobyte and more are compressed (Content-Encoding: gzip), for servers that take that. */
void http_client_compress(struct http_client *client);
uint64_t http_client_sent(const struct http_client *client); /* bytes of URLs and bodies so far */
/* The last answer is the caller's from then on, to be freed. */
void http_client_give(struct http_client *client);

#endif

/*
 * http_client.h - sends data to a server over HTTP or HTTPS and receives its answer. User and password come
 * from a file and are only sent in headers ("basic", RFC 7617). Redirections are not followed, and
 * certificates are checked.
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
    const char *type; /* MIME type of the data, such as "application/json"; NULL: that of forms */
    const void *data;
    size_t size;
    /* Limits of the answer and of the total time: a server that sends a little at a time would never
     * finish. */
    size_t answer_most;    /* bytes, at most HTTP_ANSWER_MOST */
    unsigned seconds_most; /* at least 1 */
};

#define HTTP_ANSWER_MOST ((size_t)1 << 30)
/* For sending profiles: seconds (a recording takes some), and maximum bytes of an answer, which only reports
 * an error; and how much of it is shown. */
enum { HTTP_SEND_S = 600, HTTP_SENT_ANSWER_MOST = 64 << 10, HTTP_TOLD_MOST = 300 };

/* Texts and data are owned by the client and valid until the next call. */
struct http_answer {
    long status;
    uint8_t *data; /* followed by a NUL */
    size_t size;
    const char *type;      /* from its header; "": missing */
    const char *elsewhere; /* the redirection's target; "": none */
};

/* url: shown in messages, "http://HOST:PORT/..."; requests go to its first `base` bytes followed by a target.
 * credentials: a file that others may not read, with "USER:PASSWORD" in its first line; NULL: none. Does not
 * connect yet. -EINVAL: a URL with a password; -EACCES: others may read the file. */
int http_client_new(const char *url, size_t base, const char *credentials, struct http_client **out,
                    struct fathom_error *err);
void http_client_free(struct http_client *client); /* NULL is allowed */
const char *http_client_url(const struct http_client *client);
/* Percent-encodes a text for a URL; freed by http_client_escaped(). NULL: out of memory. */
char *http_client_escape(struct http_client *client, const char *text);
void http_client_escaped(char *text);

/* -ECONNREFUSED: no connection, or no HTTP; -ETIMEDOUT; -EFBIG: a larger answer, whose reason the caller
 * adds. The caller interprets the answer, except for: */
int http_client_post(struct http_client *client, const struct http_request *request,
                     struct http_answer *answer, struct fathom_error *err);
/* Whether the answer's type, without parameters, is this one, such as "text/html". */
bool http_answer_is(const struct http_answer *answer, const char *type);
/* From now on compresses bodies of a kilobyte or more (Content-Encoding: gzip), for servers that accept
 * that. */
void http_client_compress(struct http_client *client);
uint64_t http_client_sent(const struct http_client *client); /* bytes of URLs and bodies so far */
/* Passes ownership of the last answer to the caller, who frees it. */
void http_client_give(struct http_client *client);

#endif

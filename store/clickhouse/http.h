/*
 * http.h - sends queries to a ClickHouse server over HTTP, and gets its answers. Private to
 * store/clickhouse/.
 */
#ifndef FATHOM_STORE_CLICKHOUSE_HTTP_H
#define FATHOM_STORE_CLICKHOUSE_HTTP_H

#include "store/http_client.h"

struct http { /* zero-initialised: closed */
    struct http_client *client;
    char *database; /* letters, digits and '_' */
};

/* url: "http://HOST:PORT/DATABASE", or https. credentials: a file that others may not read, with
 * "USER:PASSWORD" in its first line; NULL: the server's default user. Does not connect yet. -EINVAL: a URL
 * with a password, or without a database; -EACCES: others may read the file. After an error it can only be closed. */
int http_open(const char *url, const char *credentials, struct http *http, struct fathom_error *err);
void http_close(struct http *http);

/* Sends a statement, with data to insert or NULL. answer: owned by the client, until the next call;
 * NUL-terminated. Errors: -ECONNREFUSED: no connection; -EACCES: the server rejects the user; -ENOSPC: it is
 * full; -EFBIG: an answer of more than a gigabyte; -EIO: any other error of the server. */
int http_ask(const struct http *http, const char *sql, const void *data, size_t size, const uint8_t **answer,
             size_t *answer_size, struct fathom_error *err);
/* -EIO: the answer is not ClickHouse's. */
int http_refuse(const struct http *http, struct fathom_error *err);

#endif

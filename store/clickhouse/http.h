/*
 * http.h - sends queries to a ClickHouse server over HTTP, and gets its answers. Private to
 * store/clickhouse/.
 */
#ifndef FATHOM_STORE_CLICKHOUSE_HTTP_H
#define FATHOM_STORE_CLICKHOUSE_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct http;

/* url: "http://HOST:PORT/DATABASE", or https. credentials: a file that others may not read, with
 * "USER:PASSWORD" in its first line; NULL: the server's default user. Does not connect yet. -EINVAL: a URL
 * with a password, or without a database; -EACCES: others may read the file. */
int http_new(const char *url, const char *credentials, struct http **out, struct fathom_error *err);
void http_free(struct http *http);                  /* NULL is allowed */
const char *http_database(const struct http *http); /* letters, digits and '_' */

/* Sends a statement, with data to insert or NULL. answer: owned by `http`, until the next call;
 * NUL-terminated. Errors: -ECONNREFUSED: no connection; -EACCES: the server rejects the user; -ENOSPC: it is
 * full; -EFBIG: an answer of more than a gigabyte; -EIO: any other error of the server. */
int http_ask(struct http *http, const char *sql, const void *data, size_t size, const uint8_t **answer,
             size_t *answer_size, struct fathom_error *err);
/* -EIO: the answer is not ClickHouse's. */
int http_refuse(const struct http *http, struct fathom_error *err);
uint64_t http_sent(const struct http *http); /* bytes, as http_client_sent() */
/* Passes ownership of the last answer to the caller, who frees it. */
void http_give(struct http *http);

#endif

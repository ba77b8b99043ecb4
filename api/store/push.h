/*
 * push.h - sends batches to servers of other tools instead of putting them into a store. The URL says to which:
 *
 *     pyroscope+http://HOST:PORT/   Pyroscope: push.v1.PusherService, as JSON (connectrpc.com/docs/protocol), with gzipped pprof
 *     parca+http://HOST:PORT/       Parca: ProfileStoreService.WriteRaw by its gateway, as JSON, with gzipped pprof
 *     otlp+http://HOST:PORT/        OpenTelemetry: OTLP over HTTP, /v1development/profiles
 *
 * or +https. They cannot be asked what they have: what is sent twice, e.g. again after an error, may count twice.
 */
#ifndef FATHOM_API_STORE_PUSH_H
#define FATHOM_API_STORE_PUSH_H

#include "store/store.h"

struct push;

/* Whether the URL is one of these. */
bool push_is(const char *url);
/* Sends nothing yet. credentials: as for store_open(). -EINVAL: the URL; -EACCES: the file. */
int push_open(const char *url, const char *credentials, struct push **out, struct fathom_error *err);
uint64_t push_sent(const struct push *push); /* bytes, of URLs and bodies */
void push_close(struct push *push);          /* NULL is allowed */
/* Sends a request for each batch, whose contexts are numbers in the dictionary. -ECONNREFUSED: no server; -EACCES: it wants (other)
 * credentials; -EIO: other errors of the server. */
int push_batches(struct push *push, struct dictionary *dictionary, const struct store_batch *batches,
                 size_t count, struct fathom_error *err);

#endif

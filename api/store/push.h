/*
 * push.h - sends batches to the servers of other tools, in place of putting them into a store. The URL says which:
 *
 *     pyroscope+http://HOST:PORT/   Pyroscope: push.v1.PusherService, as JSON (connectrpc.com/docs/protocol), with gzipped pprof
 *     parca+http://HOST:PORT/       Parca: ProfileStoreService.WriteRaw by its gateway, as JSON, with gzipped pprof
 *     otlp+http://HOST:PORT/        OpenTelemetry: OTLP over HTTP, /v1development/profiles
 *
 * or +https. They cannot be asked what they have: what is sent twice, as after an error in the midst, may count twice there.
 */
#ifndef FATHOM_API_STORE_PUSH_H
#define FATHOM_API_STORE_PUSH_H

#include "store/store.h"

struct push;

/* Whether a URL is of these. */
bool push_is(const char *url);
/* Nothing is sent yet. credentials: as store_open(). -EINVAL, -EACCES: the URL, the file. */
int push_open(const char *url, const char *credentials, struct push **out, struct fathom_error *err);
uint64_t push_sent(const struct push *push); /* bytes, of URLs and bodies */
void push_close(struct push *push);          /* NULL is allowed */
/* A request for each batch; entries' contexts are numbers of the dictionary. -ECONNREFUSED: no server; -EACCES: it wants (other) credentials;
 * -EIO: what else it says. */
int push_batches(struct push *push, struct dictionary *dictionary, const struct store_batch *batches,
                 size_t count, struct fathom_error *err);

#endif

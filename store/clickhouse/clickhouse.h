/*
 * clickhouse.h - the engine of a server of ClickHouse. Private to store/clickhouse/.
 *
 * Contexts and frames are known by their hashes, contexts by service; batches have arrays. Rows that are there twice, as they are until
 * the server merges them, count once: each question takes one row a key (LIMIT 1 BY). What a report wants is added up by the server.
 * Statements are those of version 18.16 (Debian's), which later ones know, too.
 */
#ifndef FATHOM_STORE_CLICKHOUSE_CLICKHOUSE_H
#define FATHOM_STORE_CLICKHOUSE_CLICKHOUSE_H

#include "base/hash.h"
#include "store/clickhouse/http.h"
#include "store/clickhouse/statement.h"
#include "store/engine.h"

struct clickhouse {
    struct http *http;
    char *name;
    /* Contexts and frames of the services that were read: */
    struct names *services;
    bool fresh;                      /* they were asked for since batches were read */
    struct table *contexts, *frames; /* hash -> index + 1 */
    struct stored_context *context_list;
    struct stored_frame *frame_list;
    size_t context_count, context_capacity, frame_count, frame_capacity;
    struct arena *texts;
};

/* The columns that make a batch. */
#define BATCH_KEY "service, event, slot, host, sequence, build, phase"

/* Sends a statement of this format, with the database's name in place of each "%1$s", and no answer that matters. */
int clickhouse_run(struct clickhouse *clickhouse, const char *sql, struct fathom_error *err);
/* Ends the statement, sends it, and frees it. */
int clickhouse_ask(struct clickhouse *clickhouse, struct statement *statement, struct bytes *answer,
                   struct fathom_error *err);
/* The answer is not what was asked for. */
int clickhouse_damaged(const struct clickhouse *clickhouse, struct fathom_error *err);

int clickhouse_put(void *engine, const struct dictionary *dictionary, struct store_batch *batches,
                   size_t count, uint64_t *added, struct fathom_error *err);
int clickhouse_recording(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err);
int clickhouse_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                    struct fathom_error *err);
int clickhouse_rows(void *engine, enum store_list list, const struct store_query *query,
                    store_visit_row *visit, void *context, struct fathom_error *err);
int clickhouse_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err);
int clickhouse_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err);

#endif

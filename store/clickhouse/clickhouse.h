/*
 * clickhouse.h - the engine for a ClickHouse server. Private to store/clickhouse/. Contexts and frames are
 * identified by their hashes, contexts by service; batches contain arrays. Rows may be duplicated until the
 * server merges them; each query counts one row per key (LIMIT 1 BY). The server adds up what a report needs.
 * There are no transactions, and batches may arrive at any moment. So each row of a roll-up contains the
 * number of its batches, and the sum of the hashes of their keys: a period is clean if both equal those of
 * the server's batches. Of rows with one key the one with most batches counts, as the batches of a period
 * only increase, or are dropped with their day: a roll-up of fewer or partial batches is never taken for
 * clean. Statements are valid for version 18.16 (Debian's) and later ones.
 */
#ifndef FATHOM_STORE_CLICKHOUSE_CLICKHOUSE_H
#define FATHOM_STORE_CLICKHOUSE_CLICKHOUSE_H

#include "base/hash.h"
#include "store/clickhouse/http.h"
#include "store/engine.h"
#include "store/known.h"
#include "store/spans.h"
#include "store/statement.h"

struct clickhouse {
    struct http http;
    char *name;
    /* Contexts and frames of the services read so far: */
    struct names *services;
    bool fresh;                      /* they were loaded since batches were read */
    struct table *contexts, *frames; /* hash -> index + 1 */
    struct stored_context *context_list;
    struct stored_frame *frame_list;
    size_t context_count, context_capacity, frame_count, frame_capacity;
    struct arena *texts;
    struct statement rows; /* rows of the roll-up being made */
    struct known *known;   /* what need not be sent to it again; NULL: not asked for */
};

/* The columns that make a batch. */
#define BATCH_KEY "service, event, slot, host, sequence, build, phase"

#define ROLLUP_KEY  "service, event, length, begin, host, build, unit"
#define BATCH_MARK  "cityHash64(" BATCH_KEY ")"
#define INSERT_MOST ((size_t)64 << 20) /* bytes of one statement's data */

/* Drops the contexts, frames and texts read so far. After -ENOMEM the store can only be closed. */
int clickhouse_forget(struct clickhouse *clickhouse, struct fathom_error *err);
/* Sends a statement with this format, in which each "%1$s" is the database's name, and ignores the answer. */
int clickhouse_run(struct clickhouse *clickhouse, const char *sql, struct fathom_error *err);
/* Ends the statement, sends it, and frees it. */
int clickhouse_ask(struct clickhouse *clickhouse, struct statement *statement, struct bytes *answer,
                   struct fathom_error *err);
/* Sends rows, and frees them. Does nothing if there are none. */
int clickhouse_insert(struct clickhouse *clickhouse, const char *table, struct statement *rows,
                      struct fathom_error *err);
/* Writes the columns from `period` to `sure`. contexts: of the dictionary, whose numbers the entries have;
 * NULL: they have hashes. */
void put_entries(FILE *out, const struct dictionary_context *contexts, const struct store_batch *batch);
/* " and ...": the conditions of a query, except slots. */
void put_conditions(FILE *out, const struct store_query *query);
/* "select COLUMNS ...": selects each batch, or the newest roll-ups, of spans and a query, once. more: further
 * conditions. */
void put_batches_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more);
void put_rollups_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more);
/* The spans of a query. */
int clickhouse_plan(struct clickhouse *clickhouse, const struct store_query *query, struct spans *spans,
                    struct fathom_error *err);
/* Sets the error that an answer is not as expected. */
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
int clickhouse_unrolled(void *engine, uint32_t length, uint64_t from, uint64_t before,
                        store_visit_period *visit, void *context, struct fathom_error *err);
int clickhouse_roll_begin(void *engine, const struct store_period *period, struct fathom_error *err);
int clickhouse_roll_add(void *engine, const struct store_period *period, const struct store_batch *sum,
                        struct fathom_error *err);
int clickhouse_roll_end(void *engine, const struct store_period *period, int rc, struct fathom_error *err);

#endif

/*
 * clickhouse.h - the engine of a server of ClickHouse. Private to store/clickhouse/.
 *
 * Contexts and frames are known by their hashes, contexts by service; batches have arrays. Rows that are there twice, as they are until
 * the server merges them, count once: each question takes one row a key (LIMIT 1 BY). What a report wants is added up by the server.
 *
 * There are no transactions, and batches may come at any moment. So each row of a roll-up tells how many batches it is made of, and the sum
 * of the hashes of their keys: a period is clean if both are what the server's batches have. Of rows with one key the one of most batches
 * counts, as batches of a period only become more, or go with their day: nothing that was made of fewer, or in part, is ever taken for clean.
 *
 * Statements are those of version 18.16 (Debian's), which later ones know, too.
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
    struct statement rows; /* of the roll-up that is being made */
    struct known *known;   /* what it needs not be sent again; NULL: not asked for */
};

/* The columns that make a batch. */
#define BATCH_KEY "service, event, slot, host, sequence, build, phase"

#define ROLLUP_KEY  "service, event, length, begin, host, build, unit"
#define BATCH_MARK  "cityHash64(" BATCH_KEY ")"
#define INSERT_MOST ((size_t)64 << 20) /* bytes of one statement's data */

/* What was read of contexts and frames, and the texts of it. After -ENOMEM it can only be closed. */
int clickhouse_forget(struct clickhouse *clickhouse, struct fathom_error *err);
/* Sends a statement of this format, with the database's name in place of each "%1$s", and no answer that matters. */
int clickhouse_run(struct clickhouse *clickhouse, const char *sql, struct fathom_error *err);
/* Ends the statement, sends it, and frees it. */
int clickhouse_ask(struct clickhouse *clickhouse, struct statement *statement, struct bytes *answer,
                   struct fathom_error *err);
/* Sends rows, and frees them. Nothing is sent where there is none. */
int clickhouse_insert(struct clickhouse *clickhouse, const char *table, struct statement *rows,
                      struct fathom_error *err);
/* The columns from `period` to `sure`. contexts: of the dictionary, whose numbers the entries have; NULL: they have hashes. */
void put_entries(FILE *out, const struct dictionary_context *contexts, const struct store_batch *batch);
/* " and ...": what a query says of all but slots. */
void put_conditions(FILE *out, const struct store_query *query);
/* "select COLUMNS ...": of each batch, or the newest roll-ups, of spans and a query, once. more: further conditions. */
void put_batches_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more);
void put_rollups_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more);
/* The spans of a query. */
int clickhouse_plan(struct clickhouse *clickhouse, const struct store_query *query, struct spans *spans,
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
int clickhouse_unrolled(void *engine, uint32_t length, uint64_t from, uint64_t before,
                        store_visit_period *visit, void *context, struct fathom_error *err);
int clickhouse_roll_begin(void *engine, const struct store_period *period, struct fathom_error *err);
int clickhouse_roll_add(void *engine, const struct store_period *period, const struct store_batch *sum,
                        struct fathom_error *err);
int clickhouse_roll_end(void *engine, const struct store_period *period, int rc, struct fathom_error *err);

#endif

/*
 * sqlite.h - the engine of one file. Private to store/sqlite/.
 *
 * A context's number in the file is larger than its caller's. Batches count contexts by these numbers, packed (payload.h); they stand in
 * the order of their keys.
 */
#ifndef FATHOM_STORE_SQLITE_SQLITE_H
#define FATHOM_STORE_SQLITE_SQLITE_H

#include "store/engine.h"
#include "store/payload.h"
#include "store/sqlite/connection.h"

struct sqlite {
    struct connection connection;
    struct payload *payload;
    sqlite3_stmt *context, *frame; /* prepared when first used */
};

int sqlite_put(void *engine, const struct dictionary *dictionary, struct store_batch *batches, size_t count,
               uint64_t *added, struct fathom_error *err);
int sqlite_recording(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err);
int sqlite_drop(void *engine, uint64_t before, uint64_t *dropped, struct fathom_error *err);
int sqlite_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                struct fathom_error *err);
int sqlite_rows(void *engine, enum store_list list, const struct store_query *query, store_visit_row *visit,
                void *context, struct fathom_error *err);
int sqlite_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err);
int sqlite_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err);

#endif

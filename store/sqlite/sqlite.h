/*
 * sqlite.h - the engine for one file. Private to store/sqlite/. A context's number in the file is larger than
 * its caller's. Batches refer to contexts by these numbers, packed (payload.h); they are stored in the order
 * of their keys. Roll-ups are clean if their period is in the table `rolled`: putting a batch into the period
 * removes it from there, in the same transaction.
 */
#ifndef FATHOM_STORE_SQLITE_SQLITE_H
#define FATHOM_STORE_SQLITE_SQLITE_H

#include "store/engine.h"
#include "store/payload.h"
#include "store/sqlite/connection.h"

struct sqlite {
    struct connection connection;
    struct payload *payload;
    sqlite3_stmt *context,
        /* prepared when first used; reset after each use, as a statement on a row keeps the file locked */
        *frame;
    char *texts;          /* of the last frame */
    sqlite3_stmt *rollup; /* puts a row of the roll-up being made */
};

/* Begins and ends a transaction. rc: its result so far, which is returned, or the error of ending it. */
int sqlite_begin(const struct connection *connection, struct fathom_error *err);
int sqlite_end(const struct connection *connection, int rc, struct fathom_error *err);

int sqlite_put(void *engine, const struct dictionary *dictionary, struct store_batch *batches, size_t count,
               uint64_t *added, struct fathom_error *err);
int sqlite_recording(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err);
int sqlite_drop(void *engine, uint64_t before, uint64_t *dropped, struct fathom_error *err);
int sqlite_unrolled(void *engine, uint32_t length, uint64_t from, uint64_t before, store_visit_period *visit,
                    void *context, struct fathom_error *err);
int sqlite_roll_begin(void *engine, const struct store_period *period, struct fathom_error *err);
int sqlite_roll_add(void *engine, const struct store_period *period, const struct store_batch *sum,
                    struct fathom_error *err);
int sqlite_roll_end(void *engine, const struct store_period *period, int rc, struct fathom_error *err);
int sqlite_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                struct fathom_error *err);
int sqlite_rows(void *engine, enum store_list list, const struct store_query *query, store_visit_row *visit,
                void *context, struct fathom_error *err);
int sqlite_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err);
int sqlite_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err);

#endif

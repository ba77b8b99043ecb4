/*
 * sqlite.h - the engine of one file. Private to store/sqlite/.
 *
 * A context's number in the file is larger than its caller's. Batches count contexts by these numbers, packed (payload.h); they stand in
 * the order of their keys. Roll-ups are clean if their period stands in the table `rolled`: what puts a batch into the period takes it out
 * of there, in the same transaction.
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
        *frame;  /* prepared when first used; reset after each use, as what is on a row has the file locked */
    char *texts; /* of the last frame */
    sqlite3_stmt *rollup; /* puts a row of the roll-up that is being made */
};

/* A transaction, and its end. rc: what came of it, which is returned, or what came of its end. */
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

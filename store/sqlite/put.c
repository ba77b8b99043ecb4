/* put.c - changes a store in one file: each function in one transaction. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "store/sqlite/sqlite.h"

struct putting {
    struct sqlite *sqlite;
    const struct connection *connection;
    sqlite3_stmt *find, *add; /* for what is added: frames, then contexts */
    sqlite3_stmt *batch, *dirty;
    int64_t *frames, *contexts; /* the dictionary's numbers -> the file's */
    struct store_entry *entries;
    size_t entry_capacity;
};

static int prepare_statements(struct putting *p, const char *find, const char *add, struct fathom_error *err)
{
    sqlite3_finalize(p->find);
    sqlite3_finalize(p->add);
    p->find = p->add = NULL;
    int rc = connection_prepare(p->connection, find, &p->find, err);
    return rc == 0 ? connection_prepare(p->connection, add, &p->add, err) : rc;
}

/* The number of the row with this hash; without one, adds the row bound to `add`. */
static int enter_row(struct putting *p, uint64_t hash, int64_t *number, struct fathom_error *err)
{
    bind_u64(p->find, 1, hash);
    int rc = connection_step(p->connection, p->find, err);
    if (rc == 1)
        *number = sqlite3_column_int64(p->find, 0);
    if (rc != 0) {
        sqlite3_reset(p->find);
        return rc < 0 ? rc : 0;
    }
    rc = connection_step(p->connection, p->add, err);
    *number = sqlite3_last_insert_rowid(p->connection->db);
    return rc;
}

static int enter_frames(struct putting *p, const struct dictionary *dictionary, struct fathom_error *err)
{
    const struct dictionary_frame *frames;
    const size_t count = dictionary_frames(dictionary, &frames);
    p->frames = malloc((count + 1) * sizeof *p->frames);
    int rc = p->frames
                 ? prepare_statements(p, "select number from frames where hash = ?",
                                      "insert into frames(hash, kind, image, name) values(?, ?, ?, ?)", err)
                 : error_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bind_u64(p->add, 1, frames[i].hash);
        bind_u64(p->add, 2, frames[i].kind);
        bind_text(p->add, 3, frames[i].image);
        bind_text(p->add, 4, frames[i].name);
        rc = enter_row(p, frames[i].hash, &p->frames[i], err);
    }
    return rc;
}

static int enter_contexts(struct putting *p, const struct dictionary *dictionary, struct fathom_error *err)
{
    const struct dictionary_context *contexts;
    const size_t count = dictionary_contexts(dictionary, &contexts);
    p->contexts = malloc((count + 1) * sizeof *p->contexts);
    int rc = p->contexts
                 ? prepare_statements(p, "select number from contexts where hash = ?",
                                      "insert into contexts(hash, caller, frame) values(?, ?, ?)", err)
                 : error_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const uint32_t caller = contexts[i].caller;
        bind_u64(p->add, 1, contexts[i].hash);
        sqlite3_bind_int64(p->add, 2, caller == DICTIONARY_NONE ? 0 : p->contexts[caller]);
        sqlite3_bind_int64(p->add, 3, p->frames[contexts[i].frame]);
        rc = enter_row(p, contexts[i].hash, &p->contexts[i], err);
    }
    return rc;
}

static int put_batch(struct putting *p, const struct store_batch *batch, struct fathom_error *err)
{
    const struct store_key *key = &batch->key;
    const void *data;
    size_t size;
    if (!vec_reserve(p->entries, 0, p->entry_capacity, batch->count + 1))
        return error_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        p->entries[i] = batch->entries[i];
        p->entries[i].context = (uint64_t)p->contexts[batch->entries[i].context];
    }
    sort_by(p->entries, batch->count, context);
    int rc = payload_pack(p->sqlite->payload, p->entries, batch->count, &data, &size, err);
    if (rc < 0)
        return rc;
    bind_text(p->batch, 1, key->service);
    bind_text(p->batch, 2, key->event);
    bind_u64(p->batch, 3, key->slot);
    bind_text(p->batch, 4, key->host);
    bind_u64(p->batch, 5, key->sequence);
    bind_text(p->batch, 6, key->build);
    bind_u64(p->batch, 7, key->phase);
    bind_text(p->batch, 8, batch->unit);
    bind_sum(p->batch, 9, batch->samples);
    bind_sum(p->batch, 10, batch->weight);
    sqlite3_bind_blob64(p->batch, 11, data, size, SQLITE_STATIC);
    return connection_step(p->connection, p->batch, err);
}

/* Periods with a new batch are no longer clean. */
static int take_out(struct putting *p, const struct store_key *key, struct fathom_error *err)
{
    bind_text(p->dirty, 1, key->service);
    bind_text(p->dirty, 2, key->event);
    bind_u64(p->dirty, 3, key->slot);
    return connection_step(p->connection, p->dirty, err);
}

static int put_batches(struct putting *p, const struct store_batch *batches, size_t count, uint64_t *added,
                       struct fathom_error *err)
{
    int rc = connection_prepare(p->connection, "insert or ignore into batches values(?,?,?,?,?,?,?,?,?,?,?)",
                                &p->batch, err);
    if (rc == 0)
        rc = connection_prepare(p->connection,
                                "delete from rolled where service = ?1 and event = ?2 and begin <= ?3 and "
                                "begin > ?3 - 86400 and begin + length > ?3",
                                &p->dirty, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_batch(p, &batches[i], err);
        const bool is_new = rc == 0 && sqlite3_changes(p->connection->db);
        *added += is_new;
        if (is_new)
            rc = take_out(p, &batches[i].key, err);
    }
    return rc;
}

int sqlite_begin(const struct connection *c, struct fathom_error *err)
{
    return connection_run(c, "begin immediate", err);
}

int sqlite_end(const struct connection *c, int rc, struct fathom_error *err)
{
    if (rc == 0)
        rc = connection_run(c, "commit", err);
    if (rc < 0)
        connection_run(c, "rollback", NULL);
    return rc;
}

int sqlite_put(void *engine, const struct dictionary *dictionary, struct store_batch *batches, size_t count,
               uint64_t *added, struct fathom_error *err)
{
    struct sqlite *s = engine;
    struct putting p = {.sqlite = s, .connection = &s->connection};
    *added = 0;
    int rc = sqlite_begin(p.connection, err);
    if (rc < 0)
        return rc;
    rc = enter_frames(&p, dictionary, err);
    if (rc == 0)
        rc = enter_contexts(&p, dictionary, err);
    if (rc == 0)
        rc = put_batches(&p, batches, count, added, err);
    sqlite3_finalize(p.find);
    sqlite3_finalize(p.add);
    sqlite3_finalize(p.batch);
    sqlite3_finalize(p.dirty);
    free(p.frames);
    free(p.contexts);
    free(p.entries);
    return sqlite_end(p.connection, rc, err);
}

int sqlite_recording(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err)
{
    const struct connection *c = &((struct sqlite *)engine)->connection;
    sqlite3_stmt *statement = NULL;
    int rc = sqlite_begin(c, err);
    if (rc < 0)
        return rc;
    rc = connection_prepare(
        c, "insert into recordings values(?1, ?2) on conflict do update set ended = ended returning ended",
        &statement, err);
    if (rc == 0) {
        bind_u64(statement, 1, recording);
        bind_u64(statement, 2, *ended);
        rc = connection_step(c, statement, err);
    }
    if (rc == 1 && !column_take(statement, 0, STORE_TIME_MOST * UINT64_C(1000000000), ended))
        rc = connection_damaged(c, "when a recording ended is no time", err);
    sqlite3_finalize(statement);
    return sqlite_end(c, rc < 0 ? rc : 0, err);
}

int sqlite_drop(void *engine, uint64_t before, uint64_t *dropped, struct fathom_error *err)
{
    const struct connection *c = &((struct sqlite *)engine)->connection;
    sqlite3_stmt *statement = NULL;
    int rc = sqlite_begin(c, err);
    if (rc < 0)
        return rc;
    static const char *const tables[] = {"delete from rolled where begin < ?",
                                         "delete from rollups where begin < ?",
                                         "delete from batches where slot < ?"};
    for (size_t i = 0; rc == 0 && i < sizeof tables / sizeof *tables; i++) {
        sqlite3_finalize(statement);
        statement = NULL;
        rc = connection_prepare(c, tables[i], &statement, err);
        if (rc == 0) {
            bind_u64(statement, 1, before);
            rc = connection_step(c, statement, err);
        }
    }
    *dropped = (uint64_t)sqlite3_changes(c->db);
    sqlite3_finalize(statement);
    rc = sqlite_end(c, rc, err);
    return rc == 0 ? connection_run(c, "pragma incremental_vacuum", err) : rc;
}

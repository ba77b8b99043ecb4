/* roll_up.c - roll-ups in one file: each in one transaction. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite.h"

/* What there is to roll up ------------------------------------------------------------------------------- */

/* Steps over the keys of batches, from each period to the next. */
struct stepping {
    const struct connection *connection;
    sqlite3_stmt *pair, *slot, *rolled;
    char *service, *event; /* where it is */
};

/* 1: to the next service and event; 0: there is none. */
static int next_pair(struct stepping *s, struct fathom_error *err)
{
    sqlite3_reset(s->pair);
    bind_text(s->pair, 1, s->service);
    bind_text(s->pair, 2, s->event);
    int rc = connection_step(s->connection, s->pair, err);
    if (rc <= 0)
        return rc;
    char *service = strdup(column_text(s->pair, 0)), *event = strdup(column_text(s->pair, 1));
    const int order = service && event ? strcmp(service, s->service) : 0;
    const bool later = order > 0 || (order == 0 && event && strcmp(event, s->event) > 0);
    rc = !service || !event ? error_memory(err)
         : later            ? 1
                            : connection_damaged(s->connection, "names of its batches are no texts", err);
    free(s->service);
    free(s->event);
    s->service = service;
    s->event = event;
    return rc;
}

/* 1: there is a batch in [*slot, before), and *slot is that of the first. */
static int next_slot(struct stepping *s, uint64_t *slot, uint64_t before, struct fathom_error *err)
{
    sqlite3_reset(s->slot);
    bind_text(s->slot, 1, s->service);
    bind_text(s->slot, 2, s->event);
    bind_u64(s->slot, 3, *slot);
    bind_u64(s->slot, 4, before);
    int rc = connection_step(s->connection, s->slot, err);
    if (rc == 1)
        *slot = column_u64(s->slot, 0);
    return rc;
}

/* 1: it is clean. */
static int is_rolled(struct stepping *s, const struct store_period *p, struct fathom_error *err)
{
    sqlite3_reset(s->rolled);
    bind_text(s->rolled, 1, p->service);
    bind_text(s->rolled, 2, p->event);
    bind_u64(s->rolled, 3, p->begin);
    bind_u64(s->rolled, 4, p->length);
    return connection_step(s->connection, s->rolled, err);
}

static int step_periods(struct stepping *s, uint32_t length, uint64_t from, uint64_t before,
                        store_visit_period *visit, void *context, struct fathom_error *err)
{
    int rc;
    for (uint64_t slot = from; (rc = next_slot(s, &slot, before - before % length, err)) == 1;) {
        const struct store_period period = {s->service, s->event, length, slot - slot % length};
        rc = is_rolled(s, &period, err);
        if (rc == 0)
            rc = visit(context, &period, err);
        if (rc < 0)
            return rc;
        slot = period.begin + length;
    }
    return rc;
}

int sqlite_unrolled(void *engine, uint32_t length, uint64_t from, uint64_t before, store_visit_period *visit,
                    void *context, struct fathom_error *err)
{
    struct stepping s = {&((struct sqlite *)engine)->connection, NULL, NULL, NULL, strdup(""), strdup("")};
    int rc = s.service && s.event ? 0 : error_memory(err);
    if (rc == 0)
        rc = connection_prepare(s.connection,
                                "select service, event from batches where (service, event) > (?, ?)"
                                " order by service, event limit 1",
                                &s.pair, err);
    if (rc == 0)
        rc = connection_prepare(s.connection,
                                "select slot from batches where service = ? and event = ? and slot >= ? and "
                                "slot < ? order by slot limit 1",
                                &s.slot, err);
    if (rc == 0)
        rc = connection_prepare(
            s.connection, "select 1 from rolled where service = ? and event = ? and begin = ? and length = ?",
            &s.rolled, err);
    while (rc == 0 && (rc = next_pair(&s, err)) == 1)
        rc = step_periods(&s, length, from, before, visit, context, err);
    sqlite3_finalize(s.pair);
    sqlite3_finalize(s.slot);
    sqlite3_finalize(s.rolled);
    free(s.service);
    free(s.event);
    return rc;
}

/* One of them --------------------------------------------------------------------------------------------------- */

static void bind_period(sqlite3_stmt *statement, const struct store_period *p)
{
    bind_text(statement, 1, p->service);
    bind_text(statement, 2, p->event);
    bind_u64(statement, 3, p->length);
    bind_u64(statement, 4, p->begin);
}

static int run_for_period(const struct connection *c, const char *sql, const struct store_period *p,
                          struct fathom_error *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = connection_prepare(c, sql, &statement, err);
    if (rc == 0) {
        bind_period(statement, p);
        rc = connection_step(c, statement, err);
    }
    sqlite3_finalize(statement);
    return rc;
}

int sqlite_roll_begin(void *engine, const struct store_period *p, struct fathom_error *err)
{
    struct sqlite *s = engine;
    int rc = sqlite_begin(&s->connection, err);
    if (rc < 0)
        return rc;
    rc = run_for_period(&s->connection,
                        "delete from rolled where service = ? and event = ? and length = ? and begin = ?", p,
                        err);
    if (rc == 0) /* another process may have made it since it was listed: it is removed before it is read */
        rc = run_for_period(
            &s->connection,
            "delete from rollups where service = ? and event = ? and length = ? and begin = ?", p, err);
    if (rc == 0 && !s->rollup)
        rc = connection_prepare(&s->connection, "insert into rollups values(?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                &s->rollup, err);
    return rc == 0 ? 0 : sqlite_end(&s->connection, rc, err);
}

int sqlite_roll_add(void *engine, const struct store_period *p, const struct store_batch *sum,
                    struct fathom_error *err)
{
    struct sqlite *s = engine;
    const void *data;
    size_t size;
    int rc = payload_pack(s->payload, sum->entries, sum->count, &data, &size, err);
    if (rc < 0)
        return rc;
    bind_period(s->rollup, p);
    bind_text(s->rollup, 5, sum->key.host);
    bind_text(s->rollup, 6, sum->key.build);
    bind_text(s->rollup, 7, sum->unit);
    bind_u64(s->rollup, 8, sum->key.slot);
    bind_u64(s->rollup, 9, sum->last);
    bind_sum(s->rollup, 10, sum->batches);
    bind_sum(s->rollup, 11, sum->samples);
    bind_sum(s->rollup, 12, sum->weight);
    sqlite3_bind_blob64(s->rollup, 13, data, size, SQLITE_STATIC);
    return connection_step(&s->connection, s->rollup, err);
}

int sqlite_roll_end(void *engine, const struct store_period *p, int rc, struct fathom_error *err)
{
    struct sqlite *s = engine;
    if (rc == 0)
        rc = run_for_period(&s->connection,
                            "insert or ignore into rolled(service, event, length, begin) values(?, ?, ?, ?)",
                            p, err);
    return sqlite_end(&s->connection, rc, err);
}

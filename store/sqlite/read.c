/* read.c - what is read of a store in one file. */
#include <errno.h>
#include <stdio.h>

#include "store/sqlite/sqlite.h"

/* A column, and what it must be. */
struct condition {
    const char *sql, *text; /* text: its parameter; NULL: `number` is */
    uint64_t number;
};

enum { CONDITIONS = 6 };

static size_t conditions_of(const struct store_query *q, struct condition out[CONDITIONS])
{
    const struct condition all[CONDITIONS] = {
        {"service = ?", q->service, 0}, {"event = ?", q->event, 0}, {"slot >= ?", NULL, q->from},
        {"slot < ?", NULL, q->to},      {"host = ?", q->host, 0},   {"instr(build, ?) = 1", q->build, 0},
    };
    size_t count = 0;
    for (size_t i = 0; i < CONDITIONS; i++)
        if (all[i].text || all[i].number)
            out[count++] = all[i];
    return count;
}

/* "select WHAT from batches where ... REST", its parameters bound. */
static int prepare(const struct connection *c, const struct store_query *query, const char *what,
                   const char *rest, sqlite3_stmt **out, struct fathom_error *err)
{
    struct condition conditions[CONDITIONS];
    const size_t count = conditions_of(query, conditions);
    char sql[1024];
    size_t length = (size_t)snprintf(sql, sizeof sql, "select %s from batches where 1", what);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, " and %s", conditions[i].sql);
    snprintf(sql + length, sizeof sql - length, " %s", rest);
    int rc = connection_prepare(c, sql, out, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (conditions[i].text)
            bind_text(*out, (int)i + 1, conditions[i].text);
        else
            bind_u64(*out, (int)i + 1, conditions[i].number);
    }
    return rc;
}

static int visit_batch(struct sqlite *s, sqlite3_stmt *row, store_visit *visit, void *context,
                       struct fathom_error *err)
{
    struct store_batch batch = {.key = {.service = column_text(row, 0),
                                        .event = column_text(row, 1),
                                        .slot = column_u64(row, 2),
                                        .host = column_text(row, 3),
                                        .sequence = column_u64(row, 4),
                                        .build = column_text(row, 5),
                                        .phase = (uint32_t)column_u64(row, 6)},
                                .unit = column_text(row, 7),
                                .samples = column_u64(row, 8),
                                .weight = column_u64(row, 9)};
    const void *data = sqlite3_column_blob(row, 10);
    int rc = payload_unpack(s->payload, data ? data : "", (size_t)sqlite3_column_bytes(row, 10),
                            &batch.entries, &batch.count, err);
    return rc == 0 ? visit(context, &batch, err) : rc;
}

int sqlite_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                struct fathom_error *err)
{
    struct sqlite *s = engine;
    sqlite3_stmt *row = NULL;
    int rc = prepare(&s->connection, query,
                     "service, event, slot, host, sequence, build, phase, unit, samples, weight, entries", "",
                     &row, err);
    while (rc == 0 && (rc = connection_step(&s->connection, row, err)) == 1)
        rc = visit_batch(s, row, visit, context, err);
    sqlite3_finalize(row);
    return rc;
}

int sqlite_rows(void *engine, enum store_list list, const struct store_query *query, store_visit_row *visit,
                void *context, struct fathom_error *err)
{
    static const char *const columns[] = {[STORE_SERVICES] = "service",
                                          [STORE_EVENTS] = "event",
                                          [STORE_HOSTS] = "host",
                                          [STORE_BUILDS] = "build"};
    const struct connection *c = &((struct sqlite *)engine)->connection;
    sqlite3_stmt *row = NULL;
    char what[256];
    snprintf(what, sizeof what,
             "%s, event, unit, min(slot), max(slot), cast(total(samples) as integer),"
             " cast(total(weight) as integer), count(*)",
             columns[list]);
    int rc = prepare(c, query, what, "group by 1, 2, 3 order by 1, 2, 3", &row, err);
    while (rc == 0 && (rc = connection_step(c, row, err)) == 1)
        rc = visit(context,
                   &(struct store_row){column_text(row, 0), column_text(row, 1), column_text(row, 2),
                                       column_u64(row, 3), column_u64(row, 4), column_u64(row, 5),
                                       column_u64(row, 6), column_u64(row, 7)},
                   err);
    sqlite3_finalize(row);
    return rc;
}

/* 1: the row of this number; 0: there is none. */
static int find(const struct connection *c, sqlite3_stmt **statement, const char *sql, uint64_t number,
                struct fathom_error *err)
{
    int rc = *statement ? 0 : connection_prepare(c, sql, statement, err);
    if (rc < 0)
        return rc;
    sqlite3_reset(*statement);
    bind_u64(*statement, 1, number);
    return connection_step(c, *statement, err);
}

int sqlite_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err)
{
    struct sqlite *s = engine;
    int rc =
        find(&s->connection, &s->context, "select caller, frame from contexts where number = ?", number, err);
    if (rc <= 0)
        return rc < 0 ? rc : -ENODATA;
    *out = (struct stored_context){column_u64(s->context, 0), column_u64(s->context, 1)};
    return out->caller < number ? 0
                                : error_set(err, EBADMSG, "%s is damaged: a context is newer than its caller",
                                            s->connection.file);
}

int sqlite_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err)
{
    struct sqlite *s = engine;
    int rc =
        find(&s->connection, &s->frame, "select kind, image, name from frames where number = ?", number, err);
    if (rc == 1)
        *out = (struct stored_frame){column_u64(s->frame, 0), column_text(s->frame, 1),
                                     column_text(s->frame, 2)};
    return rc < 0 ? rc : rc == 1 ? 0 : -ENODATA;
}

/* read.c - reads a store in one file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/spans.h"
#include "store/sqlite/sqlite.h"
#include "store/statement.h"

/* A column, and the value that it must have. */
struct condition {
    const char *sql, *text; /* text: its parameter; NULL: `number` is */
    uint64_t number;
    int parameter; /* which */
};

enum { CONDITIONS = 6 };

static size_t conditions_of(const struct store_query *q, struct condition out[CONDITIONS])
{
    const struct condition all[CONDITIONS] = {
        {"service = ?1", q->service, 0, 1}, {"event = ?2", q->event, 0, 2},
        {"host = ?3", q->host, 0, 3},       {"instr(build, ?4) = 1", q->build, 0, 4},
        {"slot >= ?5", NULL, q->from, 5},   {"slot < ?6", NULL, q->to, 6},
    };
    size_t count = 0;
    for (size_t i = 0; i < CONDITIONS; i++)
        if (all[i].text || all[i].number)
            out[count++] = all[i];
    return count;
}

/* " and CONDITION ...", of slots too, or of all else. */
static void put_conditions(FILE *out, const struct store_query *query, bool slots)
{
    struct condition conditions[CONDITIONS];
    const size_t count = conditions_of(query, conditions);
    for (size_t i = 0; i < count; i++)
        if (slots || conditions[i].text)
            fprintf(out, " and %s", conditions[i].sql);
}

/* Prepares the statement that was written, and frees its text. */
static int prepare_query(const struct connection *c, struct statement *text, const struct store_query *query,
                         sqlite3_stmt **out, struct fathom_error *err)
{
    struct condition conditions[CONDITIONS];
    const size_t count = conditions_of(query, conditions);
    int rc = statement_end(text) ? connection_prepare(c, text->text, out, err) : error_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (conditions[i].text)
            bind_text(*out, conditions[i].parameter, conditions[i].text);
        else
            bind_u64(*out, conditions[i].parameter, conditions[i].number);
    }
    free(text->text);
    return rc;
}

/* Batches and roll-ups --------------------------------------------------------------------------------------------- */

/* Each batch is in one span. */
static int plan_spans(const struct sqlite *s, const struct store_query *query, struct spans *spans,
                      struct fathom_error *err)
{
    const struct connection *c = &s->connection;
    sqlite3_stmt *row = NULL;
    int rc = 0;
    *spans = (struct spans){.query = query};
    if (query->service && query->event) {
        rc = connection_prepare(c,
                                "select length, begin from rolled where service = ?1 and event = ?2 and "
                                "begin >= ?3 order by begin, length desc",
                                &row, err);
        if (rc == 0) {
            bind_text(row, 1, query->service);
            bind_text(row, 2, query->event);
            bind_u64(row, 3, query->from);
        }
        while (rc == 0 && (rc = connection_step(c, row, err)) == 1)
            rc = spans_add(spans, (uint32_t)column_u64(row, 0), column_u64(row, 1)) < 0 ? error_memory(err)
                                                                                        : 0;
        sqlite3_finalize(row);
    }
    return rc == 0 && spans_end(spans) < 0 ? error_memory(err) : rc;
}

/* Keys are found and sorted first, then the entries of each are read: these are large. */
static void put_each(FILE *out, const struct spans *spans)
{
    const struct store_query *q = spans->query;
    fputs("with spans(length, first, after) as (values", out);
    for (size_t i = 0; i < spans->count; i++)
        fprintf(out, "%s(%" PRIu32 ",%" PRIu64 ",%" PRIu64 ")", i ? "," : "", spans->at[i].length,
                spans->at[i].from, spans->at[i].to);
    fputs("), keys as (select service, event, 0 as length, slot as begin, host, sequence, build, phase, "
          "unit, slot as first, slot as last, 1 as batches, samples, weight from spans cross join batches "
          "where length = 0 and slot >= spans.first and slot < after",
          out);
    put_conditions(out, q, true);
    fputs(" union all select service, event, length, begin, host, 0, build, 0, unit, rollups.first, last, "
          "batches, samples, weight from spans cross join rollups using(length) where begin >= spans.first "
          "and begin < after",
          out);
    put_conditions(out, q, false);
    fputs(q->by_build  ? " order by host, build, unit, begin"
          : q->by_host ? " order by host, begin"
          : q->slice   ? " order by begin"
                       : "",
          out);
    fputs(" limit -1) select service, event, host, build, unit, first, last, batches, samples, weight, case "
          "length when 0 then (select entries from batches b where b.service = keys.service and b.event = "
          "keys.event and b.slot = begin and b.host = keys.host and b.sequence = keys.sequence and b.build = "
          "keys.build and b.phase = keys.phase) else (select entries from rollups r where r.service = "
          "keys.service and r.event = keys.event and r.length = keys.length and r.begin = keys.begin and "
          "r.host = keys.host and r.build = keys.build and r.unit = keys.unit) end from keys",
          out);
}

static int visit_batch(struct sqlite *s, sqlite3_stmt *row, store_visit *visit, void *context,
                       struct fathom_error *err)
{
    struct store_batch batch = {.key = {.service = column_text(row, 0),
                                        .event = column_text(row, 1),
                                        .host = column_text(row, 2),
                                        .build = column_text(row, 3)},
                                .unit = column_text(row, 4)};
    if (!column_take(row, 5, STORE_TIME_MOST, &batch.key.slot) ||
        !column_take(row, 6, STORE_TIME_MOST, &batch.last) || batch.last < batch.key.slot ||
        !column_take(row, 7, INT64_MAX, &batch.batches) || !column_take(row, 8, INT64_MAX, &batch.samples) ||
        !column_take(row, 9, INT64_MAX, &batch.weight))
        return connection_damaged(&s->connection, "a batch has a number that cannot be", err);
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
    struct spans spans;
    struct statement text;
    int rc = plan_spans(s, query, &spans, err);
    if (rc == 0) {
        if (statement_begin(&text))
            put_each(text.out, &spans);
        rc = prepare_query(&s->connection, &text, query, &row, err);
    }
    while (rc == 0 && (rc = connection_step(&s->connection, row, err)) == 1)
        rc = visit_batch(s, row, visit, context, err);
    sqlite3_finalize(row);
    spans_clear(&spans);
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
    struct statement text;
    if (statement_begin(&text)) {
        fprintf(text.out,
                "select %s, event, unit, min(slot), max(slot), cast(total(samples) as integer), "
                "cast(total(weight) as integer), count(*), max(typeof(slot) <> 'integer' or typeof(samples) "
                "<> 'integer' or typeof(weight) <> 'integer' or slot not between 0 and %" PRIu64
                " or samples < 0 or weight < 0), %s from batches where 1",
                columns[list], (uint64_t)STORE_TIME_MOST, list == STORE_BUILDS ? "service" : "''");
        put_conditions(text.out, query, true);
        fputs(" group by 1, 2, 3, 10 order by 1, 10, 2, 3", text.out);
    }
    int rc = prepare_query(c, &text, query, &row, err);
    while (rc == 0 && (rc = connection_step(c, row, err)) == 1)
        rc = column_u64(row, 8)
                 ? connection_damaged(c, "a batch has a number that cannot be", err)
                 : visit(context,
                         &(struct store_row){column_text(row, 0), column_text(row, 1), column_text(row, 2),
                                             column_text(row, 9), column_u64(row, 3), column_u64(row, 4),
                                             column_u64(row, 5), column_u64(row, 6), column_u64(row, 7)},
                         err);
    sqlite3_finalize(row);
    return rc;
}

/* 1: the row of this number, which the caller resets; 0: there is none. */
static int find_row(const struct connection *c, sqlite3_stmt **statement, const char *sql, uint64_t number,
                    struct fathom_error *err)
{
    int rc = *statement ? 0 : connection_prepare(c, sql, statement, err);
    if (rc < 0)
        return rc;
    bind_u64(*statement, 1, number);
    rc = connection_step(c, *statement, err);
    if (rc <= 0)
        sqlite3_reset(*statement);
    return rc;
}

int sqlite_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err)
{
    struct sqlite *s = engine;
    int rc = find_row(&s->connection, &s->context, "select caller, frame from contexts where number = ?",
                      number, err);
    if (rc <= 0)
        return rc < 0 ? rc : -ENODATA;
    const bool good = column_take(s->context, 0, INT64_MAX, &out->caller) &&
                      column_take(s->context, 1, INT64_MAX, &out->frame);
    sqlite3_reset(s->context);
    if (!good)
        return connection_damaged(&s->connection, "a context has a number that cannot be", err);
    return out->caller < number
               ? 0
               : connection_damaged(&s->connection, "a context is newer than its caller", err);
}

/* false: out of memory. */
static bool keep_texts(struct sqlite *s, const char *image, const char *name, struct stored_frame *out)
{
    const size_t first = strlen(image) + 1, second = strlen(name) + 1;
    char *texts = realloc(s->texts, first + second);
    if (!texts)
        return false;
    s->texts = texts;
    out->image = memcpy(texts, image, first);
    out->name = memcpy(texts + first, name, second);
    return true;
}

int sqlite_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err)
{
    struct sqlite *s = engine;
    int rc = find_row(&s->connection, &s->frame, "select kind, image, name from frames where number = ?",
                      number, err);
    if (rc <= 0)
        return rc < 0 ? rc : -ENODATA;
    out->kind = column_u64(s->frame, 0);
    rc = keep_texts(s, column_text(s->frame, 1), column_text(s->frame, 2), out) ? 0 : error_memory(err);
    sqlite3_reset(s->frame);
    return rc;
}

/* roll_up.c - roll-ups in a server: finding clean ones, and writing them. */
#include <inttypes.h>
#include <stdlib.h>

#include "store/clickhouse/clickhouse.h"
#include "store/payload.h"

/* What is asked of either table ------------------------------------------------------------------------------------ */

void put_conditions(FILE *out, const struct store_query *q)
{
    const struct {
        const char *before, *text, *after;
    } texts[] = {{" and service = ", q->service, ""},
                 {" and event = ", q->event, ""},
                 {" and host = ", q->host, ""},
                 {" and startsWith(build, ", q->build, ")"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text) {
            fputs(texts[i].before, out);
            put_value(out, texts[i].text);
            fputs(texts[i].after, out);
        }
}

/* " or column is in a span of this length ..." */
static void put_spans(FILE *out, const struct spans *spans, const char *column, uint32_t length)
{
    for (size_t i = 0; i < spans->count; i++)
        if (spans->at[i].length == length)
            fprintf(out, " or %s >= %" PRIu64 " and %s < %" PRIu64, column, spans->at[i].from, column,
                    spans->at[i].to);
}

void put_batches_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more)
{
    fprintf(out, "select %s from %s.batches where (0", columns, database);
    put_spans(out, spans, "slot", 0);
    fputs(")", out);
    put_conditions(out, spans->query);
    fprintf(out, "%s limit 1 by " BATCH_KEY, more);
}

static void put_where(FILE *out, const struct spans *spans, const char *more)
{
    fputs(" where (length = 3600 and (0", out);
    put_spans(out, spans, "begin", HOUR);
    fputs(") or length = 86400 and (0", out);
    put_spans(out, spans, "begin", DAY);
    fputs("))", out);
    put_conditions(out, spans->query);
    fputs(more, out);
}

void put_rollups_of(FILE *out, const char *database, const char *columns, const struct spans *spans,
                    const char *more)
{
    fprintf(out, "select %s from %s.rollups", columns, database);
    put_where(out, spans, more);
    fprintf(out, " and (" ROLLUP_KEY ", batches) in (select " ROLLUP_KEY ", max(batches) from %s.rollups",
            database);
    put_where(out, spans, more);
    fputs(" group by " ROLLUP_KEY ") limit 1 by " ROLLUP_KEY, out);
}

/* Which are clean ------------------------------------------------------------------------------------------------------ */

/* By period: the difference between batches and roll-ups, in number and in marks; 0 if clean. */
static void put_balance(FILE *out, const char *database, const struct spans *slots,
                        const struct spans *periods, const char *lengths)
{
    fprintf(out, "select service, event, length, begin, sum(more) as a, sum(marks) as b, sum(some) as c from "
                 "(select service, event, length, intDiv(slot, length) * length as begin, toInt64(count()) "
                 "as more, sum(toInt64(mark)) as marks, 1 as some from (");
    put_batches_of(out, database, "service, event, slot, " BATCH_MARK " as mark", slots, "");
    fprintf(out,
            ") array join %s as length group by service, event, length, begin union all select service, "
            "event, length, toUInt64(begin) as begin, -toInt64(sum(batches)) as more, -sum(toInt64(mark)) as "
            "marks, 0 as some from (",
            lengths);
    put_rollups_of(out, database, "service, event, length, begin, batches, mark", periods, "");
    fputs(") group by service, event, length, begin) group by service, event, length, begin", out);
}

/* Adds the periods that are clean for a query. */
static int plan_clean(struct clickhouse *c, struct spans *spans, struct fathom_error *err)
{
    const struct store_query *q = spans->query;
    const uint64_t to = q->to ? q->to : INT64_MAX;
    struct span slots = {q->from, to, 0}, periods[] = {{q->from, to, HOUR}, {q->from, to, DAY}};
    struct statement s;
    struct bytes b;
    if (statement_begin(&s)) {
        fputs("select length, begin from (", s.out);
        put_balance(s.out, c->http.database, &(struct spans){q, &slots, 1, 1},
                    &(struct spans){q, periods, 2, 2}, "[toUInt32(3600), toUInt32(86400)]");
        fputs(") where a = 0 and b = 0 order by begin, length desc format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    while (rc == 0 && bytes_left(&b)) {
        const uint32_t length = bytes_u32(&b);
        const uint64_t begin = bytes_u64(&b);
        rc = b.failed                              ? clickhouse_damaged(c, err)
             : spans_add(spans, length, begin) < 0 ? error_memory(err)
                                                   : 0;
    }
    return rc;
}

int clickhouse_plan(struct clickhouse *c, const struct store_query *query, struct spans *spans,
                    struct fathom_error *err)
{
    *spans = (struct spans){.query = query};
    int rc = query->event ? plan_clean(c, spans, err) : 0;
    if (rc == 0 && spans_end(spans) < 0)
        rc = error_memory(err);
    if (rc < 0)
        spans_clear(spans);
    return rc;
}

int clickhouse_unrolled(void *engine, uint32_t length, uint64_t from, uint64_t before,
                        store_visit_period *visit, void *context, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    const struct store_query all = {0};
    struct span slots = {from, before - before % length, 0}, periods = slots;
    struct statement s;
    struct bytes b;
    char lengths[32];
    periods.length = length;
    snprintf(lengths, sizeof lengths, "[toUInt32(%" PRIu32 ")]", length);
    if (statement_begin(&s)) {
        fputs("select service, event, begin from (", s.out);
        put_balance(s.out, c->http.database, &(struct spans){&all, &slots, 1, 1},
                    &(struct spans){&all, &periods, 1, 1}, lengths);
        fputs(") where (a != 0 or b != 0) and c != 0 order by service, event, begin format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    struct arena *texts = arena_new(0);
    if (rc == 0 && !texts)
        rc = error_memory(err);
    while (rc == 0 && bytes_left(&b)) {
        struct store_period period = {.length = length, .service = take_text(&b, texts)};
        period.event = take_text(&b, texts);
        period.begin = bytes_u64(&b);
        rc = b.failed || !period.service || !period.event ? clickhouse_damaged(c, err)
                                                          : visit(context, &period, err);
    }
    arena_free(texts);
    return rc;
}

/* One of them ---------------------------------------------------------------------------------------------------------- */

int clickhouse_roll_begin(void *engine, const struct store_period *period, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    (void)period;
    statement_begin(&c->rows);
    return c->rows.out ? 0 : error_memory(err);
}

int clickhouse_roll_add(void *engine, const struct store_period *p, const struct store_batch *sum,
                        struct fathom_error *err)
{
    struct clickhouse *c = engine;
    FILE *out = c->rows.out;
    put_binary_text(out, p->service);
    put_binary_text(out, p->event);
    put_binary(out, p->length, 4);
    put_binary(out, p->begin, 4);
    put_binary_text(out, sum->key.host);
    put_binary_text(out, sum->key.build);
    put_binary_text(out, sum->unit);
    put_binary(out, sum->key.slot, 4);
    put_binary(out, sum->last, 4);
    put_binary(out, sum->batches, 8);
    put_binary(out, sum->mark, 8);
    put_binary(out, sum->count, 8);
    put_binary(out, sum->samples, 8);
    put_binary(out, sum->weight, 8);
    put_entries(out, NULL, sum);
    const uint64_t period = payload_period(sum->entries, sum->count);
    put_binary_size(out, sum->count);
    for (size_t i = 0; i < sum->count; i++)
        put_binary(out, sum->entries[i].rest / (period ? period : 1), 8);
    if (ftell(out) <= (long)INSERT_MOST)
        return 0;
    int rc = clickhouse_insert(c, "rollups", &c->rows, err);
    statement_begin(&c->rows);
    return rc == 0 && !c->rows.out ? error_memory(err) : rc;
}

int clickhouse_roll_end(void *engine, const struct store_period *period, int rc, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    (void)period;
    if (rc == 0)
        return clickhouse_insert(c, "rollups", &c->rows, err);
    statement_end(&c->rows);
    free(c->rows.text);
    return rc;
}

/* clickhouse.c - a store in a server: its tables, their versions, and what is dropped from them. */
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The statements that migrate the tables from one version to the next. A day's batches are a partition, which
 * is dropped as a whole. */
static const char *const first[] = {
    "create table if not exists %1$s.frames(frame UInt64, kind UInt8, image String, name String) engine = "
    "ReplacingMergeTree() order by frame",
    "create table if not exists %1$s.contexts(service String, context UInt64, caller UInt64, frame UInt64) "
    "engine = ReplacingMergeTree() order by (service, context)",
    "create table if not exists %1$s.batches(service String, event String, slot UInt32, host String, "
    "sequence UInt64, build String, phase UInt32, unit String, samples UInt64, weight UInt64, period UInt64, "
    "contexts Array(UInt64), counts Array(UInt64), weights Array(UInt64), sure Array(UInt8)) engine = "
    "ReplacingMergeTree() partition by intDiv(slot, 86400) order by (" BATCH_KEY
    ") settings index_granularity = 64",
    "create table if not exists %1$s.recordings(recording UInt64, ended UInt64) engine = MergeTree() order "
    "by recording",
    NULL,
};
static const char *const second[] = {
    "create table if not exists %1$s.rollups(service String, event String, length UInt32, begin UInt32, host "
    "String, build String, unit String, first UInt32, last UInt32, batches UInt64, mark UInt64, size UInt64, "
    "samples UInt64, weight UInt64, period UInt64, contexts Array(UInt64), counts Array(UInt64), weights "
    "Array(UInt64), sure Array(UInt8), rests Array(UInt64)) engine = ReplacingMergeTree(batches) partition "
    "by intDiv(begin, 86400) order by (service, event, length, host, begin, build, unit) settings "
    "index_granularity = 8",
    NULL,
};
static const char *const *const steps[STORE_VERSION] = {first, second};

int clickhouse_forget(struct clickhouse *c, struct fathom_error *err)
{
    table_free(c->contexts);
    table_free(c->frames);
    arena_free(c->texts);
    c->context_count = c->frame_count = 0;
    c->contexts = table_new();
    c->frames = table_new();
    c->texts = arena_new(0);
    return c->contexts && c->frames && c->texts ? 0 : error_memory(err);
}

static void clickhouse_close(void *engine)
{
    struct clickhouse *c = engine;
    http_close(&c->http);
    known_free(c->known);
    names_free(c->services);
    table_free(c->contexts);
    table_free(c->frames);
    arena_free(c->texts);
    free(c->context_list);
    free(c->frame_list);
    free(c->name);
    free(c);
}

static int clickhouse_open(const struct store_place *place, bool init, void **engine,
                           struct fathom_error *err)
{
    struct clickhouse *c = calloc(1, sizeof *c);
    (void)init;
    if (!c)
        return error_memory(err);
    c->name = strdup(place->url);
    c->services = names_new();
    int rc = c->name && c->services ? clickhouse_forget(c, err) : error_memory(err);
    if (rc == 0)
        rc = http_open(place->url, place->credentials, &c->http, err);
    if (rc < 0)
        clickhouse_close(c);
    else
        *engine = c;
    return rc;
}

static int clickhouse_know(void *engine, const char *path, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    return c->known ? 0 : known_open(path, c->name, &c->known, err);
}

static uint64_t clickhouse_sent(const void *engine)
{
    const struct clickhouse *c = engine;
    return http_client_sent(c->http.client);
}

int clickhouse_ask(struct clickhouse *c, struct statement *s, struct bytes *answer, struct fathom_error *err)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    int rc = statement_end(s) ? http_ask(&c->http, s->text, NULL, 0, answer ? &data : NULL, &size, err)
                              : error_memory(err);
    free(s->text);
    if (rc == 0 && answer)
        *answer = bytes_of(data, size);
    return rc;
}

int clickhouse_run(struct clickhouse *c, const char *sql, struct fathom_error *err)
{
    struct statement s;
    statement_begin(&s);
    for (const char *at; s.out && (at = strstr(sql, "%1$s")); sql = at + 4) {
        fwrite(sql, 1, (size_t)(at - sql), s.out);
        fputs(c->http.database, s.out);
    }
    if (s.out)
        fputs(sql, s.out);
    return clickhouse_ask(c, &s, NULL, err);
}

int clickhouse_damaged(const struct clickhouse *c, struct fathom_error *err)
{
    return error_set(err, EBADMSG, "%s: the server's answer is damaged", c->name);
}

/* Asks for a single number, at most `most`. */
static int ask_number(struct clickhouse *c, struct statement *s, uint64_t most, uint64_t *out,
                      struct fathom_error *err)
{
    struct bytes answer;
    int rc = clickhouse_ask(c, s, &answer, err);
    if (rc < 0)
        return rc;
    *out = bytes_u64(&answer);
    return answer.failed || bytes_left(&answer) || *out > most ? http_refuse(&c->http, err) : 0;
}

static int clickhouse_version(void *engine, uint32_t *version, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    const char *database = c->http.database;
    uint64_t number = 0;
    struct statement s;
    if (statement_begin(&s))
        fprintf(
            s.out,
            "select count() from system.tables where database = '%s' and name = 'versions' format RowBinary",
            database);
    int rc = ask_number(c, &s, 1, &number, err);
    if (rc == 0 && number) {
        if (statement_begin(&s))
            fprintf(s.out, "select toUInt64(max(version)) from %s.versions format RowBinary", database);
        rc = ask_number(c, &s, UINT32_MAX, &number, err);
    }
    *version = (uint32_t)number;
    return rc;
}

static int clickhouse_init(void *engine, uint32_t from, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    char version[96];
    int rc = clickhouse_run(c, "create database if not exists %1$s", err);
    for (uint32_t i = from; rc == 0 && i < STORE_VERSION; i++)
        for (size_t step = 0; rc == 0 && steps[i][step]; step++)
            rc = clickhouse_run(c, steps[i][step], err);
    if (rc == 0)
        rc = clickhouse_run(
            c,
            "create table if not exists %1$s.versions(version UInt32) engine = MergeTree() order by version",
            err);
    snprintf(version, sizeof version, "insert into %%1$s.versions values (%u)", STORE_VERSION);
    return rc == 0 ? clickhouse_run(c, version, err) : rc;
}

/* Drops whole days that ended before; the day of `before` itself stays. */
static int clickhouse_drop(void *engine, uint64_t before, uint64_t *dropped, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    const char *database = c->http.database;
    struct statement s;
    struct bytes answer;
    char sql[128];
    if (statement_begin(&s))
        fprintf(s.out,
                "select day, sum(n) from (select intDiv(slot, 86400) as day, count() as n from (select slot "
                "from %s.batches where slot < %" PRIu64 " limit 1 by " BATCH_KEY
                ") group by day union all select distinct intDiv(begin, 86400) as day, toUInt64(0) as n from "
                "%s.rollups where begin < %" PRIu64 ") group by day format RowBinary",
                database, before - before % DAY, database, before - before % DAY);
    int rc = clickhouse_ask(c, &s, &answer, err);
    if (rc < 0)
        return rc;
    const size_t days = bytes_left(&answer) / (sizeof(uint32_t) + sizeof(uint64_t));
    uint32_t *list = calloc(days + 1, sizeof *list);
    *dropped = 0;
    for (size_t i = 0; list && i < days; i++) { /* copied: the answer is only valid until the next query */
        list[i] = bytes_u32(&answer);
        *dropped += bytes_u64(&answer);
    }
    rc = list ? 0 : error_memory(err);
    for (size_t i = 0; rc == 0 && i < 2 * days; i++) {
        snprintf(sql, sizeof sql, "alter table %%1$s.%s drop partition %" PRIu32,
                 i % 2 ? "batches" : "rollups", list[i / 2]);
        rc = clickhouse_run(c, sql, err);
    }
    free(list);
    return rc;
}

const struct store_engine clickhouse_engine = {
    .open = clickhouse_open,
    .close = clickhouse_close,
    .version = clickhouse_version,
    .init = clickhouse_init,
    .know = clickhouse_know,
    .sent = clickhouse_sent,
    .put = clickhouse_put,
    .recording = clickhouse_recording,
    .each = clickhouse_each,
    .rows = clickhouse_rows,
    .context = clickhouse_context,
    .frame = clickhouse_frame,
    .drop = clickhouse_drop,
    .unrolled = clickhouse_unrolled,
    .roll_begin = clickhouse_roll_begin,
    .roll_add = clickhouse_roll_add,
    .roll_end = clickhouse_roll_end,
};

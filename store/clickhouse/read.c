/* read.c - reads from a server: lists, and the contexts of a service. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/clickhouse/clickhouse.h"

/* Lists ------------------------------------------------------------------------------------------------------------- */

int clickhouse_rows(void *engine, enum store_list list, const struct store_query *query,
                    store_visit_row *visit, void *context, struct fathom_error *err)
{
    static const char *const columns[] = {[STORE_SERVICES] = "service",
                                          [STORE_EVENTS] = "event",
                                          [STORE_HOSTS] = "host",
                                          [STORE_BUILDS] = "build"};
    const char *const service = list == STORE_BUILDS ? "service" : "''";
    struct clickhouse *c = engine;
    struct spans spans = {.query = query}; /* only slots: names and sums are small */
    struct statement s;
    struct bytes b;
    if (spans_end(&spans) < 0)
        return error_memory(err);
    if (statement_begin(&s)) {
        fprintf(s.out,
                "select %s, event, unit, %s, toUInt64(min(slot)), toUInt64(max(slot)), sum(samples), "
                "sum(weight), count() from (",
                columns[list], service);
        put_batches_of(s.out, c->http.database, "service, event, host, build, unit, slot, samples, weight",
                       &spans, "");
        fprintf(s.out, ") group by %s, event, unit, %s order by %s, %s, event, unit format RowBinary",
                columns[list], service, columns[list], service);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    spans_clear(&spans);
    struct arena *arena = arena_new(0);
    if (rc == 0 && !arena)
        rc = error_memory(err);
    while (rc == 0 && bytes_left(&b)) {
        struct store_row row = {.name = take_text(&b, arena)};
        row.event = take_text(&b, arena);
        row.unit = take_text(&b, arena);
        row.service = take_text(&b, arena);
        row.first = bytes_u64(&b);
        row.last = bytes_u64(&b);
        row.samples = bytes_u64(&b);
        row.weight = bytes_u64(&b);
        row.batches = bytes_u64(&b);
        rc = b.failed || !row.name || !row.event || !row.unit || !row.service ? clickhouse_damaged(c, err)
                                                                              : visit(context, &row, err);
    }
    arena_free(arena);
    return rc;
}

/* Contexts ---------------------------------------------------------------------------------------------------------- */

static int load_contexts(struct clickhouse *c, const char *service, struct fathom_error *err)
{
    struct statement s;
    struct bytes b;
    if (statement_begin(&s)) {
        fprintf(s.out, "select context, caller, frame from %s.contexts where service = ", c->http.database);
        put_value(s.out, service);
        fputs(" format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    while (rc == 0 && bytes_left(&b)) {
        const uint64_t hash = bytes_u64(&b), caller = bytes_u64(&b), frame = bytes_u64(&b);
        const struct stored_context context = {caller, frame};
        if (b.failed)
            return clickhouse_damaged(c, err);
        if (!vec_push(c->context_list, c->context_count, c->context_capacity, context) ||
            !table_set(c->contexts, hash, c->context_count))
            return error_memory(err);
    }
    return rc;
}

static int load_frames(struct clickhouse *c, const char *service, struct fathom_error *err)
{
    const char *database = c->http.database;
    struct statement s;
    struct bytes b;
    if (statement_begin(&s)) {
        fprintf(s.out,
                "select frame, kind, image, name from %s.frames where frame in (select frame from "
                "%s.contexts where service = ",
                database, database);
        put_value(s.out, service);
        fputs(") format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    while (rc == 0 && bytes_left(&b)) {
        const uint64_t hash = bytes_u64(&b), kind = bytes_u8(&b);
        const char *image = take_text(&b, c->texts), *name = take_text(&b, c->texts);
        if (!image || !name)
            return clickhouse_damaged(c, err);
        if (!vec_push(c->frame_list, c->frame_count, c->frame_capacity,
                      (struct stored_frame){kind, image, name}) ||
            !table_set(c->frames, hash, c->frame_count))
            return error_memory(err);
    }
    return rc;
}

/* Loads the contexts of all services read so far. */
static int load_services(struct clickhouse *c, struct fathom_error *err)
{
    int rc = clickhouse_forget(c, err);
    for (uint32_t i = 0; rc == 0 && i < names_count(c->services); i++) {
        rc = load_contexts(c, names_text(c->services, i), err);
        if (rc == 0)
            rc = load_frames(c, names_text(c->services, i), err);
    }
    c->fresh = rc == 0;
    return rc;
}

int clickhouse_context(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    const uint64_t *place = table_find(c->contexts, number);
    if (!place && !c->fresh) {
        int rc = load_services(c, err);
        if (rc < 0)
            return rc;
        place = table_find(c->contexts, number);
    }
    if (!place)
        return -ENODATA;
    *out = c->context_list[*place - 1];
    return 0;
}

int clickhouse_frame(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err)
{
    const struct clickhouse *c = engine;
    const uint64_t *place = table_find(c->frames, number);
    (void)err;
    if (!place)
        return -ENODATA;
    *out = c->frame_list[*place - 1];
    return 0;
}

/* read.c - what is asked of a server: sums, lists, and the contexts of a service. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/clickhouse/clickhouse.h"

/* " where ... limit 1 by ...": each batch of the query, once. */
static void put_conditions(FILE *out, const struct store_query *q)
{
    const struct {
        const char *before, *text, *after;
    } texts[] = {{" and service = ", q->service, ""},
                 {" and event = ", q->event, ""},
                 {" and host = ", q->host, ""},
                 {" and startsWith(build, ", q->build, ")"}};
    fputs(" where 1", out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text) {
            fputs(texts[i].before, out);
            put_value(out, texts[i].text);
            fputs(texts[i].after, out);
        }
    if (q->from)
        fprintf(out, " and slot >= %" PRIu64, q->from);
    if (q->to)
        fprintf(out, " and slot < %" PRIu64, q->to);
    fputs(" limit 1 by " BATCH_KEY, out);
}

/* Lists ------------------------------------------------------------------------------------------------------------- */

int clickhouse_rows(void *engine, enum store_list list, const struct store_query *query,
                    store_visit_row *visit, void *context, struct fathom_error *err)
{
    static const char *const columns[] = {[STORE_SERVICES] = "service",
                                          [STORE_EVENTS] = "event",
                                          [STORE_HOSTS] = "host",
                                          [STORE_BUILDS] = "build"};
    struct clickhouse *c = engine;
    struct statement s;
    statement_begin(&s);
    struct bytes b;
    if (s.out) {
        fprintf(s.out,
                "select %s, event, unit, toUInt64(min(slot)), toUInt64(max(slot)), sum(samples), "
                "sum(weight), count()"
                " from (select %s, unit, slot, samples, weight from %s.batches",
                columns[list], list == STORE_EVENTS ? "event" : "event, service, host, build",
                http_database(c->http));
        put_conditions(s.out, query);
        fprintf(s.out, ") group by %s, event, unit order by %s, event, unit format RowBinary", columns[list],
                columns[list]);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    struct arena *arena = arena_new(0);
    if (rc == 0 && !arena)
        rc = error_memory(err);
    while (rc == 0 && bytes_left(&b)) {
        struct store_row row = {.name = take_text(&b, arena)};
        row.event = take_text(&b, arena);
        row.unit = take_text(&b, arena);
        row.first = bytes_u64(&b);
        row.last = bytes_u64(&b);
        row.samples = bytes_u64(&b);
        row.weight = bytes_u64(&b);
        row.batches = bytes_u64(&b);
        rc = b.failed || !row.name || !row.event || !row.unit ? clickhouse_damaged(c, err)
                                                              : visit(context, &row, err);
    }
    arena_free(arena);
    return rc;
}

/* Sums -------------------------------------------------------------------------------------------------------------- */

/* Added up by slice and host, as far as these matter, and by context and certainty: all numbers, as the server is several times slower
 * with keys of texts. A context's two low bits, which are 0, take the certainty. */
enum { KEY_PROVED = 1, KEY_UNKNOWN = 2, KEY_BITS = 3 };

static void put_sums(FILE *out, const char *database, const struct store_query *q)
{
    fputs("select any(a_unit), slice, any(a_host), groupArray(key), groupArray(n), groupArray(w), "
          "groupArray(sure)"
          " from (select any(unit) as a_unit, any(host) as a_host, ",
          out);
    if (q->slice)
        fprintf(out, "toUInt64(intDiv(slot, %" PRIu64 ") * %" PRIu64 ")", q->slice, q->slice);
    else
        fputs("toUInt64(0)", out);
    fprintf(out, " as slice, %s as of, context + (s = 255) + 2 * (s = 0) as key,",
            q->by_host ? "cityHash64(host)" : "0");
    fputs(
        " sum(count) as n, sum(each * period_or_1) as w, sum(count * s) as sure"
        " from (select unit, slot, host, greatest(period, 1) as period_or_1, contexts, counts, sure as sures,"
        " if(empty(weights), counts, weights) as weights_or_counts from ",
        out);
    fprintf(out, "%s.batches", database);
    put_conditions(out, q);
    fputs(") array join contexts as context, counts as count, sures as s, weights_or_counts as each group by "
          "key",
          out);
    fputs(q->slice ? ", slice" : "", out);
    fputs(q->by_host ? ", of" : "", out);
    fputs(") group by slice, of order by slice format RowBinary", out);
}

static bool take_numbers(struct bytes *b, size_t count, struct store_entry *entries, size_t member)
{
    if (bytes_uleb(b) != count)
        return false;
    for (size_t i = 0; i < count && !b->failed; i++)
        *(uint64_t *)(void *)((char *)&entries[i] + member) = bytes_u64(b);
    return !b->failed;
}

/* Of what is inferred, the mean of its samples. */
static uint8_t sure_of(uint64_t key, uint64_t sum, uint64_t count)
{
    if (key & KEY_BITS)
        return key & KEY_PROVED ? STORE_PROVED : STORE_UNKNOWN;
    const double mean = count ? (double)sum / (double)count + 0.5 : 0;
    return mean < 1 ? 1 : mean > STORE_SURE_MOST ? STORE_SURE_MOST : (uint8_t)mean;
}

/* *entries: grows. */
static bool take_entries(struct bytes *b, struct store_entry **entries, size_t *capacity, size_t *count)
{
    struct bytes peek = *b;
    *count = bytes_uleb(&peek);
    if (peek.failed || *count > bytes_left(&peek) / 8 || !vec_reserve(*entries, 0, *capacity, *count + 1))
        return false;
    struct store_entry *e = *entries;
    if (!take_numbers(b, *count, e, offsetof(struct store_entry, context)) ||
        !take_numbers(b, *count, e, offsetof(struct store_entry, count)) ||
        !take_numbers(b, *count, e, offsetof(struct store_entry, weight)) || bytes_uleb(b) != *count)
        return false;
    for (size_t i = 0; i < *count; i++) {
        e[i].sure = sure_of(e[i].context, bytes_u64(b), e[i].count);
        e[i].context &= ~(uint64_t)KEY_BITS;
    }
    return !b->failed;
}

int clickhouse_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                    struct fathom_error *err)
{
    struct clickhouse *c = engine;
    struct store_entry *entries = NULL;
    size_t capacity = 0;
    struct bytes b;
    if (!query->service)
        return error_set(err, EINVAL, "%s: a service must be chosen", c->name);
    if (names_intern(c->services, query->service) == NAMES_NONE)
        return error_memory(err);
    c->fresh = false; /* what is read may refer to contexts that are new */
    struct statement s;
    statement_begin(&s);
    if (s.out)
        put_sums(s.out, http_database(c->http), query);
    int rc = clickhouse_ask(c, &s, &b, err);
    struct arena *arena = arena_new(0);
    if (rc == 0 && !arena)
        rc = error_memory(err);
    while (rc == 0 && bytes_left(&b)) {
        struct store_batch batch = {
            .key = {query->service, query->event ? query->event : "", "", "", 0, 0, 0}};
        batch.unit = take_text(&b, arena);
        batch.key.slot = bytes_u64(&b);
        batch.key.host = take_text(&b, arena);
        const bool taken =
            batch.unit && batch.key.host && take_entries(&b, &entries, &capacity, &batch.count);
        batch.entries = entries;
        rc = taken ? visit(context, &batch, err) : clickhouse_damaged(c, err);
    }
    arena_free(arena);
    free(entries);
    return rc;
}

/* Contexts ---------------------------------------------------------------------------------------------------------- */

static int load_contexts(struct clickhouse *c, const char *service, struct fathom_error *err)
{
    struct statement s;
    statement_begin(&s);
    struct bytes b;
    if (s.out) {
        fprintf(s.out,
                "select context, caller, frame from %s.contexts where service = ", http_database(c->http));
        put_value(s.out, service);
        fputs(" format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &b, err);
    while (rc == 0 && bytes_left(&b)) {
        const uint64_t hash = bytes_u64(&b), caller = bytes_u64(&b), frame = bytes_u64(&b);
        const struct stored_context context = {caller, frame};
        if (b.failed)
            return clickhouse_damaged(c, err);
        uint64_t *place = table_put(c->contexts, hash, NULL);
        if (!place || !vec_push(c->context_list, c->context_count, c->context_capacity, context))
            return error_memory(err);
        *place = c->context_count;
    }
    return rc;
}

static int load_frames(struct clickhouse *c, const char *service, struct fathom_error *err)
{
    const char *database = http_database(c->http);
    struct statement s;
    statement_begin(&s);
    struct bytes b;
    if (s.out) {
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
        uint64_t *place = table_put(c->frames, hash, NULL);
        if (!place || !vec_push(c->frame_list, c->frame_count, c->frame_capacity,
                                (struct stored_frame){kind, image, name}))
            return error_memory(err);
        *place = c->frame_count;
    }
    return rc;
}

/* Those of all services that were read. */
static int load(struct clickhouse *c, struct fathom_error *err)
{
    int rc = 0;
    c->context_count = c->frame_count = 0;
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
        int rc = load(c, err);
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

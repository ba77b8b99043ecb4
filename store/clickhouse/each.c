/* each.c - reads batches and roll-ups from a server: summed for a report, or host by host. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/clickhouse/clickhouse.h"
#include "store/summing.h"

#define AT_ONCE ((uint64_t)8 << 20) /* contexts of hosts requested together: about 200 MB */

/* The columns of a batch (take_batch()), from either table. */
#define BATCH_COLUMNS                                                                                        \
    "unit, slot, slot as last, host, build, toUInt64(1) as batches, " BATCH_MARK " as mark, samples,"        \
    " weight, period, contexts, counts, weights, sure, emptyArrayUInt64() as rests"
#define ROLLUP_COLUMNS                                                                                       \
    "unit, first as slot, last, host, build, batches, mark, samples, weight, period, contexts, counts,"      \
    " weights, sure, rests"

static bool has_spans(const struct spans *spans, bool slots)
{
    for (size_t i = 0; i < spans->count; i++)
        if ((spans->at[i].length == 0) == slots)
            return true;
    return false;
}

/* Selects everything in the spans, in the same columns. */
static void put_both(FILE *out, const char *database, const char *of_batches, const char *of_rollups,
                     const struct spans *spans, const char *more)
{
    const bool slots = has_spans(spans, true), rollups = has_spans(spans, false);
    if (slots)
        put_batches_of(out, database, of_batches, spans, more);
    if (slots && rollups)
        fputs(" union all ", out);
    if (rollups)
        put_rollups_of(out, database, of_rollups, spans, more);
}

/* Sums -------------------------------------------------------------------------------------------------------------- */

/* Summed by slice, context and certainty: all numbers, as the server is several times slower with text keys.
 * A context's two low bits, which are 0, hold the certainty. The weight that is right, in 255ths, is returned
 * as two sums of 32 bits each, as it may exceed 64 bits. */
enum { KEY_PROVED = 1, KEY_UNKNOWN = 2, KEY_BITS = 3 };

static void put_sums(FILE *out, const char *database, const struct spans *spans)
{
    static const char columns[] =
        "%s as slot, greatest(period, 1) as each_period, contexts, counts, sure, if(empty(weights), counts, "
        "weights) as weights_or_counts, arrayResize(%s, length(contexts)) as all_rests";
    const struct store_query *q = spans->query;
    char of_batches[sizeof columns + 64], of_rollups[sizeof columns + 64];
    snprintf(of_batches, sizeof of_batches, columns, "slot", "emptyArrayUInt64()");
    snprintf(of_rollups, sizeof of_rollups, columns, "first", "rests");
    fputs("select slice, groupArray(key), groupArray(n), groupArray(w), groupArray(low), groupArray(high) "
          "from (select ",
          out);
    if (q->slice)
        fprintf(out, "toUInt64(intDiv(slot, %" PRIu64 ") * %" PRIu64 ")", q->slice, q->slice);
    else
        fputs("toUInt64(0)", out);
    fputs(" as slice, context + (s = 255) + 2 * (s = 0) as key, sum(count) as n, sum(each * each_period) as "
          "w, sum(bitAnd((each * s + rest) * each_period, 4294967295)) as low, sum(bitShiftRight((each * s + "
          "rest) * each_period, 32)) as high from (",
          out);
    put_both(out, database, of_batches, of_rollups, spans, "");
    fputs(") array join contexts as context, counts as count, sure as s, weights_or_counts as each, "
          "all_rests as rest group by key",
          out);
    fputs(q->slice ? ", slice) group by slice order by slice format RowBinary"
                   : ") group by slice format RowBinary",
          out);
}

struct taking {
    struct clickhouse *clickhouse;
    struct bytes bytes; /* of an answer */
    uint8_t *answer;    /* owned: visits may send queries, too */
    struct arena *texts;
    struct store_entry *entries;
    size_t capacity;
};

static int ask_rows(struct taking *t, struct statement *s, struct fathom_error *err)
{
    free(t->answer);
    t->answer = NULL;
    int rc = clickhouse_ask(t->clickhouse, s, &t->bytes, err);
    if (rc == 0) {
        http_client_give(t->clickhouse->http.client);
        t->answer = (uint8_t *)t->bytes.at;
    }
    return rc;
}

/* *count: items of the first array; all others must have as many, or may be empty if `may_miss`. */
static bool take_numbers(struct taking *t, size_t count, size_t member, bool may_miss)
{
    struct bytes *b = &t->bytes;
    const uint64_t got = bytes_uleb(b);
    if (got != count && !(may_miss && got == 0))
        return false;
    for (size_t i = 0; i < got && !b->failed; i++)
        *(uint64_t *)(void *)((char *)&t->entries[i] + member) = bytes_u64(b);
    return !b->failed;
}

static bool take_contexts(struct taking *t, size_t *count)
{
    struct bytes peek = t->bytes;
    *count = bytes_uleb(&peek);
    if (peek.failed || *count > bytes_left(&peek) / 8 || !vec_reserve(t->entries, 0, t->capacity, *count + 1))
        return false;
    memset(t->entries, 0, *count * sizeof *t->entries);
    return take_numbers(t, *count, offsetof(struct store_entry, context), false);
}

static bool take_sums(struct taking *t, size_t *count)
{
    struct bytes *b = &t->bytes;
    if (!take_contexts(t, count) || !take_numbers(t, *count, offsetof(struct store_entry, count), false) ||
        !take_numbers(t, *count, offsetof(struct store_entry, weight), false) ||
        !take_numbers(t, *count, offsetof(struct store_entry, rest), false) || bytes_uleb(b) != *count)
        return false;
    for (size_t i = 0; i < *count; i++) {
        struct store_entry *e = &t->entries[i];
        const unsigned __int128 right = ((unsigned __int128)bytes_u64(b) << 32) + e->rest;
        summing_rate(e,
                     e->context & KEY_PROVED    ? CERTAINTY_PROVED
                     : e->context & KEY_UNKNOWN ? CERTAINTY_UNKNOWN
                                                : CERTAINTY_INFERRED,
                     right);
        e->context &= ~(uint64_t)KEY_BITS;
    }
    return !b->failed;
}

/* Asks for the unit separately, as texts next to numbers are slow. If there are two, the visit gets both. */
static int ask_unit(struct taking *t, const struct spans *spans, const char **unit, store_visit *visit,
                    void *context, struct fathom_error *err)
{
    const struct store_query *q = spans->query;
    struct store_batch batch = {.key = {q->service, q->event ? q->event : "", "", "", 0, 0, 0}};
    struct statement s;
    if (statement_begin(&s)) {
        fputs("select min(unit), max(unit), toUInt64(min(slot)) from (", s.out);
        put_both(s.out, t->clickhouse->http.database, "unit, slot", "unit, first as slot", spans, "");
        fputs(") format RowBinary", s.out);
    }
    int rc = ask_rows(t, &s, err);
    if (rc < 0)
        return rc;
    batch.unit = take_text(&t->bytes, t->texts);
    *unit = take_text(&t->bytes, t->texts);
    batch.last = batch.key.slot = bytes_u64(&t->bytes);
    if (!batch.unit || !*unit || t->bytes.failed)
        return clickhouse_damaged(t->clickhouse, err);
    if (strcmp(batch.unit, *unit) == 0)
        return 0;
    rc = visit(context, &batch, err);
    batch.unit = *unit;
    return rc == 0 ? visit(context, &batch, err) : rc;
}

static int each_sum(struct taking *t, const struct spans *spans, store_visit *visit, void *context,
                    struct fathom_error *err)
{
    const struct store_query *q = spans->query;
    struct store_batch batch = {.key = {q->service, q->event ? q->event : "", "", "", 0, 0, 0}};
    struct statement s;
    int rc = ask_unit(t, spans, &batch.unit, visit, context, err);
    if (rc < 0)
        return rc;
    if (statement_begin(&s))
        put_sums(s.out, t->clickhouse->http.database, spans);
    rc = ask_rows(t, &s, err);
    while (rc == 0 && bytes_left(&t->bytes)) {
        batch.last = batch.key.slot = bytes_u64(&t->bytes);
        const bool taken = take_sums(t, &batch.count);
        batch.entries = t->entries;
        rc = taken ? visit(context, &batch, err) : clickhouse_damaged(t->clickhouse, err);
    }
    return rc;
}

/* Host by host ------------------------------------------------------------------------------------------------------ */

/* A row of BATCH_COLUMNS or ROLLUP_COLUMNS. */
static bool take_batch(struct taking *t, struct store_batch *out)
{
    struct bytes *b = &t->bytes;
    out->unit = take_text(b, t->texts);
    out->key.slot = bytes_u32(b);
    out->last = bytes_u32(b);
    out->key.host = take_text(b, t->texts);
    out->key.build = take_text(b, t->texts);
    out->batches = bytes_u64(b);
    out->mark = bytes_u64(b);
    out->samples = bytes_u64(b);
    out->weight = bytes_u64(b);
    const uint64_t period = bytes_u64(b);
    if (!out->unit || !out->key.host || !out->key.build || !take_contexts(t, &out->count) ||
        !take_numbers(t, out->count, offsetof(struct store_entry, count), false) ||
        !take_numbers(t, out->count, offsetof(struct store_entry, weight), period) ||
        bytes_uleb(b) != out->count)
        return false;
    for (size_t i = 0; i < out->count; i++)
        t->entries[i].sure = bytes_u8(b);
    if (!take_numbers(t, out->count, offsetof(struct store_entry, rest), true))
        return false;
    bool good = out->key.slot <= out->last && out->last <= STORE_TIME_MOST;
    for (size_t i = 0; period && i < out->count; i++) {
        struct store_entry *e = &t->entries[i];
        good &= !__builtin_mul_overflow(e->count, period, &e->weight) &&
                !__builtin_mul_overflow(e->rest, period, &e->rest);
    }
    out->entries = t->entries;
    return good;
}

static int each_of(struct taking *t, const struct spans *spans, const char *more, store_visit *visit,
                   void *context, struct fathom_error *err)
{
    const struct store_query *q = spans->query;
    struct statement s;
    if (statement_begin(&s)) {
        fprintf(s.out, "select * from (");
        put_both(s.out, t->clickhouse->http.database, BATCH_COLUMNS, ROLLUP_COLUMNS, spans, more);
        fprintf(s.out, ") order by host%s, slot format RowBinary", q->by_build ? ", build, unit" : "");
    }
    int rc = ask_rows(t, &s, err);
    while (rc == 0 && bytes_left(&t->bytes)) {
        struct store_batch batch = {.key = {.service = q->service, .event = q->event ? q->event : ""}};
        rc = take_batch(t, &batch) ? visit(context, &batch, err) : clickhouse_damaged(t->clickhouse, err);
    }
    return rc;
}

/* A host, and its maximum number of contexts. */
struct host {
    const char *name;
    uint64_t size;
};

static int list_hosts(struct taking *t, const struct spans *spans, struct host **out, size_t *count,
                      struct fathom_error *err)
{
    struct statement s;
    size_t capacity = 0;
    if (statement_begin(&s)) {
        fprintf(s.out, "select host, sum(size) from (");
        put_both(s.out, t->clickhouse->http.database, "host, samples as size", "host, size", spans, "");
        fprintf(s.out, ") group by host order by host format RowBinary");
    }
    int rc = ask_rows(t, &s, err);
    while (rc == 0 && bytes_left(&t->bytes)) {
        const char *name = take_text(&t->bytes, t->texts);
        const struct host host = {name, bytes_u64(&t->bytes)};
        if (!name || t->bytes.failed)
            rc = clickhouse_damaged(t->clickhouse, err);
        else if (!vec_push(*out, *count, capacity, host))
            rc = error_memory(err);
    }
    return rc;
}

/* Some hosts at a time, so that neither side needs memory for all. */
static int each_host(struct taking *t, const struct spans *spans, store_visit *visit, void *context,
                     struct fathom_error *err)
{
    struct host *hosts = NULL;
    size_t count = 0;
    int rc = list_hosts(t, spans, &hosts, &count, err);
    for (size_t from = 0, to; rc == 0 && from < count; from = to) {
        struct statement more;
        uint64_t size = hosts[from].size;
        for (to = from + 1; to < count && size + hosts[to].size <= AT_ONCE; to++)
            size += hosts[to].size;
        if (statement_begin(&more)) {
            fputs(" and host >= ", more.out);
            put_value(more.out, hosts[from].name);
            fputs(" and host <= ", more.out);
            put_value(more.out, hosts[to - 1].name);
        }
        rc = statement_end(&more) ? each_of(t, spans, more.text, visit, context, err) : error_memory(err);
        free(more.text);
    }
    free(hosts);
    return rc;
}

int clickhouse_each(void *engine, const struct store_query *query, store_visit *visit, void *context,
                    struct fathom_error *err)
{
    struct clickhouse *c = engine;
    struct taking t = {.clickhouse = c};
    struct spans spans;
    if (!query->service)
        return error_set(err, EINVAL, "%s: a service must be chosen", c->name);
    if (names_intern(c->services, query->service) == NAMES_NONE)
        return error_memory(err);
    c->fresh = false; /* the batches may refer to contexts that are new */
    t.texts = arena_new(0);
    int rc = t.texts ? clickhouse_plan(c, query, &spans, err) : error_memory(err);
    if (rc == 0) {
        rc = (query->by_host ? each_host : each_sum)(&t, &spans, visit, context, err);
        spans_clear(&spans);
    }
    arena_free(t.texts);
    free(t.entries);
    free(t.answer);
    return rc;
}

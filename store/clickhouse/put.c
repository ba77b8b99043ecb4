/* put.c - writes to a server: frames and contexts first, then batches, so that no batch refers to something
 * missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "store/clickhouse/clickhouse.h"
#include "store/payload.h"

#define CHECKED      32u /* number of known contexts to check, */
#define CHECKED_EACH 8u  /* of each batch */

int clickhouse_insert(struct clickhouse *c, const char *table, struct statement *rows,
                      struct fathom_error *err)
{
    char sql[256];
    int rc = statement_end(rows) ? 0 : error_memory(err);
    snprintf(sql, sizeof sql, "insert into %.100s.%s format RowBinary", c->http.database, table);
    if (rc == 0 && rows->size)
        rc = http_ask(&c->http, sql, rows->text, rows->size, NULL, NULL, err);
    free(rows->text);
    return rc;
}

/* Whether it must be sent; then it becomes known once everything is acknowledged. */
static bool is_new(struct clickhouse *c, uint64_t hash)
{
    if (c->known && known_has(c->known, hash))
        return false;
    if (c->known)
        known_add(c->known, hash);
    return true;
}

static int put_frames(struct clickhouse *c, const struct dictionary *dictionary, struct fathom_error *err)
{
    const struct dictionary_frame *frames;
    const size_t count = dictionary_frames(dictionary, &frames);
    struct statement rows;
    statement_begin(&rows);
    for (size_t i = 0; rows.out && i < count; i++) {
        if (!is_new(c, frames[i].hash))
            continue;
        put_binary(rows.out, frames[i].hash, 8);
        put_binary(rows.out, frames[i].kind, 1);
        put_binary_text(rows.out, frames[i].image);
        put_binary_text(rows.out, frames[i].name);
    }
    return clickhouse_insert(c, "frames", &rows, err);
}

/* The hash by which a context of a service is remembered. */
static uint64_t known_as(uint64_t service, uint64_t context)
{
    return hash_u64(service ^ context);
}

/* Marks the contexts that batches of a service need, with their callers. Callers precede their contexts. */
static void mark_used(const struct dictionary_context *contexts, const struct store_batch *batches,
                      size_t count, const char *service, bool *used)
{
    for (size_t b = 0; b < count; b++)
        for (size_t i = 0; batches[b].key.service == service && i < batches[b].count; i++)
            for (uint32_t at = (uint32_t)batches[b].entries[i].context; at != DICTIONARY_NONE && !used[at];
                 at = contexts[at].caller)
                used[at] = true;
}

static int put_service(struct clickhouse *c, const struct dictionary *dictionary,
                       const struct store_batch *batches, size_t count, const char *service,
                       struct fathom_error *err)
{
    const struct dictionary_context *contexts;
    const struct dictionary_frame *frames;
    const size_t all = dictionary_contexts(dictionary, &contexts);
    const uint64_t of = checksum_of(service, strlen(service));
    bool *used = calloc(all + 1, sizeof *used);
    struct statement rows;
    statement_begin(&rows);
    dictionary_frames(dictionary, &frames);
    if (used)
        mark_used(contexts, batches, count, service, used);
    for (size_t i = 0; used && rows.out && i < all; i++) {
        const uint32_t caller = contexts[i].caller;
        if (!used[i] || !is_new(c, known_as(of, contexts[i].hash)))
            continue;
        put_binary_text(rows.out, service);
        put_binary(rows.out, contexts[i].hash, 8);
        put_binary(rows.out, caller == DICTIONARY_NONE ? 0 : contexts[caller].hash, 8);
        put_binary(rows.out, frames[contexts[i].frame].hash, 8);
    }
    int rc = clickhouse_insert(c, "contexts", &rows, err);
    if (rc == 0 && !used)
        rc = error_memory(err);
    free(used);
    return rc;
}

/* Services are compared by address: a text that exists twice is sent twice. */
static int put_contexts(struct clickhouse *c, const struct dictionary *dictionary,
                        const struct store_batch *batches, size_t count, struct fathom_error *err)
{
    struct table *done = table_new();
    int rc = done ? 0 : error_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bool added = false;
        if (!table_put(done, (uintptr_t)batches[i].key.service, &added))
            rc = error_memory(err);
        if (rc == 0 && added)
            rc = put_service(c, dictionary, batches, count, batches[i].key.service, err);
    }
    table_free(done);
    return rc;
}

/* What is known -------------------------------------------------------------------------------------------------------- */

/* Checks some of the contexts that are not sent again: a server that lacks one was set up anew, or lost some,
 * and gets all. */
static int check_known(struct clickhouse *c, const struct dictionary *dictionary,
                       const struct store_batch *batches, size_t count, struct fathom_error *err)
{
    const struct dictionary_context *contexts;
    struct statement s;
    struct bytes answer;
    struct table *done = table_new(); /* several batches contain a context: a server counts it once */
    size_t asked = 0;
    if (!done)
        return error_memory(err);
    dictionary_contexts(dictionary, &contexts);
    if (statement_begin(&s))
        fprintf(s.out,
                "select count() from (select context from %s.contexts where (service, context) in (('', "
                "toUInt64(0))",
                c->http.database);
    for (size_t i = 0; s.out && i < count && asked < CHECKED; i++) {
        const char *service = batches[i].key.service;
        const uint64_t of = checksum_of(service, strlen(service));
        for (size_t e = 0; e < batches[i].count && asked < CHECKED;
             e += 1 + batches[i].count / CHECKED_EACH) {
            const uint64_t hash = contexts[batches[i].entries[e].context].hash;
            bool added = false;
            if (!known_has(c->known, known_as(of, hash)) || !table_put(done, known_as(of, hash), &added) ||
                !added)
                continue;
            fputs(", (", s.out);
            put_value(s.out, service);
            fprintf(s.out, ", toUInt64(%" PRIu64 "))", hash);
            asked++;
        }
    }
    table_free(done);
    if (s.out)
        fputs(") limit 1 by service, context) format RowBinary", s.out);
    int rc = clickhouse_ask(c, &s, &answer, err);
    if (rc < 0)
        return rc;
    const uint64_t there = bytes_u64(&answer);
    if (answer.failed)
        return clickhouse_damaged(c, err);
    return there < asked ? known_forget(c->known, err) : 0;
}

/* Batches ------------------------------------------------------------------------------------------------------------ */

void put_entries(FILE *out, const struct dictionary_context *contexts, const struct store_batch *batch)
{
    const struct store_entry *e = batch->entries;
    const uint64_t period = payload_period(e, batch->count);
    put_binary(out, period, 8);
    put_binary_size(out, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        put_binary(out, contexts ? contexts[e[i].context].hash : e[i].context, 8);
    put_binary_size(out, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        put_binary(out, e[i].count, 8);
    put_binary_size(out, period ? 0 : batch->count);
    for (size_t i = 0; !period && i < batch->count; i++)
        put_binary(out, e[i].weight, 8);
    put_binary_size(out, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        put_binary(out, e[i].sure, 1);
}

static void put_batch(FILE *out, const struct dictionary_context *contexts, const struct store_batch *batch)
{
    const struct store_key *key = &batch->key;
    put_binary_text(out, key->service);
    put_binary_text(out, key->event);
    put_binary(out, key->slot, 4);
    put_binary_text(out, key->host);
    put_binary(out, key->sequence, 8);
    put_binary_text(out, key->build);
    put_binary(out, key->phase, 4);
    put_binary_text(out, batch->unit);
    put_binary(out, batch->samples, 8);
    put_binary(out, batch->weight, 8);
    put_entries(out, contexts, batch);
}

/* " and (service, host, sequence) in (...)": for all batches; consecutive equal ones are not repeated. */
static void put_owners(FILE *out, const struct store_batch *batches, size_t count)
{
    fputs(" and (service, host, sequence) in (", out);
    for (size_t i = 0; i < count; i++) {
        const struct store_key *key = &batches[i].key, *before = i ? &batches[i - 1].key : NULL;
        if (before && before->sequence == key->sequence && strcmp(before->service, key->service) == 0 &&
            strcmp(before->host, key->host) == 0)
            continue;
        fputs(i ? ", (" : "(", out);
        put_value(out, key->service);
        fputs(", ", out);
        put_value(out, key->host);
        fprintf(out, ", toUInt64(%" PRIu64 "))", key->sequence);
    }
    fputs(")", out);
}

/* How many of these batches the server has, judging by their slots and owners: those of a recording are put
 * together. */
static int count_known(struct clickhouse *c, const struct store_batch *batches, size_t count, uint64_t *known,
                       struct fathom_error *err)
{
    struct statement s;
    struct bytes answer;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = batches[i].key.slot < first ? batches[i].key.slot : first;
        last = batches[i].key.slot > last ? batches[i].key.slot : last;
    }
    if (statement_begin(&s)) {
        fprintf(s.out,
                "select count() from (select phase from %s.batches where slot >= %" PRIu64
                " and slot <= %" PRIu64,
                c->http.database, first, last);
        put_owners(s.out, batches, count);
        fputs(" limit 1 by " BATCH_KEY ") format RowBinary", s.out);
    }
    int rc = clickhouse_ask(c, &s, &answer, err);
    if (rc < 0)
        return rc;
    *known = bytes_u64(&answer);
    return answer.failed ? clickhouse_damaged(c, err) : 0;
}

static int put_batches(struct clickhouse *c, const struct dictionary *dictionary,
                       const struct store_batch *batches, size_t count, struct fathom_error *err)
{
    const struct dictionary_context *contexts;
    int rc = 0;
    dictionary_contexts(dictionary, &contexts);
    for (size_t i = 0; rc == 0 && i < count;) {
        struct statement rows;
        statement_begin(&rows);
        for (size_t from = i; rows.out && i < count; i++) {
            if (i > from && ftell(rows.out) > (long)INSERT_MOST)
                break;
            put_batch(rows.out, contexts, &batches[i]);
        }
        rc = clickhouse_insert(c, "batches", &rows, err);
    }
    return rc;
}

int clickhouse_put(void *engine, const struct dictionary *dictionary, struct store_batch *batches,
                   size_t count, uint64_t *added, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    uint64_t before = 0, after = 0;
    *added = 0;
    int rc = count ? count_known(c, batches, count, &before, err) : 0;
    if (rc < 0 || before == count)
        return rc;
    if (c->known && known_count(c->known))
        rc = check_known(c, dictionary, batches, count, err);
    if (rc == 0)
        rc = put_frames(c, dictionary, err);
    if (rc == 0)
        rc = put_contexts(c, dictionary, batches, count, err);
    if (rc == 0)
        rc = put_batches(c, dictionary, batches, count, err);
    if (rc == 0)
        rc = count_known(c, batches, count, &after, err);
    *added = after > before ? after - before : 0;
    if (rc == 0 && c->known)
        known_save(c->known, NULL); /* on failure they are sent again */
    return rc;
}

/* The first one put; if two arrive at the same moment, both use the smaller one from then on. */
int clickhouse_recording(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err)
{
    struct clickhouse *c = engine;
    struct statement s, row;
    struct bytes answer;
    if (statement_begin(&s))
        fprintf(s.out,
                "select min(ended) from %s.recordings where recording = %" PRIu64
                " having count() > 0 format RowBinary",
                c->http.database, recording);
    int rc = clickhouse_ask(c, &s, &answer, err);
    if (rc < 0)
        return rc;
    if (bytes_left(&answer) >= 8) {
        *ended = bytes_u64(&answer);
        return *ended / SECOND_NS <= STORE_TIME_MOST ? 0 : clickhouse_damaged(c, err);
    }
    if (statement_begin(&row)) {
        put_binary(row.out, recording, 8);
        put_binary(row.out, *ended, 8);
    }
    return clickhouse_insert(c, "recordings", &row, err);
}

/* roll_up.c - see roll_up.h. */
#include "store/roll_up.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "store/spans.h"
#include "store/summing.h"

/* A period, with names as numbers. */
struct listed {
    uint64_t begin;
    uint32_t service, event;
};

struct rolling {
    const struct store_engine *engine;
    void *at;
    struct names *names;
    struct listed *periods;
    size_t count, capacity;
    struct summing *summing;
    struct store_period period; /* the period being made */
    struct store_batch sum;     /* the host, build and unit being added up */
    char *host, *build, *unit;  /* copies, used by the sum */
};

static int list_period(void *context, const struct store_period *period, struct fathom_error *err)
{
    struct rolling *r = context;
    const struct listed listed = {period->begin, names_intern(r->names, period->service),
                                  names_intern(r->names, period->event)};
    return listed.service == NAMES_NONE || listed.event == NAMES_NONE ||
                   !vec_push(r->periods, r->count, r->capacity, listed)
               ? error_memory(err)
               : 0;
}

static int end_sum(struct rolling *r, struct fathom_error *err)
{
    if (!r->host) /* none was begun */
        return 0;
    r->sum.entries = summing_take(r->summing, &r->sum.count);
    int rc = r->sum.entries ? r->engine->roll_add(r->at, &r->period, &r->sum, err) : error_memory(err);
    free(r->host);
    free(r->build);
    free(r->unit);
    r->host = r->build = r->unit = NULL;
    r->sum = (struct store_batch){0};
    return rc;
}

static int begin_sum(struct rolling *r, const struct store_batch *of, struct fathom_error *err)
{
    r->host = strdup(of->key.host);
    r->build = strdup(of->key.build);
    r->unit = strdup(of->unit);
    r->sum = (struct store_batch){.key = {.host = r->host, .build = r->build, .slot = of->key.slot},
                                  .unit = r->unit};
    return r->host && r->build && r->unit ? 0 : error_memory(err);
}

/* Batches come host by host, build by build, and unit by unit. */
static int add_batch(void *context, const struct store_batch *b, struct fathom_error *err)
{
    struct rolling *r = context;
    struct store_batch *sum = &r->sum;
    int rc = 0;
    if (!r->host || strcmp(sum->key.host, b->key.host) != 0 || strcmp(sum->key.build, b->key.build) != 0 ||
        strcmp(sum->unit, b->unit) != 0) {
        rc = end_sum(r, err);
        if (rc == 0)
            rc = begin_sum(r, b, err);
    }
    if (rc < 0)
        return rc;
    sum->key.slot = b->key.slot < sum->key.slot ? b->key.slot : sum->key.slot;
    sum->last = b->last > sum->last ? b->last : sum->last;
    sum->batches += b->batches;
    sum->mark += b->mark;
    sum->samples = add_saturating(sum->samples, b->samples);
    sum->weight = add_saturating(sum->weight, b->weight);
    return summing_add(r->summing, b->entries, b->count) == 0 ? 0 : error_memory(err);
}

static int roll_period(struct rolling *r, struct fathom_error *err)
{
    const struct store_period *p = &r->period;
    const struct store_query query = {.service = p->service,
                                      .event = p->event,
                                      .from = p->begin,
                                      .to = p->begin + p->length,
                                      .by_host = true,
                                      .by_build = true};
    int rc = r->engine->roll_begin(r->at, p, err);
    if (rc < 0)
        return rc;
    rc = r->engine->each(r->at, &query, add_batch, r, err);
    if (rc == 0)
        rc = end_sum(r, err);
    return r->engine->roll_end(r->at, p, rc, err);
}

static int roll_length(struct rolling *r, uint32_t length, uint64_t from, uint64_t now, uint64_t *made,
                       struct fathom_error *err)
{
    r->count = 0;
    int rc = r->engine->unrolled(r->at, length, from - from % length,
                                 now > ROLL_UP_MARGIN ? now - ROLL_UP_MARGIN : 0, list_period, r, err);
    for (size_t i = 0; rc == 0 && i < r->count; i++) {
        r->period =
            (struct store_period){names_text(r->names, r->periods[i].service),
                                  names_text(r->names, r->periods[i].event), length, r->periods[i].begin};
        rc = roll_period(r, err);
        *made += rc == 0;
    }
    return rc;
}

int roll_up(const struct store_engine *engine, void *at, uint64_t from, uint64_t now,
            struct store_rolled *rolled, struct fathom_error *err)
{
    struct rolling r = {.engine = engine, .at = at, .names = names_new(), .summing = summing_new()};
    *rolled = (struct store_rolled){0};
    int rc = r.names && r.summing ? roll_length(&r, HOUR, from, now, &rolled->hours, err) : error_memory(err);
    if (rc == 0)
        rc = roll_length(&r, DAY, from, now, &rolled->days, err);
    names_free(r.names);
    summing_free(r.summing);
    free(r.periods);
    free(r.host);
    free(r.build);
    free(r.unit);
    return rc;
}

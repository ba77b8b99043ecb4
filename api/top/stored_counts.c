/* stored_counts.c - see stored_counts.h. */
#include "api/top/stored_counts.h"

#include <errno.h>
#include <stdlib.h>

#include "api/store/selection.h"
#include "base/clock.h"
#include "store/gathering.h"

#define FRESH_NS 5000000000u /* for which nothing is read again: slots are of five minutes */

/* What was read at one time. */
struct reading {
    struct store_query query;
    struct selected selected;
    struct gathering *gathering;
    struct gathered sums;
    struct contexts contexts;
    char what[STORED_SIZE];
};

struct stored_counts {
    const struct fathom_store_selection *selection;
    const char *event;
    struct store *store;
    struct dictionary *dictionary; /* of all readings, so that numbers of frames stay */
    struct reading *reading;       /* NULL: none yet */
    uint64_t read;                 /* when it was tried last, ns; 0: not yet */
    struct fathom_error failure;   /* of the last try */
    bool failed;
};

static void reading_free(struct reading *r)
{
    if (!r)
        return;
    gathering_free(r->gathering);
    selected_clear(&r->selected);
    free(r);
}

int stored_counts_new(const struct fathom_store_selection *selection, const char *event,
                      struct stored_counts **out, struct fathom_error *err)
{
    struct stored_counts *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->selection = selection;
    c->event = event;
    c->dictionary = dictionary_new();
    int rc = c->dictionary ? store_open(selection->url, selection->credentials, false, &c->store, err)
                           : error_memory(err);
    if (rc < 0)
        stored_counts_free(c);
    else
        *out = c;
    return rc;
}

void stored_counts_free(struct stored_counts *c)
{
    if (!c)
        return;
    reading_free(c->reading);
    dictionary_free(c->dictionary);
    store_close(c->store);
    free(c);
}

/* The second value of each node, which counts samples, becomes how much of the weight is certain. */
static void weigh_certainty(struct contexts *c)
{
    for (struct cct_node *n = cct_root(c->tree); n; n = cct_next(cct_root(c->tree), n))
        n->self[1] = 0;
    for (size_t i = 0; i < c->sample_count; i++) {
        const double weight = (double)c->sample_values[i * c->metrics->count];
        const uint64_t sure[] = {0, (uint64_t)(weight * (double)c->samples[i].probability + 0.5)};
        cct_weigh(c->tree, (struct cct_node *)(uintptr_t)c->samples[i].node, sure);
    }
}

static int fill(struct stored_counts *c, struct reading *r, struct fathom_error *err)
{
    int rc = selection_query(c->selection, &r->query, err);
    if (rc == 0)
        rc = selection_complete(c->store, c->event, &r->query, &r->selected, err);
    if (rc == 0)
        rc = store_each(c->store, &r->query, gathering_add, r->gathering, err);
    if (rc == 0)
        rc = gathering_contexts(r->gathering, c->store, c->dictionary, NULL, &r->contexts, err);
    if (rc < 0)
        return rc;
    gathering_sums(r->gathering, &r->sums);
    selected_describe(&r->selected, r->query.service, r->what);
    weigh_certainty(&r->contexts);
    return 0;
}

int stored_counts_read(struct stored_counts *c, struct fathom_error *err)
{
    if (c->read && clock_ns() - c->read < FRESH_NS)
        return 0;
    struct reading *r = calloc(1, sizeof *r);
    if (!r || !(r->gathering = gathering_new(0))) {
        reading_free(r);
        return error_memory(err);
    }
    struct fathom_error failure = {0};
    const int rc = fill(c, r, &failure);
    c->read = clock_ns();
    c->failed = rc < 0;
    c->failure = failure;
    if (rc == 0) {
        reading_free(c->reading);
        c->reading = r;
        return 0;
    }
    reading_free(r);
    if (c->reading)
        return 0;
    *err = failure;
    return rc;
}

struct cct *stored_counts_tree(const struct stored_counts *c)
{
    return c->reading ? c->reading->contexts.tree : NULL;
}

const struct frames *stored_counts_frames(const struct stored_counts *c)
{
    return c->reading->contexts.frames;
}

void stored_counts_summary(const struct stored_counts *c, struct fathom_top_summary *out)
{
    const struct reading *r = c->reading;
    *out = (struct fathom_top_summary){
        .event = "", .stored = "", .status = -1, .failure = c->failed ? c->failure.text : NULL};
    if (!r)
        return;
    out->event = r->selected.event;
    out->stored = r->what;
    out->samples = r->sums.samples;
    out->weight = r->sums.weight;
    out->proved = r->sums.by_certainty[CERTAINTY_PROVED];
    out->inferred = r->sums.by_certainty[CERTAINTY_INFERRED];
}

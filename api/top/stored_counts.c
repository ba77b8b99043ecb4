#include "api/top/stored_counts.h"

#include <stdlib.h>

#include "api/store/stored_reading.h"
#include "base/clock.h"
#include "base/saturate.h"

#define FRESH_NS 5000000000u /* minimum time between readings; slots are five minutes long */

struct stored_counts {
    const struct fathom_store_selection *selection;
    const char *event;
    struct store *store;
    struct dictionary *dictionary; /* shared by all readings, so that numbers of frames do not change */
    struct stored_reading reading; /* the last successful one */
    uint64_t read;                 /* time of the last attempt, ns; 0: none yet */
    struct fathom_error failure;   /* of the last attempt */
    bool failed;
};

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
    stored_reading_clear(&c->reading);
    dictionary_free(c->dictionary);
    store_close(c->store);
    free(c);
}

/* Replaces the second value of each node, its number of samples, by how much of the weight is certain. */
static void weigh_certainty(struct contexts *c)
{
    for (struct cct_node *n = cct_root(c->tree); n; n = cct_next(cct_root(c->tree), n))
        n->self[1] = 0;
    for (size_t i = 0; i < c->sample_count; i++) {
        const double weight = (double)c->sample_values[i * c->metrics->count];
        const uint64_t sure[] = {0, count_saturating(weight * (double)c->samples[i].probability + 0.5)};
        cct_weigh(c->tree, (struct cct_node *)(uintptr_t)c->samples[i].node, sure);
    }
}

int stored_counts_read(struct stored_counts *c, struct fathom_error *err)
{
    if (c->read && clock_ns() - c->read < FRESH_NS)
        return 0;
    struct stored_reading reading;
    struct fathom_error failure = {0};
    const int rc =
        stored_reading_fill(&reading, c->store, c->selection, c->event, c->dictionary, NULL, 0, &failure);
    c->read = clock_ns();
    c->failed = rc < 0;
    c->failure = failure;
    if (rc == 0) {
        weigh_certainty(&reading.contexts);
        stored_reading_clear(&c->reading);
        c->reading = reading;
        return 0;
    }
    stored_reading_clear(&reading);
    if (c->reading.gathering)
        return 0;
    *err = failure;
    return rc;
}

struct cct *stored_counts_tree(const struct stored_counts *c)
{
    return c->reading.contexts.tree;
}

const struct frames *stored_counts_frames(const struct stored_counts *c)
{
    return c->reading.contexts.frames;
}

void stored_counts_summary(const struct stored_counts *c, struct fathom_top_summary *out)
{
    const struct stored_reading *r = &c->reading;
    *out = (struct fathom_top_summary){
        .event = "", .stored = "", .status = -1, .failure = c->failed ? c->failure.text : NULL};
    if (!r->gathering)
        return;
    out->event = r->selected.event;
    out->stored = r->what;
    out->samples = r->sums.samples;
    out->weight = r->sums.weight;
    out->proved = r->sums.by_certainty[CERTAINTY_PROVED];
    out->inferred = r->sums.by_certainty[CERTAINTY_INFERRED];
}

/* shown.c - see shown.h. */
#include "report/phases/shown.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

/* Adds a sample's weight to its context in a phase. */
static int put_sample(struct phases_shown *h, size_t *capacity, struct table *places, uint32_t phase,
                      const struct cct_node *node, uint64_t weight)
{
    size_t place = table_index(places, hash_u64((uintptr_t)node) + phase, h->hot, h->hot_count, *capacity,
                               (struct hot_context){node, 0, phase});
    if (place == SIZE_MAX)
        return -ENOMEM;
    h->hot[place].weight += weight;
    return 0;
}

static int by_phase_and_weight(const void *a, const void *b)
{
    const struct hot_context *x = a, *y = b;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) : x->node->item < y->node->item ? -1 : 1;
}

static int find_starts(struct phases_shown *h)
{
    h->starts = calloc((size_t)h->phase_count + 1, sizeof *h->starts);
    if (!h->starts)
        return -ENOMEM;
    for (size_t i = 0; i < h->hot_count; i++)
        h->starts[h->hot[i].phase] = i + 1;
    return 0;
}

static int find_hot(struct phases_shown *h, const struct contexts *c)
{
    struct table *places = table_new();
    size_t capacity = 0;
    int rc = places ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < c->sample_count; i++) {
        const struct placed_sample *s = &c->samples[i];
        uint32_t phase = timeline_phase_at(h->timeline, s->time);
        if (phase)
            rc = put_sample(h, &capacity, places, phase, s->node, c->sample_values[i * c->metrics->count]);
    }
    table_free(places);
    sort_with(h->hot, h->hot_count, by_phase_and_weight);
    return rc == 0 ? find_starts(h) : rc;
}

int phases_shown_find(const struct report *report, struct phases_shown *out, struct fathom_error *err)
{
    struct phases_shown h = {0};
    int rc = phasing_find(report->contexts, report->view->phasing, &h.timeline, err);
    if (rc < 0)
        return rc == -ENODATA ? 1 : rc;
    h.intervals = timeline_intervals(h.timeline, &h.interval_count);
    h.phases = timeline_phases(h.timeline, &h.phase_count);
    if (!h.phase_count) {
        phases_shown_clear(&h);
        return 1;
    }
    for (uint32_t p = 0; p < h.phase_count; p++)
        h.weight += h.phases[p].weight;
    rc = find_hot(&h, report->contexts);
    if (rc < 0) {
        phases_shown_clear(&h);
        return error_memory(err);
    }
    *out = h;
    return 0;
}

void phases_shown_clear(struct phases_shown *h)
{
    timeline_free(h->timeline);
    free(h->hot);
    free(h->starts);
}

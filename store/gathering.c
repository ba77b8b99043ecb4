/* gathering.c - see gathering.h. */
#include "store/gathering.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "store/kind.h"
#include "store/summing.h"

/* A context's sum of one certainty, in a slice of time. */
struct sum {
    uint64_t slice;
    struct store_entry entry;
};

struct gathering {
    uint64_t slice;
    struct summing *summing; /* of the slice being added */
    uint64_t now;            /* its number */
    struct sum *sums;        /* of earlier slices */
    uint32_t sum_count, sum_capacity;
    struct gathered all;
    char unit[128];
    /* The result: */
    struct metric weight;
    struct metrics metrics;
    struct frames *frames;
    struct cct *tree;
    struct doubts *doubts;
    struct cct_node **nodes; /* by the dictionary's contexts; NULL: not made yet */
    uint32_t *items;         /* by its frames, plus 1; 0: not made yet */
    struct placed_sample *samples;
    uint64_t *values, *counts;
    size_t sample_count;
};

struct gathering *gathering_new(uint64_t slice)
{
    struct gathering *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->slice = slice;
    g->summing = summing_new();
    g->frames = frames_new();
    g->tree = cct_new(2);
    g->doubts = doubts_new();
    if (g->summing && g->frames && g->tree && g->doubts)
        return g;
    gathering_free(g);
    return NULL;
}

void gathering_free(struct gathering *g)
{
    if (!g)
        return;
    summing_free(g->summing);
    frames_free(g->frames);
    cct_free(g->tree);
    doubts_free(g->doubts);
    free(g->sums);
    free(g->nodes);
    free(g->items);
    free(g->samples);
    free(g->values);
    free(g->counts);
    free(g);
}

/* Adding --------------------------------------------------------------------------------------------------------- */

/* Stores the sums of the last slice, by context, then by certainty, regardless of the order of batches. */
static int end_slice(struct gathering *g)
{
    size_t count;
    const struct store_entry *entries = summing_take(g->summing, &count);
    if (!entries || !vec_reserve(g->sums, g->sum_count, g->sum_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        g->sums[g->sum_count++] = (struct sum){g->now, entries[i]};
    return 0;
}

int gathering_add(void *context, const struct store_batch *batch, struct fathom_error *err)
{
    struct gathering *g = context;
    if (!g->all.unit) {
        snprintf(g->unit, sizeof g->unit, "%s", batch->unit);
        g->all.unit = g->unit;
        g->all.first = batch->key.slot;
    }
    if (strncmp(g->unit, batch->unit, sizeof g->unit - 1) != 0)
        return error_set(err, EINVAL, "%s is counted in %s and in %s: choose hosts that count the same",
                         batch->key.event, g->unit, batch->unit);
    g->all.batches += batch->batches;
    g->all.first = batch->key.slot < g->all.first ? batch->key.slot : g->all.first;
    g->all.last = batch->last > g->all.last ? batch->last : g->all.last;
    const uint64_t slice = g->slice ? batch->key.slot / g->slice : 0;
    int rc = slice == g->now ? 0 : end_slice(g);
    g->now = slice;
    return rc == 0 && summing_add(g->summing, batch->entries, batch->count) == 0 ? 0 : error_memory(err);
}

void gathering_sums(const struct gathering *g, struct gathered *out)
{
    *out = g->all;
}

/* Contexts ------------------------------------------------------------------------------------------------------- */

struct making {
    struct gathering *gathering;
    struct store *store;
    struct dictionary *dictionary;
    struct filter *filter;
    uint32_t *steps;
    size_t step_capacity;
};

static uint32_t item_of(struct gathering *g, const struct dictionary_frame *frames, uint32_t number)
{
    if (!g->items[number]) {
        const struct dictionary_frame *f = &frames[number];
        const struct frame frame = {frame_kind_of(f->kind), f->name, f->image, 0, NULL, 0};
        g->items[number] = frames_add(g->frames, &frame) + 1; /* 0: out of memory */
    }
    return g->items[number] - 1;
}

/* NULL: out of memory. */
static struct cct_node *node_of(struct making *m, uint32_t number)
{
    struct gathering *g = m->gathering;
    const struct dictionary_context *contexts;
    const struct dictionary_frame *frames;
    size_t count = 0;
    dictionary_contexts(m->dictionary, &contexts);
    dictionary_frames(m->dictionary, &frames);
    while (number != DICTIONARY_NONE && !g->nodes[number]) {
        if (!vec_push(m->steps, count, m->step_capacity, number))
            return NULL;
        number = contexts[number].caller;
    }
    struct cct_node *node = number == DICTIONARY_NONE ? cct_root(g->tree) : g->nodes[number];
    while (node && count) {
        number = m->steps[--count];
        const uint32_t item = item_of(g, frames, contexts[number].frame);
        node = item == FRAMES_NONE ? NULL : cct_child(g->tree, node, item);
        g->nodes[number] = node;
    }
    return node;
}

/* Whether the filter drops a context. */
static int leaves_out(struct making *m, uint32_t number, bool *out, struct fathom_error *err)
{
    const struct dictionary_context *contexts;
    const struct dictionary_frame *frames;
    size_t count = 0;
    *out = false;
    if (!m->filter)
        return 0;
    dictionary_contexts(m->dictionary, &contexts);
    dictionary_frames(m->dictionary, &frames);
    for (; number != DICTIONARY_NONE; number = contexts[number].caller) {
        const uint32_t item = item_of(m->gathering, frames, contexts[number].frame);
        if (item == FRAMES_NONE || !vec_push(m->steps, count, m->step_capacity, item))
            return error_memory(err);
    }
    for (size_t i = 0; i < count / 2; i++) { /* from the root inwards */
        const uint32_t other = m->steps[i];
        m->steps[i] = m->steps[count - 1 - i];
        m->steps[count - 1 - i] = other;
    }
    *out = !filter_path(m->filter, m->gathering->frames, m->steps, count);
    return 0;
}

/* Sets the dictionary's number of each sum's context; adds the store's contexts to the dictionary. */
static int look_up(struct making *m, uint32_t *numbers, struct fathom_error *err)
{
    const struct gathering *g = m->gathering;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < g->sum_count; i++)
        if (m->store)
            rc = store_context(m->store, g->sums[i].entry.context, m->dictionary, &numbers[i], err);
        else
            numbers[i] = (uint32_t)g->sums[i].entry.context;
    return rc;
}

/* All contexts and callers are in the dictionary already, so its size does not change below. */
static int resolve_sums(struct making *m, uint32_t *numbers, struct fathom_error *err)
{
    struct gathering *g = m->gathering;
    const struct dictionary_context *contexts;
    const struct dictionary_frame *frames;
    int rc = look_up(m, numbers, err);
    if (rc < 0)
        return rc;
    g->nodes = calloc(dictionary_contexts(m->dictionary, &contexts) + 1, sizeof *g->nodes);
    g->items = calloc(dictionary_frames(m->dictionary, &frames) + 1, sizeof *g->items);
    g->samples = calloc((size_t)g->sum_count + 1, sizeof *g->samples);
    g->values = calloc(2 * (size_t)g->sum_count + 1, sizeof *g->values);
    g->counts = calloc((size_t)g->sum_count + 1, sizeof *g->counts);
    if (!g->nodes || !g->items || !g->samples || !g->values || !g->counts)
        return error_memory(err);
    for (uint32_t i = 0, count = (uint32_t)dictionary_frames(m->dictionary, &frames); i < count; i++)
        if (item_of(g, frames, i) == FRAMES_NONE)
            return error_memory(err);
    return 0;
}

static void count_sum(struct gathered *all, const struct store_entry *e, double right)
{
    const enum certainty certainty = certainty_in(e->sure);
    all->samples = add_saturating(all->samples, e->count);
    all->weight = add_saturating(all->weight, e->weight);
    all->by_certainty[certainty] = add_saturating(all->by_certainty[certainty], e->weight);
    all->expected += right;
}

static int place_sum(struct making *m, const struct sum *sum, uint32_t context, struct fathom_error *err)
{
    struct gathering *g = m->gathering;
    const struct store_entry *e = &sum->entry;
    struct cct_node *node = node_of(m, context);
    if (!node)
        return error_memory(err);
    const enum certainty certainty = certainty_in(e->sure);
    const double right = (double)right_of(e) / STORE_PROVED,
                 doubt = certainty == CERTAINTY_INFERRED ? (double)e->weight - right : 0,
                 probability = e->weight ? right / (double)e->weight : 0;
    const size_t number = g->sample_count++;
    uint64_t *values = &g->values[2 * number];
    values[0] = e->weight;
    values[1] = g->counts[number] = e->count;
    cct_weigh(g->tree, node, values);
    g->samples[number] = (struct placed_sample){.time = sum->slice * g->slice * SECOND_NS,
                                                .node = node,
                                                .comm = "",
                                                .probability = (float)probability,
                                                .certainty = (uint8_t)certainty};
    count_sum(&g->all, e, right);
    return doubt > 0 && doubts_add(g->doubts, node, (struct doubt){.end = doubt}) < 0 ? error_memory(err) : 0;
}

static int place_sums(struct making *m, const uint32_t *numbers, struct fathom_error *err)
{
    struct gathering *g = m->gathering;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < g->sum_count; i++) {
        const uint32_t context = numbers[i];
        bool left_out;
        rc = leaves_out(m, context, &left_out, err);
        if (rc == 0 && left_out)
            g->all.left_out = add_saturating(g->all.left_out, g->sums[i].entry.weight);
        else if (rc == 0)
            rc = place_sum(m, &g->sums[i], context, err);
    }
    return rc;
}

static const struct metric *find_metric(const char *name)
{
    const struct metric *m = metric_table;
    while (strcmp(m->name, name) != 0)
        m++;
    return m;
}

int gathering_contexts(struct gathering *g, struct store *store, struct dictionary *dictionary,
                       struct filter *filter, struct contexts *out, struct fathom_error *err)
{
    struct making m = {g, store, dictionary, filter, NULL, 0};
    const bool ended = end_slice(g) == 0;
    uint32_t *numbers = ended ? calloc((size_t)g->sum_count + 1, sizeof *numbers) : NULL;
    int rc = numbers ? resolve_sums(&m, numbers, err) : error_memory(err);
    if (rc == 0)
        rc = place_sums(&m, numbers, err);
    free(numbers);
    free(m.steps);
    g->weight = (struct metric){.name = "weight", .unit = g->unit};
    g->metrics = (struct metrics){.at = {&g->weight, find_metric("samples")}, .count = 2};
    *out = (struct contexts){.tree = g->tree,
                             .frames = g->frames,
                             .metrics = &g->metrics,
                             .doubts = g->doubts,
                             .samples = g->samples,
                             .sample_values = g->values,
                             .sample_counts = g->counts,
                             .sample_count = g->sample_count};
    return rc;
}

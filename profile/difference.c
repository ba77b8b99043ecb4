/*
 * difference.c - puts the recordings' paths into one tree, and compares each row of it (compare.c); see difference.h.
 */
#include "profile/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "infer/contexts/certainty.h"
#include "profile/chance.h"
#include "profile/comparing.h"
#include "profile/matching.h"

/* A node of a recording's own tree; parents come first. */
struct copied {
    uint32_t parent, frame; /* frame: number in the matching */
};

/* A recording as it was added: until the trees are joined, a sample's `place` is the number of a copied node. */
struct added {
    struct compared_run run;
    struct copied *nodes;
    size_t node_count, node_capacity, sample_capacity;
    unsigned side;
};

struct difference {
    struct difference_options options;
    struct difference_side sides[2];
    struct matching *matching;
    struct added *runs;
    size_t run_count, run_capacity;
    struct frames *frames;
    struct cct *tree;
    struct table *numbers; /* node of the tree -> its number */
    struct compared_node *nodes;
    struct change *paths, *selves, *totals;
};

struct difference *difference_new(const struct difference_options *options)
{
    struct difference *d = allocate(struct difference, .options = *options, .matching = matching_new(),
                                    .frames = frames_new(), .tree = cct_new(2), .numbers = table_new());
    return whole_or_free(d, d->matching && d->frames && d->tree && d->numbers, difference_free);
}

static void added_clear(struct added *run)
{
    free(run->nodes);
    free(run->run.samples);
    free(run->run.starts);
}

void difference_free(struct difference *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->run_count; i++)
        added_clear(&d->runs[i]);
    free(d->runs);
    matching_free(d->matching);
    frames_free(d->frames);
    cct_free(d->tree);
    table_free(d->numbers);
    free(d->nodes);
    free(d->paths);
    free(d->selves);
    free(d->totals);
    free(d);
}

/* Adding --------------------------------------------------------------------------------------------------------- */

/* The matching's number of an item, cached in `known`, plus 1. FRAMES_NONE: out of memory. */
static uint32_t frame_of(struct difference *d, const struct added *run, const struct contexts *c,
                         uint32_t item, uint32_t *known)
{
    if (!known[item])
        known[item] = matching_add(d->matching, frames_at(c->frames, item), run->side) + 1;
    return known[item] - 1;
}

/* Copies the nodes in preorder, with their numbers. */
static bool copy_nodes(struct difference *d, struct added *run, const struct contexts *c,
                       struct table *numbers)
{
    struct cct_node *root = cct_root(c->tree);
    uint32_t *known = calloc(frames_count(c->frames) + 1ul, sizeof *known);
    bool copied = known;
    for (struct cct_node *at = root; copied && at; at = cct_next(root, at)) {
        struct copied copy = {0};
        if (at != root) {
            copy.parent = (uint32_t)*table_find(numbers, (uintptr_t)cct_parent(at));
            copy.frame = frame_of(d, run, c, at->item, known);
        }
        copied = table_set(numbers, (uintptr_t)at, run->node_count) && copy.frame != FRAMES_NONE &&
                 run->node_count != UINT32_MAX &&
                 vec_push(run->nodes, run->node_count, run->node_capacity, copy);
    }
    free(known);
    return copied;
}

/* count: how many equal samples it sums up. */
static bool push_sample(struct added *run, const struct compared_sample *sample, double count)
{
    struct compared_run *r = &run->run;
    r->weight += sample->weight;
    r->squares += sample->weight * sample->weight / count;
    return vec_push(r->samples, r->sample_count, run->sample_capacity, *sample);
}

static bool copy_samples(struct difference *d, struct added *run, const struct contexts *c,
                         const struct table *numbers)
{
    struct difference_side *side = &d->sides[run->side];
    uint64_t first = c->sample_count ? c->samples[0].time : 0, last = first;
    for (size_t i = 0; i < c->sample_count; i++) {
        first = c->samples[i].time < first ? c->samples[i].time : first;
        last = c->samples[i].time > last ? c->samples[i].time : last;
    }
    run->run.nanoseconds = last - first;
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct placed_sample *s = &c->samples[i];
        uint64_t weight = c->sample_values[i * c->metrics->count];
        struct compared_sample sample = {.time = s->time - first, .weight = (double)weight, .doubt = 0};
        run->run.times += i == 0 || s->time != c->samples[i - 1].time;
        sample.place = (uint32_t)*table_find(numbers, (uintptr_t)s->node);
        if (s->certainty == CERTAINTY_UNKNOWN)
            side->unknown = add_saturating(side->unknown, weight);
        else
            sample.doubt = sample.weight * (1 - (double)s->probability);
        side->weight = add_saturating(side->weight, weight);
        const uint64_t count = c->sample_counts ? c->sample_counts[i] : 1;
        side->samples = add_saturating(side->samples, count);
        if (!push_sample(run, &sample, count ? (double)count : 1))
            return false;
    }
    return true;
}

/* Copies each context as one sample of its counts. */
static bool copy_counted(struct difference *d, struct added *run, const struct contexts *c,
                         const struct table *numbers)
{
    struct difference_side *side = &d->sides[run->side];
    struct cct_node *root = cct_root(c->tree);
    run->run.exact = true;
    for (struct cct_node *at = root; at; at = cct_next(root, at)) {
        struct compared_sample sample = {.weight = (double)at->self[0]};
        sample.place = (uint32_t)*table_find(numbers, (uintptr_t)at);
        side->weight = add_saturating(side->weight, at->self[0]);
        if (at->self[0] && !push_sample(run, &sample, 1))
            return false;
    }
    return true;
}

int difference_add(struct difference *d, unsigned side, const struct contexts *contexts,
                   struct fathom_error *err)
{
    struct table *numbers = table_new();
    if (!numbers || !vec_push(d->runs, d->run_count, d->run_capacity, (struct added){.side = side})) {
        table_free(numbers);
        return error_memory(err);
    }
    struct added *run = &d->runs[d->run_count - 1];
    bool copied = copy_nodes(d, run, contexts, numbers) &&
                  (contexts->samples || cct_total(contexts->tree) == 0 ? copy_samples : copy_counted)(
                      d, run, contexts, numbers);
    table_free(numbers);
    run->run.side = side;
    d->sides[side].recordings++;
    if (!copied)
        return error_memory(err);
    return run->run.weight > 0 ? 0 : error_set(err, ENODATA, "there is no weight to compare");
}

/* Joining -------------------------------------------------------------------------------------------------------- */

/* Adds a recording's paths to the tree. *places: its nodes' places there. */
static int join_nodes(struct difference *d, const struct added *run, const uint32_t *items,
                      struct cct_node ***places)
{
    struct cct_node **found = malloc(run->node_count * sizeof *found);
    *places = found;
    if (!found)
        return -ENOMEM;
    found[0] = cct_root(d->tree);
    for (size_t i = 1; i < run->node_count; i++) {
        found[i] = cct_child(d->tree, found[run->nodes[i].parent], items[run->nodes[i].frame]);
        if (!found[i])
            return -ENOMEM;
    }
    return 0;
}

static uint32_t number_of(const struct difference *d, const struct cct_node *node)
{
    return (uint32_t)*table_find(d->numbers, (uintptr_t)node);
}

/* Numbers the tree's nodes in preorder. */
static int number_nodes(struct difference *d)
{
    struct cct_node *root = cct_root(d->tree);
    d->nodes = malloc(cct_count(d->tree) * sizeof *d->nodes);
    uint32_t count = 0;
    for (struct cct_node *at = root; d->nodes && at; at = cct_next(root, at), count++) {
        if (!table_set(d->numbers, (uintptr_t)at, count))
            return -ENOMEM;
        d->nodes[count] =
            (struct compared_node){.item = at->item, .parent = at == root ? 0 : number_of(d, cct_parent(at))};
    }
    for (uint32_t i = count; i-- > 0;) { /* children come before their parents in this direction */
        struct compared_node *node = &d->nodes[i];
        node->end = node->end > i ? node->end : i + 1;
        if (i && d->nodes[node->parent].end < node->end)
            d->nodes[node->parent].end = node->end;
    }
    return d->nodes ? 0 : -ENOMEM;
}

/* Sorts a recording's samples by the numbers of their nodes in the tree. */
static int place_samples(struct difference *d, struct added *run, struct cct_node *const *places)
{
    size_t nodes = cct_count(d->tree);
    struct compared_run *r = &run->run;
    struct compared_sample *sorted = malloc((r->sample_count + 1) * sizeof *sorted);
    r->starts = calloc(nodes + 2, sizeof *r->starts);
    if (!sorted || !r->starts) {
        free(sorted);
        return -ENOMEM;
    }
    for (size_t i = 0; i < r->sample_count; i++) {
        struct cct_node *node = places[r->samples[i].place];
        r->samples[i].place = number_of(d, node);
        r->starts[r->samples[i].place + 2]++;
        uint64_t values[2] = {0};
        values[run->side] = count_saturating(r->samples[i].weight);
        cct_weigh(d->tree, node, values);
    }
    for (size_t i = 2; i < nodes + 2; i++)
        r->starts[i] += r->starts[i - 1];
    for (size_t i = 0; i < r->sample_count; i++)
        sorted[r->starts[r->samples[i].place + 1]++] = r->samples[i];
    free(r->samples);
    r->samples = sorted;
    return 0;
}

static int join_runs(struct difference *d, struct cct_node ***places)
{
    uint32_t *items;
    int rc = matching_finish(d->matching, d->frames, &items);
    for (size_t i = 0; rc == 0 && i < d->run_count; i++)
        rc = join_nodes(d, &d->runs[i], items, &places[i]);
    if (rc == 0)
        rc = number_nodes(d);
    for (size_t i = 0; rc == 0 && i < d->run_count; i++)
        rc = place_samples(d, &d->runs[i], places[i]);
    free(items);
    return rc;
}

static int compare_sides(struct difference *d, struct changes *out)
{
    size_t items = frames_count(d->frames) + 1ul;
    struct compared_run *runs = malloc(d->run_count * sizeof *runs);
    d->paths = calloc(cct_count(d->tree), sizeof *d->paths);
    d->selves = calloc(items, sizeof *d->selves);
    d->totals = calloc(items, sizeof *d->totals);
    if (!runs || !d->paths || !d->selves || !d->totals) {
        free(runs);
        return -ENOMEM;
    }
    for (size_t i = 0; i < d->run_count; i++)
        runs[i] = d->runs[i].run;
    struct comparing comparing = {.runs = runs,
                                  .run_count = d->run_count,
                                  .nodes = d->nodes,
                                  .node_count = cct_count(d->tree),
                                  .items = items,
                                  .absolute = d->options.absolute,
                                  .least = d->options.least_percent / 100,
                                  .paths = d->paths,
                                  .selves = d->selves,
                                  .totals = d->totals};
    int rc = comparing_run(&comparing);
    free(runs);
    out->level = comparing.level;
    out->compared = comparing.compared;
    out->called = comparing.called;
    out->unclear = comparing.unclear;
    out->whole = comparing.whole;
    return rc;
}

int difference_find(struct difference *d, struct changes *out, struct fathom_error *err)
{
    struct changes found = {.of = d, .absolute = d->options.absolute};
    struct cct_node ***places = calloc(d->run_count + 1, sizeof *places);
    int rc = places ? join_runs(d, places) : -ENOMEM;
    for (size_t i = 0; places && i < d->run_count; i++)
        free(places[i]);
    free(places);
    if (rc == 0)
        rc = compare_sides(d, &found);
    if (rc < 0)
        return error_memory(err);
    found.tree = d->tree;
    found.frames = d->frames;
    found.paths = d->paths;
    found.selves = d->selves;
    found.totals = d->totals;
    memcpy(found.sides, d->sides, sizeof found.sides);
    *out = found;
    return 0;
}

const struct change *changes_path(const struct changes *changes, const struct cct_node *node)
{
    return &changes->paths[number_of(changes->of, node)];
}

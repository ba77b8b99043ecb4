/* counted.c - see counted.h. */
#include "profile/counted.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "base/vec.h"
#include "profile/framing.h"

static const struct metric calls = {.name = "calls", .unit = "calls"};
static const struct metric time_spent = {.name = "time", .unit = "ns"};

struct counted {
    struct counted_options options;
    const struct pathmap *map;
    struct framing *framing;
    struct metrics metrics;
    struct cct *all;          /* in the unit of the map */
    struct cct_node **places; /* by node of the map: its node in `all`; NULL: not looked up yet */
    uint32_t *steps;          /* scratch: nodes without a place */
    size_t step_capacity;
    struct cct *hot; /* in the unit of the metric */
    uint64_t weight;
    size_t contexts;
};

static uint64_t in_unit(const struct counted *c, uint64_t weight)
{
    double ns = (double)weight * c->options.tick;
    return c->options.time ? (ns < 0x1p63 ? (uint64_t)ns : UINT64_MAX / 2) : weight;
}

/* Finds or creates the place of a node, and of all its ancestors. */
static int find_place(struct counted *c, uint32_t node, struct fathom_error *err)
{
    size_t count = 0;
    for (; node != PATHMAP_NONE && !c->places[node]; node = pathmap_node(c->map, node).parent)
        if (!vec_push(c->steps, count, c->step_capacity, node))
            return error_memory(err);
    struct cct_node *place = node == PATHMAP_NONE ? cct_root(c->all) : c->places[node];
    while (count) {
        uint32_t at = c->steps[--count], function = pathmap_node(c->map, at).function;
        if (function == PATHMAP_NONE)
            return error_set(err, EBADMSG, "a node of the map has no function");
        uint32_t item = framing_item(c->framing, function);
        place = item == FRAMES_NONE ? NULL : cct_child(c->all, place, item);
        if (!place)
            return error_memory(err);
        c->places[at] = place;
    }
    return 0;
}

static int add_nodes(struct counted *c, struct fathom_error *err)
{
    uint32_t count = pathmap_node_count(c->map);
    int rc = 0;
    c->places = calloc((size_t)count + 1, sizeof *c->places);
    if (!c->places)
        return error_memory(err);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        uint64_t weight = pathmap_node(c->map, i).self;
        rc = weight ? find_place(c, i, err) : 0;
        if (weight && rc == 0)
            cct_weigh(c->all, c->places[i], &weight);
    }
    return rc;
}

struct choosing {
    struct counted *c;
    double threshold;
};

static bool is_hot(void *context, const struct cct_node *node, uint64_t *values)
{
    struct choosing *choosing = context;
    struct counted *c = choosing->c;
    if (!node->self[0] || (double)node->self[0] + (double)c->options.bound < choosing->threshold)
        return false;
    values[0] = in_unit(c, node->self[0]);
    c->contexts++;
    return true;
}

/* Copies the hot contexts; the weight of the others goes to the root. */
static int choose_nodes(struct counted *c, struct fathom_error *err)
{
    uint64_t total = add_saturating(cct_total(c->all), c->options.lost);
    struct choosing choosing = {c, c->options.phi * (double)total};
    c->weight = in_unit(c, total);
    c->hot = cct_choose(c->all, is_hot, &choosing);
    if (!c->hot)
        return error_memory(err);
    uint64_t chosen = cct_total(c->hot), rest = c->weight > chosen ? c->weight - chosen : 0;
    cct_weigh(c->hot, cct_root(c->hot), &rest);
    return 0;
}

int counted_new(const struct pathmap *map, struct image_cache *images, const struct counted_options *options,
                struct counted **out, struct fathom_error *err)
{
    struct counted *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->options = *options;
    c->map = map;
    c->metrics = (struct metrics){.at = {options->time ? &time_spent : &calls}, .count = 1};
    c->framing = framing_new(&(struct framing_options){0}, images);
    c->all = cct_new(1);
    int rc = c->framing && c->all ? framing_use(c->framing, map, err) : error_memory(err);
    if (rc == 0)
        rc = add_nodes(c, err);
    if (rc == 0)
        rc = choose_nodes(c, err);
    if (rc < 0)
        counted_free(c);
    else
        *out = c;
    return rc;
}

void counted_free(struct counted *c)
{
    if (!c)
        return;
    framing_free(c->framing);
    cct_free(c->all);
    cct_free(c->hot);
    free(c->places);
    free(c->steps);
    free(c);
}

void counted_contexts(const struct counted *c, struct contexts *out)
{
    *out = (struct contexts){.tree = c->hot, .frames = framing_frames(c->framing), .metrics = &c->metrics};
}

uint64_t counted_weight(const struct counted *c)
{
    return c->weight;
}

size_t counted_hot(const struct counted *c)
{
    return c->contexts;
}

/* renewal.c - see renewal.h. */
#include "infer/model/renewal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/vec.h"

#define LEARN_AT 32.0 /* chances to leave a class after which they weigh as much as the guess */
#define LEAST    1e-4 /* minimum probability to leave a context */
#define SWEEPS   3    /* the chances to leave depend on returns, and these on the chances to leave */
#define CLASSES  64   /* of contexts with counted calls, and as many of those without */
#define LEVEL_1  3    /* the level of one usual gap */

struct context {
    double below; /* expected samples */
    double deep;  /* sum of their distances, in frames, from it */
    double left, all;
    float calls; /* counted in training; negative: training did not see all */
    float x;
};

/* Counts of contexts that last about equally long. */
struct class
{
    double left, all;
};

/* What a step needs to know about a context, for one level. */
struct part {
    float x;
    float back;  /* sum over all depths outwards from it */
    float stays; /* probability that it and all around it stay */
    float ratio; /* stays / flow */
};

struct renewal {
    struct lineage *lineage;
    float *calls; /* by function path's number; NULL: training hooked no image */
    struct context *contexts;
    double *flow; /* of the present level */
    uint32_t count, capacity;
    uint32_t learned; /* contexts that have an x */
    double strength;
    struct class classes[2 * CLASSES];
    struct part *parts[RENEWAL_LEVELS];
    uint32_t made[RENEWAL_LEVELS]; /* contexts that have parts */
};

/* Adds up training's calls of all nodes of each path. */
static bool count_calls(struct renewal *r, const struct pathmap *map)
{
    if (!pathmap_hooked(map))
        return true;
    r->calls = calloc((size_t)pathmap_path_count(map) + 1, sizeof *r->calls);
    if (!r->calls)
        return false;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node n = pathmap_node(map, i);
        r->calls[n.path] += (float)n.passes;
    }
    return true;
}

struct renewal *renewal_new(struct lineage *lineage)
{
    struct renewal *r = allocate(struct renewal, .lineage = lineage, .strength = 1);
    return whole_or_free(r, count_calls(r, lineage_map(lineage)) && renewal_add_state(r) >= 0, renewal_free);
}

void renewal_free(struct renewal *r)
{
    if (!r)
        return;
    free(r->calls);
    free(r->contexts);
    free(r->flow);
    for (uint32_t i = 0; i < RENEWAL_LEVELS; i++)
        free(r->parts[i]);
    free(r);
}

static bool reserve_states(struct renewal *r, uint32_t count)
{
    uint32_t capacity = r->capacity; /* one for all arrays, so it is set only when all have grown */
    for (uint32_t i = 0; i < RENEWAL_LEVELS; i++, capacity = r->capacity) {
        if (!vec_reserve(r->parts[i], 0, capacity, count))
            return false;
    }
    return vec_reserve(r->contexts, 0, capacity, count) && vec_reserve(r->flow, 0, r->capacity, count);
}

int renewal_add_state(struct renewal *r)
{
    const struct pathmap *map = lineage_map(r->lineage);
    uint32_t count = lineage_count(r->lineage);
    if (!reserve_states(r, count))
        return -ENOMEM;
    for (; r->count < count; r->count++) {
        struct context *c = &r->contexts[r->count];
        *c = (struct context){.calls = -1};
        if (r->count == LINEAGE_ROOT || !r->calls)
            continue;
        struct pathmap_node n = pathmap_node(map, lineage_node(r->lineage, r->count));
        if (pathmap_image(map, pathmap_function(map, n.function).image).hooked)
            c->calls = r->calls[n.path];
    }
    return 0;
}

void renewal_expect(struct renewal *r, const struct ancestry *path, double samples)
{
    r->contexts[LINEAGE_ROOT].below += samples;
    for (uint32_t i = 0; i < path->depth; i++) {
        struct context *c = &r->contexts[path->contexts[i]];
        c->below += samples;
        c->deep += samples * (path->depth - 1 - i);
    }
}

double renewal_total(const struct renewal *r)
{
    return r->contexts[LINEAGE_ROOT].below;
}

void renewal_count(struct renewal *r, uint32_t context, double left, double all)
{
    r->contexts[context].left += left;
    r->contexts[context].all += all;
}

/* The class of contexts that last about as long, and its probability to leave (*leave). */
static uint32_t class_of(const struct context *c, double *leave)
{
    double below = c->below > 0 ? c->below : 0;
    if (c->calls < 0) {
        double deep = below > 0 ? c->deep / below : 0;
        deep = deep < 0 ? 0 : deep > CLASSES - 1 ? CLASSES - 1 : deep;
        *leave = 1 / ((deep + 2) * (deep + 2));
        return CLASSES + (uint32_t)(deep + 0.5);
    }
    double calls = (double)c->calls / (below + 0.5);
    *leave = 1 - exp(-calls);
    double class = CLASSES / 2 + 2 * log2(calls + 1e-9);
    return class < 0 ? 0 : class > CLASSES - 1 ? CLASSES - 1 : (uint32_t) class;
}

/* Computes flow for the contexts from `first` on. */
static void sum_flows(struct renewal *r, const struct part *parts, uint32_t first)
{
    for (uint32_t i = first; i < r->count; i++)
        r->flow[i] = r->contexts[i].below;
    for (uint32_t i = first ? first : 1; i < r->count; i++) {
        uint32_t outer = lineage_outer(r->lineage, i);
        double x = (double)(parts ? parts[i].x : r->contexts[i].x);
        if (outer >= first)
            r->flow[outer] -= r->contexts[i].below * (1 - x);
    }
}

/* Chances to leave the context that did not end in a return to it. */
static double leave_chances(const struct renewal *r, uint32_t context)
{
    const struct context *c = &r->contexts[context];
    if (c->all <= 0)
        return 0;
    double flow = r->flow[lineage_outer(r->lineage, context)];
    double again = flow > 0 ? c->below * (double)c->x / flow : 0;
    return again < 1 ? c->all * (1 - again) : 0;
}

static void learn_context(struct renewal *r, uint32_t context)
{
    struct context *c = &r->contexts[context];
    double leave;
    const struct class *class = &r->classes[class_of(c, &leave)];
    leave = (class->left + LEARN_AT * leave) / (class->all + LEARN_AT) / r->strength;
    c->x = (float)(leave < LEAST ? LEAST : leave > 1 ? 1 : leave);
}

static void learn_classes(struct renewal *r)
{
    double leave;
    memset(r->classes, 0, sizeof r->classes);
    for (uint32_t i = 1; i < r->count; i++) {
        struct class *class = &r->classes[class_of(&r->contexts[i], &leave)];
        class->left += r->contexts[i].left;
        class->all += leave_chances(r, i);
    }
}

/* Adds the contexts that are new. */
static void add_new_contexts(struct renewal *r)
{
    for (; r->learned < r->count; r->learned++)
        learn_context(r, r->learned);
}

void renewal_update(struct renewal *r)
{
    add_new_contexts(r);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        sum_flows(r, NULL, 0);
        learn_classes(r);
        for (uint32_t i = 1; i < r->count; i++)
            learn_context(r, i);
    }
    memset(r->made, 0, sizeof r->made);
}

void renewal_set_strength(struct renewal *r, double strength)
{
    r->strength = strength;
    renewal_update(r);
}

uint32_t renewal_level(double gaps)
{
    uint32_t level = 0;
    for (double edge = 0.125 * M_SQRT2; gaps >= edge && level < RENEWAL_LEVELS - 1; edge *= 2)
        level++;
    return level;
}

/* The probability to leave at a level. */
static float leave_at(float x, uint32_t level)
{
    double stay = 1 - (double)x;
    for (uint32_t i = level; i < LEVEL_1; i++)
        stay = sqrt(stay);
    for (uint32_t i = LEVEL_1; i < level; i++)
        stay *= stay;
    return (float)(1 - stay);
}

/* Computes what a level lacks. */
static const struct part *make_parts(struct renewal *r, uint32_t level)
{
    struct part *parts = r->parts[level];
    uint32_t first = r->made[level];
    add_new_contexts(r);
    for (uint32_t i = first; i < r->count; i++)
        parts[i].x = leave_at(r->contexts[i].x, level);
    sum_flows(r, parts, first);
    for (uint32_t i = first; i < r->count; i++) {
        struct part *p = &parts[i];
        const struct part *outer = i ? &parts[lineage_outer(r->lineage, i)] : NULL;
        p->back = outer ? outer->back + outer->ratio * p->x * p->x : 0;
        p->stays = outer ? outer->stays * (1 - p->x) : 1;
        p->ratio = r->flow[i] > 0 ? (float)((double)p->stays / r->flow[i]) : 0;
    }
    r->made[level] = r->count;
    return parts;
}

double renewal_step(struct renewal *r, const struct ancestry *from, const struct ancestry *to, uint32_t level)
{
    const struct part *parts = r->made[level] < r->count ? make_parts(r, level) : r->parts[level];
    uint32_t common = ancestry_common(from, to);
    const struct part *shared = &parts[common ? from->contexts[common - 1] : LINEAGE_ROOT];
    float left = common < from->depth ? parts[from->contexts[common]].x : 1;
    float entered = common < to->depth ? parts[to->contexts[common]].x : 1;
    return (double)(shared->back + shared->ratio * left * entered);
}

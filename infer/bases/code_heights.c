/* code_heights.c - see code_heights.h. */
#include "infer/bases/code_heights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#define DEPTH 256 /* calls from the root to follow; functions further away are assumed to be open */

enum state { UNSEEN, ENTERED, OPEN, CLOSED };

struct known {
    uint8_t state;
    uint8_t count; /* set if CLOSED */
    uint32_t *heights;
};

/* A way to reach a function: a call from `caller` (or STATIC_ROOT), whose CFA is `rise` bytes higher; 0 for a jump. */
struct way {
    uint32_t callee, caller, rise;
    bool open;
};

struct code_heights {
    struct known *of; /* by function */
    uint32_t functions;
    struct way *ways; /* by callee */
    size_t way_count;
    uint32_t *first; /* by function: index of its first way, plus one entry for the end */
};

void code_heights_free(struct code_heights *h)
{
    if (!h)
        return;
    for (uint32_t f = 0; h->of && f < h->functions; f++)
        free(h->of[f].heights);
    free(h->of);
    free(h->ways);
    free(h->first);
    free(h);
}

static bool is_thread_start(const struct statics *statics, const struct static_edge *edge)
{
    for (size_t i = 0; edge->caller == STATIC_ROOT && i < statics->thread_count; i++)
        if (statics->threads[i] == edge->callee)
            return true;
    return false;
}

static bool collect_ways(struct code_heights *h, const struct statics *statics)
{
    h->ways = malloc((statics->count + statics->jump_count + 1) * sizeof *h->ways);
    if (!h->ways)
        return false;
    for (size_t i = 0; i < statics->count; i++) {
        const struct static_edge *e = &statics->edges[i];
        if (!is_thread_start(statics, e))
            h->ways[h->way_count++] = (struct way){e->callee, e->caller, e->rise, e->open};
    }
    for (size_t i = 0; i < statics->jump_count; i++)
        h->ways[h->way_count++] = (struct way){statics->jumps[i].to, statics->jumps[i].from, 0, false};
    sort_by(h->ways, h->way_count, callee);
    for (size_t i = 0, f = 0; f <= h->functions; f++) {
        while (i < h->way_count && h->ways[i].callee < f)
            i++;
        h->first[f] = (uint32_t)i;
    }
    return true;
}

/* Opens the targets of calls through pointers. Resolvers (of ifuncs) are called only by the loader, while it loads, when
 * samples are unlikely: they stay closed, and what they call has the heights of its other callers. */
static void mark_targets(struct code_heights *h, const struct statics *statics)
{
    for (size_t c = 0; c < statics->class_count; c++)
        for (size_t t = 0; t < statics->classes[c].target_count; t++)
            if (statics->classes[c].targets[t] < h->functions)
                h->of[statics->classes[c].targets[t]].state = OPEN;
    for (size_t i = 0; i < statics->resolver_count; i++)
        if (statics->resolvers[i] < h->functions)
            h->of[statics->resolvers[i]].state = UNSEEN;
}

struct code_heights *code_heights_new(const struct statics *statics, uint32_t functions)
{
    struct code_heights *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->functions = functions;
    h->of = calloc((size_t)functions + 1, sizeof *h->of);
    h->first = calloc((size_t)functions + 2, sizeof *h->first);
    if (!h->of || !h->first || !collect_ways(h, statics)) {
        code_heights_free(h);
        return NULL;
    }
    mark_targets(h, statics);
    /* A function without callers can only run if it is looked up by name. */
    for (size_t i = 0; i < statics->exported_count; i++) {
        uint32_t f = statics->exported[i];
        if (f < functions && h->first[f] == h->first[f + 1])
            h->of[f].state = OPEN;
    }
    return h;
}

/* The heights of one function, while they are collected. */
struct gathered {
    uint32_t heights[CODE_HEIGHTS_MAX];
    uint32_t count;
};

/* Returns false if there are too many. */
static bool gather_height(struct gathered *g, uint32_t height)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->heights[i] == height)
            return true;
    if (g->count == CODE_HEIGHTS_MAX)
        return false;
    g->heights[g->count++] = height;
    return true;
}

static int visit_function(struct code_heights *h, uint32_t function, int depth);

/* Collects the heights that one way gives: 1; 0: open; -ENOMEM. */
static int gather_way(struct code_heights *h, const struct way *way, struct gathered *g, int depth)
{
    if (way->caller == STATIC_ROOT)
        return gather_height(g, way->rise);
    int rc = way->open || way->caller >= h->functions ? 0 : visit_function(h, way->caller, depth + 1);
    const struct known *caller = &h->of[rc > 0 ? way->caller : 0];
    for (uint32_t i = 0; rc > 0 && i < caller->count; i++) {
        uint32_t height;
        if (__builtin_add_overflow(caller->heights[i], way->rise, &height) || !gather_height(g, height))
            rc = 0;
    }
    return rc;
}

static int store_heights(struct known *known, const struct gathered *g)
{
    known->heights = malloc((g->count + 1) * sizeof *known->heights);
    if (!known->heights)
        return -ENOMEM;
    memcpy(known->heights, g->heights, g->count * sizeof *known->heights);
    sort_numbers(known->heights, g->count);
    known->count = (uint8_t)g->count;
    known->state = CLOSED;
    return 1;
}

/* 1: the function's heights are known; 0: they are open; -ENOMEM. */
static int visit_function(struct code_heights *h, uint32_t function, int depth)
{
    struct known *known = &h->of[function];
    if (known->state == OPEN || known->state == CLOSED)
        return known->state == CLOSED;
    if (known->state == ENTERED || depth == DEPTH)
        return 0;
    known->state = ENTERED;
    struct gathered g = {.count = 0};
    int rc = 1;
    for (uint32_t i = h->first[function]; rc > 0 && i < h->first[function + 1]; i++)
        rc = gather_way(h, &h->ways[i], &g, depth);
    if (rc > 0)
        return store_heights(known, &g);
    known->state = OPEN;
    return rc;
}

/* Functions that begin a stack have no height: they pop and align SP, which their CFI does not describe, so the CFA differs
 * from instruction to instruction. */
static bool begins_stacks(const struct code_heights *h, uint32_t function)
{
    for (uint32_t i = h->first[function]; i < h->first[function + 1]; i++)
        if (h->ways[i].caller == STATIC_ROOT)
            return true;
    return false;
}

int code_heights_of(struct code_heights *h, uint32_t function, const uint32_t **out)
{
    int rc = function < h->functions && !begins_stacks(h, function) ? visit_function(h, function, 0) : 0;
    *out = rc > 0 ? h->of[function].heights : NULL;
    return rc > 0 ? h->of[function].count : rc;
}

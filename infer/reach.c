/*
 * reach.c - see reach.h.
 *
 * Words of 64 heights, one for each function, block by block: every call adds to the height, so that a block
 * needs those before it and itself alone. Within a block, calls are followed until nothing changes.
 */
#include "infer/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIT   8u /* bytes for each bit */
#define BLOCK  (64 * UNIT)
#define BLOCKS (REACH_BYTES / BLOCK)

/* A call; or from a function to a class of calls, or from that to a function it can lead to. */
struct step {
    uint32_t from, to; /* functions, then classes */
    uint32_t shift;    /* units */
    bool loose;        /* the rise is no multiple of a unit: it may be one unit more */
    bool exact;        /* of a hooked image's function, from the heights that training saw it at alone */
    bool open;         /* by `shift` or more */
};

struct reach {
    const struct graph *graph;
    uint32_t count; /* functions and classes */
    uint32_t functions;
    struct step *steps;
    size_t step_count, step_room;
    uint64_t *words[BLOCKS]; /* of each function and class; NULL: not known yet */
    uint64_t *exact[BLOCKS]; /* heights that training saw functions of hooked images at */
    uint32_t blocks;         /* known */
    uint64_t *open;          /* by function: the lowest unit that it can stand at + 1; 0: none yet */
    bool failed;
};

static void add_step(struct reach *r, struct step step)
{
    if (r->step_count == r->step_room) {
        size_t room = r->step_room ? r->step_room * 2 : 4096;
        struct step *steps = realloc(r->steps, room * sizeof *steps);
        if (!steps) {
            r->failed = true;
            return;
        }
        r->steps = steps;
        r->step_room = room;
    }
    r->steps[r->step_count++] = step;
}

static void add_edges(struct reach *r, struct graph_edges edges, uint32_t to, bool seen)
{
    for (uint32_t i = 0; i < edges.count; i++) {
        const struct graph_edge *e = &edges.edges[i];
        if (e->caller == GRAPH_ROOT || e->rise >= REACH_BYTES || e->rise < UNIT)
            continue;
        bool exact = !seen && graph_hooked(r->graph, e->caller);
        add_step(r, (struct step){e->caller, to, e->rise / UNIT, e->rise % UNIT != 0, exact, e->open});
    }
}

static void add_function(struct reach *r, uint32_t f, bool resort)
{
    const uint32_t *classes;
    add_edges(r, graph_callers(r->graph, f), f, true);
    add_edges(r, graph_static_callers(r->graph, f), f, false);
    if (!resort)
        return;
    add_edges(r, graph_open_callers(r->graph, f), f, false);
    uint32_t count = graph_classes(r->graph, f, &classes);
    for (uint32_t c = 0; c < count; c++)
        add_step(r, (struct step){.from = r->functions + classes[c], .to = f});
}

struct reach *reach_new(const struct graph *graph, bool resort)
{
    struct reach *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->graph = graph;
    r->functions = pathmap_function_count(graph_map(graph));
    r->count = r->functions + graph_class_count(graph);
    r->open = calloc((size_t)r->count + 1, sizeof *r->open);
    for (uint32_t f = 0; f < r->functions; f++)
        add_function(r, f, resort);
    for (uint32_t c = 0; resort && c < graph_class_count(graph); c++)
        add_edges(r, graph_class_callers(graph, c), r->functions + c, false);
    if (r->failed || !r->open) {
        reach_free(r);
        r = NULL;
    }
    return r;
}

void reach_free(struct reach *r)
{
    if (!r)
        return;
    for (uint32_t b = 0; b < r->blocks; b++) {
        free(r->words[b]);
        free(r->exact[b]);
    }
    free(r->open);
    free(r->steps);
    free(r);
}

/* The heights of block b at which paths begin, or that training saw in hooked images. */
static void start_block(struct reach *r, uint32_t b)
{
    const struct pathmap *map = graph_map(r->graph);
    for (uint32_t f = 0; f < r->functions; f++) {
        struct graph_edges edges = graph_callers(r->graph, f);
        for (uint32_t i = edges.count; i-- > 0 && edges.edges[i].caller == GRAPH_ROOT;)
            if (edges.edges[i].rise / BLOCK == b)
                r->words[b][f] |= UINT64_C(1) << edges.edges[i].rise / UNIT % 64;
        uint32_t first, nodes = graph_hooked(r->graph, f) ? pathmap_function_nodes(map, f, &first) : 0;
        for (uint32_t i = 0; i < nodes; i++) {
            uint32_t height = pathmap_node(map, first + i).height;
            if (height / BLOCK == b)
                r->exact[b][f] |= UINT64_C(1) << height / UNIT % 64;
        }
        r->words[b][f] |= r->exact[b][f];
    }
}

/* A block of a function's bits, moved up by some units. */
static uint64_t moved(uint64_t *const *words, uint32_t b, uint32_t f, uint32_t shift)
{
    uint32_t whole = shift / 64, part = shift % 64;
    uint64_t bits = whole <= b ? words[b - whole][f] << part : 0;
    return part && whole < b ? bits | words[b - whole - 1][f] >> (64 - part) : bits;
}

/* The heights that the step gives in block b. */
static uint64_t follow(const struct reach *r, const struct step *s, uint32_t b)
{
    if (s->open) {
        uint64_t least = r->open[s->from] - 1 + s->shift, start = (uint64_t)b * 64;
        if (!r->open[s->from] || least >= start + 64)
            return 0;
        return least <= start ? UINT64_MAX : UINT64_MAX << (least - start);
    }
    uint64_t *const *words = s->exact ? r->exact : r->words;
    uint64_t bits = moved(words, b, s->from, s->shift);
    return s->loose ? bits | moved(words, b, s->from, s->shift + 1) : bits;
}

static void fill_block(struct reach *r, uint32_t b)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < r->step_count; i++) {
            const struct step *s = &r->steps[i];
            uint64_t *to = &r->words[b][s->to], bits = follow(r, s, b) & ~*to;
            *to |= bits;
            changed |= bits != 0;
        }
        for (uint32_t f = 0; f < r->functions; f++)
            if (!r->open[f] && r->words[b][f]) {
                r->open[f] = (uint64_t)b * 64 + (unsigned)__builtin_ctzll(r->words[b][f]) + 1;
                changed = true;
            }
    }
}

int reach_extend(struct reach *r, uint32_t height)
{
    while (r->blocks < BLOCKS && r->blocks <= height / BLOCK) {
        uint32_t b = r->blocks;
        r->words[b] = calloc((size_t)r->count + 1, sizeof *r->words[b]);
        r->exact[b] = calloc((size_t)r->functions + 1, sizeof *r->exact[b]);
        if (!r->words[b] || !r->exact[b]) {
            free(r->words[b]);
            free(r->exact[b]);
            return -ENOMEM;
        }
        start_block(r, b);
        fill_block(r, b);
        r->blocks++;
    }
    return 0;
}

bool reach_possible(const struct reach *r, uint32_t function, uint32_t height)
{
    return height >= REACH_BYTES || r->words[height / BLOCK][function] >> height / UNIT % 64 & 1;
}

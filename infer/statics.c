/* statics.c - see statics.h. */
#include "infer/statics.h"

#include <errno.h>
#include <stdlib.h>

#include "image/calls.h"

#define MAX_JUMPS 4 /* tail jumps followed from a call's target */

/* An image with its calls and the trie's numbers of its functions. */
struct part {
    struct image *image;
    struct calls *calls;
    uint32_t number;     /* of the image in the trie */
    uint32_t *functions; /* TRIE_NONE before it was asked for */
};

struct building {
    struct trie *trie;
    struct part *parts;
    size_t count;
    struct statics *out;
    bool failed; /* out of memory */
};

static uint32_t trie_number(struct building *b, struct part *part, uint32_t function)
{
    uint32_t *number = &part->functions[function];
    if (*number == TRIE_NONE) {
        const struct image_function *f = image_function(part->image, function);
        *number = trie_function(b->trie, part->number, f->address, f->name);
        b->failed |= *number == TRIE_NONE;
    }
    return *number;
}

static void add_edge(struct building *b, const struct static_edge *edge)
{
    struct statics *out = b->out;
    if (out->count == out->room) {
        size_t room = out->room ? out->room * 2 : 4096;
        struct static_edge *edges = realloc(out->edges, room * sizeof *edges);
        if (!edges) {
            b->failed = true;
            return;
        }
        out->edges = edges;
        out->room = room;
    }
    out->edges[out->count++] = *edge;
}

static void add_jump(struct building *b, uint32_t from, uint32_t to)
{
    struct statics *out = b->out;
    if (out->jump_count == out->jump_room) {
        size_t room = out->jump_room ? out->jump_room * 2 : 1024;
        struct static_jump *jumps = realloc(out->jumps, room * sizeof *jumps);
        if (!jumps) {
            b->failed = true;
            return;
        }
        out->jumps = jumps;
        out->jump_room = room;
    }
    out->jumps[out->jump_count++] = (struct static_jump){from, to};
}

static void add_target(struct building *b, struct part *part, uint32_t function, struct static_edge edge,
                       int jumps);

/* All that the loader may find for a symbol. */
static void add_symbol(struct building *b, const char *symbol, const struct static_edge *edge, int jumps)
{
    for (size_t i = 0; i < b->count; i++) {
        struct part *part = &b->parts[i];
        bool resolver;
        uint32_t function = calls_export(part->calls, symbol, &resolver);
        if (function == IMAGE_NO_FUNCTION)
            continue;
        const uint32_t *choices = &function;
        size_t count = resolver ? calls_taken_by(part->calls, function, &choices) : 1;
        for (size_t c = 0; c < count; c++)
            add_target(b, part, choices[c], *edge, jumps);
        return;
    }
}

/* Where a call or jump leads. */
static void add_site(struct building *b, struct part *part, const struct call_site *site,
                     const struct static_edge *edge, int jumps)
{
    if (site->target) {
        uint32_t function = image_function_entry(part->image, site->target);
        const uint32_t *choices = &function;
        size_t count = function == IMAGE_NO_FUNCTION ? 0 : 1;
        if (count && site->resolver)
            count = calls_taken_by(part->calls, function, &choices);
        for (size_t c = 0; c < count; c++)
            add_target(b, part, choices[c], *edge, jumps);
    }
    if (site->symbol && !site->target)
        add_symbol(b, site->symbol, edge, jumps);
}

/* The edge to a function, and to those that it jumps to: they stand in its place. */
static void add_target(struct building *b, struct part *part, uint32_t function, struct static_edge edge,
                       int jumps)
{
    edge.callee = trie_number(b, part, function);
    if (b->failed)
        return;
    if (edge.rise)
        add_edge(b, &edge);
    else
        add_jump(b, edge.caller, edge.callee);
    const struct call_site *sites;
    size_t count = jumps < MAX_JUMPS ? calls_of(part->calls, function, &sites) : 0;
    for (size_t i = 0; i < count; i++) {
        if (!sites[i].tail)
            continue;
        /* A stub's jump tells its symbol beside its own address. */
        if (sites[i].symbol)
            add_symbol(b, sites[i].symbol, &edge, jumps + 1);
        else
            add_site(b, part, &sites[i], &edge, jumps + 1);
    }
}

static void add_part(struct building *b, struct part *part)
{
    const struct call_site *sites;
    size_t count = calls_all(part->calls, &sites);
    for (size_t i = 0; i < count && !b->failed; i++) {
        const struct call_site *s = &sites[i];
        if (!s->tail && (s->open || s->offset < 8))
            continue;
        /* A jump of a function that may be called in ways that no site tells: rise 0 (add_target). */
        struct static_edge edge = {.caller = trie_number(b, part, s->function),
                                   .rise = s->tail ? 0 : (uint32_t)s->offset,
                                   .site = s->next};
        add_site(b, part, s, &edge, 0);
    }
}

int statics_build(struct trie *trie, const struct image_cache *images, struct statics *out,
                  struct fathom_error *err)
{
    struct building b = {.trie = trie, .out = out};
    size_t count = 0;
    *out = (struct statics){0};
    while (image_cache_at(images, count))
        count++;
    b.parts = calloc(count + 1, sizeof *b.parts);
    b.failed = !b.parts;
    for (size_t i = 0; i < count && !b.failed; i++) {
        struct part *part = &b.parts[b.count++];
        uint32_t functions;
        part->image = image_cache_at(images, i);
        functions = image_function_count(part->image);
        part->number = trie_image(trie, image_path(part->image), image_build_id(part->image));
        part->functions = malloc(((size_t)functions + 1) * sizeof *part->functions);
        b.failed =
            part->number == TRIE_NONE || !part->functions || calls_build(part->image, &part->calls, NULL) < 0;
        for (uint32_t f = 0; f < functions && part->functions; f++)
            part->functions[f] = TRIE_NONE;
    }
    for (size_t i = 0; i < b.count && !b.failed; i++)
        add_part(&b, &b.parts[i]);
    for (size_t i = 0; i < b.count; i++) {
        calls_free(b.parts[i].calls);
        free(b.parts[i].functions);
    }
    free(b.parts);
    if (!b.failed)
        return 0;
    statics_free(out);
    return error_memory(err);
}

void statics_free(struct statics *statics)
{
    free(statics->edges);
    free(statics->jumps);
    *statics = (struct statics){0};
}

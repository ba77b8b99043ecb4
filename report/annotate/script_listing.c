/* script_listing.c - see script_listing.h. */
#include "report/annotate/script_listing.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/annotate/script.h"
#include "report/views/functions.h"

/* A function's line that is on some path. */
struct script_place {
    uint32_t item, line;
};

struct places {
    struct script_place *at;
    size_t count, capacity;
};

static int by_place(const void *a, const void *b)
{
    const struct script_place *p = a, *q = b;
    return order_of(p->item, q->item) ?: order_of(p->line, q->line);
}

static int by_weight(const void *a, const void *b)
{
    const struct listed_script *f = a, *g = b;
    return order_of(g->self, f->self) ?: order_of(g->total, f->total) ?: order_of(f->item, g->item);
}

/* Finds them, sorted by function and line. false: out of memory. */
static bool find_places(const struct branches *b, const struct frames *frames, struct places *out)
{
    for (uint32_t i = 1; i < b->count; i++) {
        const struct frame *line = frames_at(frames, b->at[i].item);
        const uint32_t function = b->at[i].parent ? b->at[b->at[i].parent].item : FRAMES_NONE;
        if (line->kind == FRAME_LINE && function != FRAMES_NONE &&
            frames_at(frames, function)->kind == FRAME_SCRIPT &&
            !vec_push(out->at, out->count, out->capacity,
                      (struct script_place){function, (uint32_t)line->address}))
            return false;
    }
    sort_with(out->at, out->count, by_place);
    return true;
}

static int find_functions(const struct contexts *c, const struct branches *branches, struct script_listing *l,
                          struct fathom_error *err)
{
    uint64_t *weights = script_weights(c);
    struct functions functions = {0};
    size_t capacity = 0;
    int rc = weights ? functions_of(branches, c->frames, &functions, err) : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < functions.count; i++) {
        const struct function_weight *f = &functions.at[i];
        if (frames_at(c->frames, f->item)->kind == FRAME_SCRIPT &&
            !vec_push(l->functions, l->count, capacity,
                      (struct listed_script){.item = f->item, .self = weights[f->item], .total = f->total}))
            rc = error_memory(err);
    }
    functions_clear(&functions);
    free(weights);
    sort_with(l->functions, l->count, by_weight);
    return rc;
}

/* Lists a function's source from its beginning to the last line that is on a path. */
static bool list_source(const struct script_listing *l, const struct frames *frames,
                        const struct places *places, struct listed_script *f)
{
    const struct frame *frame = frames_at(frames, f->item);
    struct line_numbers numbers = {0};
    bool good = line_numbers_add(&numbers, (uint32_t)frame->address);
    for (size_t i = lower_bound(n, 0, places->count, places->at[n].item < f->item);
         good && i < places->count && places->at[i].item == f->item; i++)
        good = line_numbers_add(&numbers, places->at[i].line);
    line_numbers_sort(&numbers);
    good = good && (!frame->source || listed_source_add(&f->source, l->sources, frame->source, &numbers));
    free(numbers.at);
    return good;
}

int script_listing_make(const struct contexts *c, const struct branches *branches, const char *symfs,
                        size_t most, struct script_listing *out, struct fathom_error *err)
{
    struct script_listing l = {.sources = sources_new(symfs)};
    struct places places = {0};
    int rc = l.sources ? find_functions(c, branches, &l, err) : error_memory(err);
    bool good = rc == 0 && find_places(branches, c->frames, &places);
    l.left_out = l.count > most ? l.count - most : 0;
    l.count -= l.left_out;
    for (size_t i = 0; good && i < l.count; i++)
        good = list_source(&l, c->frames, &places, &l.functions[i]);
    free(places.at);
    if (good)
        *out = l;
    else
        script_listing_clear(&l);
    return rc == 0 && !good ? error_memory(err) : rc;
}

void script_listing_clear(struct script_listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->functions[i].source.lines);
    free(l->functions);
    sources_free(l->sources);
    *l = (struct script_listing){0};
}

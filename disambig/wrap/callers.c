/* callers.c - see callers.h: tries it with one copy of each function. */
#include "disambig/wrap/callers.h"

#include <stdlib.h>

#include "disambig/wrap/wrap.h"

struct trying {
    const struct wrap_edges_of *of;
    struct calls *calls;
    struct pad *pads; /* by address */
    size_t pad_count;
    bool *movable; /* by pad */
    struct wrap *wraps;
    size_t wrap_count, wrap_capacity;
};

static int by_address(const void *a, const void *b)
{
    const struct pad *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static uint64_t address_of(const struct trying *t, uint32_t function)
{
    return image_function(t->of->of->image, wrap_edges_function(t->of, function))->address;
}

/* Lists every function with such calls, once, with the largest pad that any of its copies may get. */
static bool list_callers(struct trying *t, const struct wrap_edges *edges, const uint32_t *most)
{
    for (uint32_t e = 0; e < edges->count; e++) {
        struct wrap_edge edge = edges->items[e];
        t->pads[t->pad_count++] = (struct pad){address_of(t, edge.caller), most[edge.caller], 0};
        if (!wrap_edges_list(t->of, t->calls, &edge, WRAP_MOST, &t->wraps, &t->wrap_count, &t->wrap_capacity))
            return false;
    }
    if (t->pad_count)
        qsort(t->pads, t->pad_count, sizeof *t->pads, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < t->pad_count; i++)
        if (kept && t->pads[kept - 1].address == t->pads[i].address)
            t->pads[kept - 1].bytes =
                t->pads[i].bytes > t->pads[kept - 1].bytes ? t->pads[i].bytes : t->pads[kept - 1].bytes;
        else
            t->pads[kept++] = t->pads[i];
    t->pad_count = kept;
    for (size_t i = 0; i < t->wrap_count; i++)
        t->wraps[i].copy = 0;
    wrap_edges_sort(t->wraps, t->wrap_count);
    kept = 0;
    for (size_t i = 0; i < t->wrap_count; i++)
        if (!kept || t->wraps[kept - 1].site != t->wraps[i].site)
            t->wraps[kept++] = t->wraps[i];
    t->wrap_count = kept;
    return true;
}

int callers_find(const struct wrap_edges_of *of, const struct wrap_edges *edges, const uint32_t *most,
                 bool *callers, struct fathom_error *err)
{
    struct trying t = {.of = of,
                       .pads = malloc((edges->count + 1ul) * sizeof *t.pads),
                       .movable = malloc(edges->count + 1ul)};
    int rc =
        t.pads && t.movable && calls_build(of->of->image, &t.calls, err) == 0 && list_callers(&t, edges, most)
            ? 0
            : error_memory(err);
    struct enlarge_plan plan = {
        .pads = t.pads, .count = t.pad_count, .wraps = t.wraps, .wrap_count = t.wrap_count};
    if (rc == 0 && t.pad_count)
        rc = enlarge_movable(of->of->image, of->of->growth, &plan, t.movable, err);
    for (uint32_t e = 0; rc == 0 && e < edges->count; e++) {
        uint32_t caller = edges->items[e].caller;
        struct pad key = {.address = address_of(&t, caller)};
        const struct pad *pad = bsearch(&key, t.pads, t.pad_count, sizeof *t.pads, by_address);
        callers[caller] = pad && t.movable[pad - t.pads];
    }
    calls_free(t.calls);
    free(t.pads);
    free(t.movable);
    free(t.wraps);
    return rc;
}

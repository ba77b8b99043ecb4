/*
 * indirect_calls.c - see indirect_calls.h. Samples below a call measure time. A call's share of a function's time is taken as its share of
 * the function's entries, which assumes that the function takes equally long wherever it is called. A call's entries into all functions
 * sum to the number of times that the call ran.
 */
#include "report/export/indirect_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/calls/calls.h"

struct weights {
    const struct contexts *contexts;
    struct table *below; /* place << 32 | function, both items -> weight */
    struct table *all;   /* function -> weight */
};

static bool add_weight(struct table *table, uint64_t key, uint64_t weight)
{
    uint64_t *sum = table_put(table, key, NULL);
    if (sum)
        *sum = add_saturating(*sum, weight);
    return sum;
}

static enum frame_kind kind_of(const struct weights *w, const struct cct_node *node)
{
    return frames_at(w->contexts->frames, node->item)->kind;
}

/* Adds a path's weight to all calls on it. */
static bool add_path(struct weights *w, const struct cct_node *node, uint64_t weight)
{
    bool good = true;
    for (const struct cct_node *above; good && (above = cct_parent(node)); node = above) {
        if (kind_of(w, node) != FRAME_FUNCTION)
            continue;
        good = add_weight(w->all, node->item, weight);
        if (good && cct_parent(above) && kind_of(w, above) == FRAME_PLACE)
            good = add_weight(w->below, (uint64_t)above->item << 32 | node->item, weight);
    }
    return good;
}

static struct counted_function *function_of(const struct run_counts *c, const struct frame *frame)
{
    const struct image *image = run_counts_image(c, frame->image);
    return image ? run_counts_in(c, image, frame->address) : NULL;
}

static bool is_indirect(const struct blocks *b, uint32_t insn)
{
    const uint32_t at = lower_bound(i, (uint32_t)0, b->call_count, b->calls[i].insn < insn);
    return at < b->call_count && b->calls[at].insn == insn && !b->calls[at].target;
}

/* false: out of memory. */
static bool add_call(struct run_counts *c, const struct weights *w, uint64_t key, uint64_t weight)
{
    const struct frames *frames = w->contexts->frames;
    const struct frame *place = frames_at(frames, (uint32_t)(key >> 32));
    const struct counted_function *caller = function_of(c, place),
                                  *callee = function_of(c, frames_at(frames, (uint32_t)key));
    const uint32_t insn = caller ? blocks_find(&caller->blocks, place->address) : UINT32_MAX;
    if (insn == UINT32_MAX || !callee || !is_indirect(&caller->blocks, insn))
        return true;
    const double share = (double)weight / (double)*table_find(w->all, (uint32_t)key);
    return vec_push(c->indirect, c->indirect_count, c->indirect_capacity,
                    (struct indirect_call){(uint32_t)(caller - c->functions), insn,
                                           (uint32_t)(callee - c->functions), share, 0});
}

static int compare_calls(const void *a, const void *b)
{
    const struct indirect_call *x = a, *y = b;
    return order_of(x->caller, y->caller) ?: order_of(x->insn, y->insn) ?: order_of(x->callee, y->callee);
}

/* Keeps only functions whose address is taken. To others, the called function jumped. */
static int keep_taken(struct run_counts *c, struct fathom_error *err)
{
    const struct image *image = NULL;
    struct calls *calls = NULL;
    const uint32_t *taken = NULL;
    size_t kept = 0, count = 0;
    int rc = 0;
    sort_by(c->indirect, c->indirect_count, callee);
    for (size_t i = 0; rc == 0 && i < c->indirect_count; i++) {
        const struct counted_function *to = &c->functions[c->indirect[i].callee];
        if (to->image != image) {
            calls_free(calls);
            calls = NULL;
            image = to->image;
            rc = calls_build(image, &calls, err);
            count = rc == 0 ? calls_taken(calls, &taken) : 0;
        }
        const size_t at = lower_bound(k, (size_t)0, count, taken[k] < to->function);
        if (at < count && taken[at] == to->function)
            c->indirect[kept++] = c->indirect[i];
    }
    calls_free(calls);
    c->indirect_count = kept;
    return rc;
}

int indirect_calls_find(const struct contexts *contexts, struct run_counts *c, struct fathom_error *err)
{
    struct weights w = {contexts, table_new(), table_new()};
    struct cct_node *root = cct_root(contexts->tree);
    bool good = w.below && w.all;
    uint64_t key, weight;
    for (struct cct_node *n = root; good && n; n = cct_next(root, n))
        if (n->self[0])
            good = add_path(&w, n, n->self[0]);
    for (size_t cursor = 0; good && table_next(w.below, &cursor, &key, &weight);)
        good = add_call(c, &w, key, weight);
    int rc = good ? keep_taken(c, err) : error_memory(err);
    if (rc == 0)
        sort_with(c->indirect, c->indirect_count, compare_calls);
    table_free(w.below);
    table_free(w.all);
    return rc;
}

void indirect_calls_count(struct run_counts *c)
{
    for (size_t first = 0, end; first < c->indirect_count; first = end) {
        struct indirect_call *calls = c->indirect;
        const struct counted_function *caller = &c->functions[calls[first].caller];
        const double ran = caller->counts[caller->blocks.blocks[calls[first].insn]];
        double entries = 0;
        for (end = first; end < c->indirect_count && calls[end].caller == calls[first].caller &&
                          calls[end].insn == calls[first].insn;
             end++)
            entries += calls[end].share * c->functions[calls[end].callee].entered;
        for (size_t i = first; i < end; i++)
            calls[i].count =
                entries > 0 ? ran * calls[i].share * c->functions[calls[i].callee].entered / entries : 0;
    }
}

/* targets.c - the targets of a call or jump; see build.h. */
#include "infer/statics/build.h"

#include "base/vec.h"

#define SYMBOL_PARTS 16 /* most images, of different processes, in which a symbol is looked up */
#define MAX_JUMPS    4  /* tail jumps followed from a call's target */

void *statics_add(struct building *b, struct list *list, const void *item, size_t size)
{
    if (list->count == list->capacity) {
        void *items = vec_grow(list->items, size, list->count, 1, &list->capacity, SIZE_MAX);
        if (!items) {
            b->failed = true;
            return NULL;
        }
        list->items = items;
    }
    return memcpy((char *)list->items + size * list->count++, item, size);
}

uint32_t statics_number(struct building *b, struct part *part, uint32_t function)
{
    uint32_t *number = &part->functions[function];
    if (*number == TRIE_NONE) {
        const struct image_function *f = image_function(part->image, function);
        *number = trie_function(b->trie, part->number, f->address, f->name);
        b->failed |= *number == TRIE_NONE;
    }
    return *number;
}

bool statics_together(const struct building *b, const struct part *x, const struct part *y)
{
    return b->together[(size_t)(x - b->parts) * b->count + (size_t)(y - b->parts)];
}

static bool is_main(const struct building *b, uint32_t function)
{
    const uint32_t *mains = b->mains.items;
    for (size_t i = 0; i < b->mains.count; i++)
        if (mains[i] == function)
            return true;
    return false;
}

static void add_found(struct building *b, const struct search *search, uint32_t callee)
{
    struct static_edge edge = search->edge;
    edge.callee = callee;
    struct static_jump jump = {edge.caller, callee};
    if (search->of_class && is_main(b, callee))
        return;
    if (search->of_class)
        statics_add(b, &b->targets, &callee, sizeof callee);
    else if (edge.rise)
        statics_add(b, &b->edges, &edge, sizeof edge);
    else
        statics_add(b, &b->jumps, &jump, sizeof jump);
}

static void add_target(struct building *b, struct part *part, uint32_t function, const struct search *search,
                       int jumps);

/* Adds the vDSO function that the C library's resolver of this symbol looks up. */
static void add_vdso(struct building *b, const struct part *from, const char *symbol,
                     const struct search *search, int jumps)
{
    for (size_t i = 0; symbol && i < b->count; i++) {
        struct part *part = &b->parts[i];
        bool resolver;
        uint32_t function = part->vdso && statics_together(b, from, part)
                                ? calls_export(part->calls, symbol, &resolver)
                                : IMAGE_NO_FUNCTION;
        if (function != IMAGE_NO_FUNCTION)
            add_target(b, part, function, search, jumps);
    }
}

/* Adds all functions to which the loader may resolve a part's symbol: the first in each process that has it.
 * It does not search the vDSO. */
static void add_symbol(struct building *b, const struct part *from, const char *symbol,
                       const struct search *search, int jumps)
{
    const struct part *found[SYMBOL_PARTS];
    size_t found_count = 0;
    for (size_t i = 0; i < b->count && found_count < SYMBOL_PARTS; i++) {
        struct part *part = &b->parts[i];
        bool resolver, hidden = !statics_together(b, from, part) || part->vdso;
        for (size_t k = 0; !hidden && k < found_count; k++)
            hidden = statics_together(b, found[k], part);
        uint32_t function = hidden ? IMAGE_NO_FUNCTION : calls_export(part->calls, symbol, &resolver);
        if (function == IMAGE_NO_FUNCTION)
            continue;
        found[found_count++] = part;
        const uint32_t *choices = &function;
        size_t count = resolver ? calls_taken_by(part->calls, function, &choices) : 1;
        for (size_t c = 0; c < count; c++)
            add_target(b, part, choices[c], search, jumps);
        if (resolver)
            add_vdso(b, from, symbol, search, jumps);
    }
}

/* Adds the loaders' lazy-binding functions. */
static void add_binders(struct building *b, const struct part *from, const struct search *search, int jumps)
{
    for (size_t i = 0; i < b->count; i++) {
        struct part *part = &b->parts[i];
        const uint32_t *binders;
        uint32_t loader[STARTS_MAX];
        size_t count = calls_binders(part->calls, &binders);
        if (!count || !statics_together(b, from, part) || !starts_loader(part->image, loader))
            continue;
        for (size_t k = 0; k < count; k++)
            add_target(b, part, binders[k], search, jumps);
    }
}

/* Adds the targets of a call or jump. */
static void add_site(struct building *b, struct part *part, const struct call_site *site,
                     const struct search *search, int jumps)
{
    if (site->target) {
        uint32_t function = image_function_entry(part->image, site->target);
        const uint32_t *choices = &function;
        size_t count = function == IMAGE_NO_FUNCTION ? 0 : 1;
        if (count && site->resolver) {
            add_vdso(b, part, image_function(part->image, function)->name, search, jumps);
            count = calls_taken_by(part->calls, function, &choices);
        }
        for (size_t c = 0; c < count; c++)
            add_target(b, part, choices[c], search, jumps);
    } else if (site->symbol) {
        add_symbol(b, part, site->symbol, search, jumps);
    } else if (site->kind == CALL_BINDER) {
        add_binders(b, part, search, jumps);
    } else if (site->kind == CALL_INDIRECT && !search->of_class) {
        struct pointer_call call = {site->field, false, search->edge};
        statics_add(b, &b->calls, &call, sizeof call);
    }
}

/* Adds a called function, and those that it tail-calls, within the limit of jumps. */
static void add_target(struct building *b, struct part *part, uint32_t function, const struct search *search,
                       int jumps)
{
    uint32_t callee = statics_number(b, part, function);
    if (b->failed)
        return;
    add_found(b, search, callee);
    struct search onward = *search;
    onward.edge.through = callee + 1;
    const struct call_site *sites;
    size_t count = jumps < MAX_JUMPS ? calls_of(part->calls, function, &sites) : 0;
    for (size_t i = 0; i < count && b->follows; i++) {
        if (!sites[i].tail)
            continue;
        b->follows--;
        /* The jump of a stub has its symbol as well as its own address. */
        if (sites[i].symbol)
            add_symbol(b, part, sites[i].symbol, &onward, jumps + 1);
        else
            add_site(b, part, &sites[i], &onward, jumps + 1);
    }
}

void statics_add_site(struct building *b, struct part *part, const struct call_site *site,
                      const struct search *search)
{
    add_site(b, part, site, search, 0);
}

void statics_add_target(struct building *b, struct part *part, uint32_t function, const struct search *search)
{
    add_target(b, part, function, search, 0);
}

void statics_add_symbol(struct building *b, const struct part *from, const char *symbol,
                        const struct search *search)
{
    add_symbol(b, from, symbol, search, 0);
}

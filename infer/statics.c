/* statics.c - see statics.h. */
#include "infer/statics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/calls.h"
#include "infer/starts.h"

#define SYMBOL_PARTS 16  /* images, of different processes, that a symbol is looked for in */
#define MAX_JUMPS    4   /* tail jumps followed from a call's target */
#define OF_FIELD     0.9 /* share of the calls whose field tells their targets that lead to one of them */
#define OPEN_LEAST   16  /* bytes of a frame of open size: the return address and BP, which addresses it */

/* An image with its calls and the trie's numbers of its functions. */
struct part {
    struct image *image;
    struct calls *calls;
    uint32_t number;     /* of the image in the trie */
    uint32_t *functions; /* TRIE_NONE before it was asked for */
};

/* An array that grows. */
struct list {
    void *items;
    size_t count, room;
};

/* A call or jump (rise 0) through a pointer. */
struct pointer_call {
    int32_t field;
    bool told; /* some functions stand in such a field */
    struct static_edge edge;
};

struct building {
    struct trie *trie;
    struct part *parts;
    size_t count;
    bool *together;        /* parts by parts: whether they were ever in one process */
    struct list edges;     /* struct static_edge */
    struct list jumps;     /* struct static_jump */
    struct list calls;     /* struct pointer_call */
    struct list targets;   /* uint32_t: of the class that is being built */
    struct list classes;   /* struct static_class */
    struct list ends;      /* uint32_t */
    struct list threads;   /* uint32_t */
    struct list exports;   /* uint32_t */
    struct list resolvers; /* uint32_t */
    struct list starts;    /* struct static_start */
    struct list mains; /* uint32_t: what nothing calls that a class stands for: what programs hand to the C
                              library, to be called there alone, and where stacks begin */
    bool failed;       /* out of memory */
};

static void *list_add(struct building *b, struct list *list, const void *item, size_t size)
{
    if (list->count == list->room) {
        void *items = vec_grow(list->items, size, list->count, 1, &list->room, SIZE_MAX);
        if (!items) {
            b->failed = true;
            return NULL;
        }
        list->items = items;
    }
    return memcpy((char *)list->items + size * list->count++, item, size);
}

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

/* What is looked for: the functions that one call, one jump, or the pointers of a class lead to. */
struct search {
    struct static_edge edge; /* rise 0: a jump of `caller` */
    bool of_class;           /* they are targets of the class that is being built */
};

static bool are_together(const struct building *b, const struct part *x, const struct part *y)
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
        list_add(b, &b->targets, &callee, sizeof callee);
    else if (edge.rise)
        list_add(b, &b->edges, &edge, sizeof edge);
    else
        list_add(b, &b->jumps, &jump, sizeof jump);
}

static void add_target(struct building *b, struct part *part, uint32_t function, const struct search *search,
                       int jumps);

static bool is_vdso(const struct part *part)
{
    return strcmp(image_path(part->image), VDSO_NAME) == 0;
}

/* What the C library's resolver of this symbol asks the vDSO for. */
static void add_vdso(struct building *b, const struct part *from, const char *symbol,
                     const struct search *search, int jumps)
{
    for (size_t i = 0; symbol && i < b->count; i++) {
        struct part *part = &b->parts[i];
        bool resolver;
        uint32_t function = is_vdso(part) && are_together(b, from, part)
                                ? calls_export(part->calls, symbol, &resolver)
                                : IMAGE_NO_FUNCTION;
        if (function != IMAGE_NO_FUNCTION)
            add_target(b, part, function, search, jumps);
    }
}

/* All that the loader may find for a symbol that a part asks for: the first in each process that has it. It
 * does not look in the vDSO. */
static void add_symbol(struct building *b, const struct part *from, const char *symbol,
                       const struct search *search, int jumps)
{
    const struct part *found[SYMBOL_PARTS];
    size_t found_count = 0;
    for (size_t i = 0; i < b->count && found_count < SYMBOL_PARTS; i++) {
        struct part *part = &b->parts[i];
        bool resolver, hidden = !are_together(b, from, part) || is_vdso(part);
        for (size_t k = 0; !hidden && k < found_count; k++)
            hidden = are_together(b, found[k], part);
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

/* Where a call or jump leads. */
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
    } else if (site->kind == CALL_INDIRECT && !search->of_class) {
        struct pointer_call call = {site->field, false, search->edge};
        list_add(b, &b->calls, &call, sizeof call);
    }
}

/* A function that is called, and those that it jumps to: they stand in its place. */
static void add_target(struct building *b, struct part *part, uint32_t function, const struct search *search,
                       int jumps)
{
    uint32_t callee = trie_number(b, part, function);
    if (b->failed)
        return;
    add_found(b, search, callee);
    const struct call_site *sites;
    size_t count = jumps < MAX_JUMPS ? calls_of(part->calls, function, &sites) : 0;
    for (size_t i = 0; i < count; i++) {
        if (!sites[i].tail)
            continue;
        /* A stub's jump tells its symbol beside its own address. */
        if (sites[i].symbol)
            add_symbol(b, part, sites[i].symbol, search, jumps + 1);
        else
            add_site(b, part, &sites[i], search, jumps + 1);
    }
}

static void add_part(struct building *b, struct part *part)
{
    const struct call_site *sites;
    size_t count = calls_all(part->calls, &sites);
    for (size_t i = 0; i < count && !b->failed; i++) {
        const struct call_site *s = &sites[i];
        if (!s->tail && !s->open && s->offset < 8)
            continue;
        /* A jump of a function that may be called in ways that no site tells: rise 0 (struct search). */
        struct search search = {
            {.caller = trie_number(b, part, s->function), .open = s->open, .site = s->next}, false};
        if (!s->tail)
            search.edge.rise = s->open ? OPEN_LEAST : (uint32_t)s->offset;
        add_site(b, part, s, &search, 0);
    }
}

/* A call that no site shows. */
static void add_edge(struct building *b, uint32_t callee, uint32_t caller, uint32_t rise, uint64_t site)
{
    struct static_edge edge = {.callee = callee, .caller = caller, .rise = rise, .site = site};
    if (!b->failed)
        list_add(b, &b->edges, &edge, sizeof edge);
}

/* A call through a pointer whose targets are known is in no class. */
static void take_out(struct building *b, uint32_t caller, uint64_t site)
{
    struct pointer_call *calls = b->calls.items;
    for (size_t i = 0; i < b->calls.count; i++) {
        if (calls[i].edge.caller == caller && calls[i].edge.site == site)
            calls[i--] = calls[--b->calls.count];
    }
}

/* The call of this site, of `part`, leads to what `_start` of the program takes the address of. A function
 * that never returns calls nothing else: it exits with what main returns. */
static void add_main_call(struct building *b, struct part *part, const struct call_site *site,
                          struct part *program, const uint32_t *taken, size_t count)
{
    uint32_t caller = trie_number(b, part, site->function);
    if (site->offset < 8 || !count || !are_together(b, part, program))
        return;
    for (size_t t = 0; t < count; t++)
        add_edge(b, trie_number(b, program, taken[t]), caller, (uint32_t)site->offset, site->next);
    if (calls_returns(part->calls, site->function))
        return;
    take_out(b, caller, site->next);
    for (size_t t = 0; t < count && !b->failed; t++) {
        uint32_t function = trie_number(b, program, taken[t]);
        list_add(b, &b->mains, &function, sizeof function);
    }
}

/* The calls of main. */
static void add_main(struct building *b, struct part *program, uint32_t start)
{
    const uint32_t *taken;
    size_t count = calls_taken_by(program->calls, start, &taken);
    for (size_t i = 0; i < b->count; i++) {
        const struct call_site *sites[STARTS_MAX];
        size_t found = starts_main_calls(b->parts[i].image, b->parts[i].calls, sites);
        for (size_t s = 0; s < found; s++)
            add_main_call(b, &b->parts[i], sites[s], program, taken, count);
    }
}

/* A stack begins with the function, whose number is returned. */
static uint32_t add_start(struct building *b, struct part *part, uint32_t function, uint32_t height,
                          enum setting_start kind)
{
    bool only = kind == SETTING_START_THREAD || height == STARTS_START; /* dlopen runs what the loader does */
    struct static_start start = {trie_number(b, part, function), kind, only};
    add_edge(b, start.function, STATIC_ROOT, height, 0);
    if (!b->failed)
        list_add(b, &b->starts, &start, sizeof start);
    if (!b->failed && only)
        list_add(b, &b->mains, &start.function, sizeof start.function);
    return start.function;
}

/* What ld.so begins with, and what these hand on to be called. */
static void add_loader(struct building *b, struct part *part)
{
    uint32_t found[STARTS_MAX];
    size_t count = starts_loader(part->image, found);
    for (size_t i = 0; i < count; i++) {
        const struct call_site *sites[STARTS_MAX];
        const uint32_t *taken;
        size_t many = calls_taken_by(part->calls, found[i], &taken);
        size_t calls = starts_handed_calls(part->image, part->calls, found[i], sites);
        add_start(b, part, found[i], STARTS_LOADER, SETTING_START_PROGRAM);
        for (size_t s = 0; s < calls; s++)
            add_main_call(b, part, sites[s], part, taken, many);
    }
}

/* Where stacks begin. */
static void add_starts(struct building *b, struct part *part)
{
    uint32_t start = starts_program(part->image), found[STARTS_MAX];
    if (start != IMAGE_NO_FUNCTION) {
        add_start(b, part, start, STARTS_START, SETTING_START_PROGRAM);
        add_main(b, part, start);
    }
    add_loader(b, part);
    size_t count = starts_threads(part->image, part->calls, found);
    for (size_t i = 0; i < count && !b->failed; i++) {
        uint32_t function = add_start(b, part, found[i], STARTS_THREAD, SETTING_START_THREAD);
        list_add(b, &b->threads, &function, sizeof function);
    }
}

/* Functions of the part that were met and never return. */
static void add_ends(struct building *b, const struct part *part)
{
    for (uint32_t f = 0; f < image_function_count(part->image) && !b->failed; f++)
        if (part->functions[f] != TRIE_NONE && !calls_returns(part->calls, f))
            list_add(b, &b->ends, &part->functions[f], sizeof part->functions[f]);
}

static void add_resolvers(struct building *b, const struct part *part)
{
    for (uint32_t f = 0; f < image_function_count(part->image) && !b->failed; f++)
        if (part->functions[f] != TRIE_NONE && calls_is_resolver(part->calls, f))
            list_add(b, &b->resolvers, &part->functions[f], sizeof part->functions[f]);
}

/* Functions of the part that were met and can be asked for by name. */
static void add_exports(struct building *b, const struct part *part)
{
    uint32_t loader[STARTS_MAX];
    bool resolver;
    if (starts_loader(part->image, loader))
        return;
    for (uint32_t f = 0; f < image_function_count(part->image) && !b->failed; f++) {
        const char *name = image_function(part->image, f)->name;
        if (part->functions[f] != TRIE_NONE && name && calls_export(part->calls, name, &resolver) == f)
            list_add(b, &b->exports, &part->functions[f], sizeof part->functions[f]);
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_field(const void *a, const void *b)
{
    const struct pointer_call *x = a, *y = b;
    return (x->field > y->field) - (x->field < y->field);
}

/* The functions that stand in objects at this distance. */
static void find_field(struct building *b, struct part *part, int32_t field, const struct search *search)
{
    const struct call_field *fields;
    size_t count = calls_fields(part->calls, &fields);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].field != field)
            continue;
        if (fields[i].symbol)
            add_symbol(b, part, fields[i].symbol, search, 0);
        else
            add_target(b, part, fields[i].function, search, 0);
    }
}

static void find_taken(struct building *b, struct part *part, const struct search *search)
{
    const uint32_t *taken;
    const char *const *symbols;
    size_t count = calls_taken(part->calls, &taken);
    for (size_t i = 0; i < count; i++)
        add_target(b, part, taken[i], search, 0);
    count = calls_taken_symbols(part->calls, &symbols);
    for (size_t i = 0; i < count; i++)
        add_symbol(b, part, symbols[i], search, 0);
}

/* Fills the class's calls. */
static bool take_calls(struct static_class *class, const struct pointer_call *calls, size_t count)
{
    class->edges = malloc((count + 1) * sizeof *class->edges);
    class->jumps = malloc((count + 1) * sizeof *class->jumps);
    for (size_t i = 0; class->edges && class->jumps && i < count; i++) {
        struct static_edge edge = calls[i].edge;
        if (edge.rise)
            class->edges[class->count++] = edge;
        else
            class->jumps[class->jump_count++] = (struct static_jump){edge.caller, TRIE_NONE};
    }
    return class->edges && class->jumps;
}

/* The functions that calls with this field lead to into b->targets, each once. */
static void find_targets(struct building *b, int32_t field)
{
    const struct search search = {.of_class = true};
    b->targets = (struct list){0};
    for (size_t i = 0; i < b->count; i++) {
        if (field == CALL_NO_FIELD)
            find_taken(b, &b->parts[i], &search);
        else
            find_field(b, &b->parts[i], field, &search);
    }
    uint32_t *targets = b->targets.items;
    size_t kept = 0;
    if (b->targets.count)
        qsort(targets, b->targets.count, sizeof *targets, by_number);
    for (size_t i = 0; i < b->targets.count; i++)
        if (kept == 0 || targets[kept - 1] != targets[i])
            targets[kept++] = targets[i];
    b->targets.count = kept;
}

/* Makes a class of calls[0 .. count). Whether it has targets: else there is none. */
static bool add_class(struct building *b, int32_t field, double share, const struct pointer_call *calls,
                      size_t count)
{
    find_targets(b, field);
    struct static_class class = {
        .field = field, .share = share, .targets = b->targets.items, .target_count = b->targets.count};
    if (!b->failed && class.target_count && count) {
        b->failed = !take_calls(&class, calls, count);
        if (!b->failed && list_add(b, &b->classes, &class, sizeof class))
            return true;
    }
    free(class.edges);
    free(class.jumps);
    free(class.targets);
    return false;
}

static void add_classes(struct building *b)
{
    struct pointer_call *calls = b->calls.items;
    size_t count = b->calls.count, told = 0;
    if (count == 0)
        return;
    qsort(calls, count, sizeof *calls, by_field);
    for (size_t i = 0, next; i < count && !b->failed; i = next) {
        for (next = i; next < count && calls[next].field == calls[i].field; next++)
            ;
        if (calls[i].field == CALL_NO_FIELD || !add_class(b, calls[i].field, OF_FIELD, calls + i, next - i))
            continue;
        for (size_t k = i; k < next; k++)
            calls[k].told = true;
    }
    for (size_t i = 0; i < count; i++) { /* those that are told first */
        struct pointer_call swap = calls[told];
        if (!calls[i].told)
            continue;
        calls[told++] = calls[i];
        calls[i] = swap;
    }
    if (!b->failed)
        add_class(b, CALL_NO_FIELD, 1 - OF_FIELD, calls, told);
    if (!b->failed)
        add_class(b, CALL_NO_FIELD, 1, calls + told, count - told);
}

static void open_parts(struct building *b, const struct image_cache *images)
{
    size_t count = 0;
    while (image_cache_at(images, count))
        count++;
    b->parts = calloc(count + 1, sizeof *b->parts);
    b->failed = !b->parts;
    for (size_t i = 0; i < count && !b->failed; i++) {
        struct part *part = &b->parts[b->count++];
        uint32_t functions;
        part->image = image_cache_at(images, i);
        functions = image_function_count(part->image);
        part->number = trie_image(b->trie, image_path(part->image), image_build_id(part->image));
        part->functions = malloc(((size_t)functions + 1) * sizeof *part->functions);
        b->failed =
            part->number == TRIE_NONE || !part->functions || calls_build(part->image, &part->calls, NULL) < 0;
        for (uint32_t f = 0; f < functions && part->functions; f++)
            part->functions[f] = TRIE_NONE;
    }
}

static struct setting_file file_of(const struct image *image)
{
    return (struct setting_file){image_path(image), *image_build_id(image)};
}

static void tell_together(struct building *b, const struct settings *settings)
{
    b->together = malloc((b->count * b->count + 1) * sizeof *b->together);
    b->failed |= !b->together;
    for (size_t i = 0; i < b->count && !b->failed; i++) {
        struct setting_file x = file_of(b->parts[i].image);
        for (size_t k = 0; k < b->count; k++) {
            struct setting_file y = file_of(b->parts[k].image);
            b->together[i * b->count + k] = i == k || !settings || settings_together(settings, &x, &y);
        }
    }
}

int statics_build(struct trie *trie, const struct image_cache *images, const struct settings *settings,
                  struct statics *out, struct fathom_error *err)
{
    struct building b = {.trie = trie};
    open_parts(&b, images);
    if (!b.failed)
        tell_together(&b, settings);
    for (size_t i = 0; i < b.count && !b.failed; i++)
        add_part(&b, &b.parts[i]);
    for (size_t i = 0; i < b.count && !b.failed; i++)
        add_starts(&b, &b.parts[i]);
    if (!b.failed)
        add_classes(&b);
    for (size_t i = 0; i < b.count && !b.failed; i++) {
        add_ends(&b, &b.parts[i]);
        add_exports(&b, &b.parts[i]);
        add_resolvers(&b, &b.parts[i]);
    }
    for (size_t i = 0; i < b.count; i++) {
        calls_free(b.parts[i].calls);
        free(b.parts[i].functions);
    }
    free(b.parts);
    free(b.together);
    free(b.calls.items);
    free(b.mains.items);
    *out = (struct statics){.edges = b.edges.items,
                            .count = b.edges.count,
                            .jumps = b.jumps.items,
                            .jump_count = b.jumps.count,
                            .classes = b.classes.items,
                            .class_count = b.classes.count,
                            .starts = b.starts.items,
                            .start_count = b.starts.count,
                            .ends = b.ends.items,
                            .end_count = b.ends.count,
                            .exported = b.exports.items,
                            .exported_count = b.exports.count,
                            .resolvers = b.resolvers.items,
                            .resolver_count = b.resolvers.count,
                            .threads = b.threads.items,
                            .thread_count = b.threads.count};
    if (!b.failed)
        return 0;
    statics_free(out);
    return error_memory(err);
}

void statics_free(struct statics *statics)
{
    for (size_t i = 0; i < statics->class_count; i++) {
        free(statics->classes[i].edges);
        free(statics->classes[i].jumps);
        free(statics->classes[i].targets);
    }
    free(statics->edges);
    free(statics->jumps);
    free(statics->classes);
    free(statics->starts);
    free(statics->ends);
    free(statics->exported);
    free(statics->resolvers);
    free(statics->threads);
    *statics = (struct statics){0};
}

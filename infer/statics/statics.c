/* statics.c - see statics.h. */
#include "infer/statics/statics.h"

#include "base/allocate.h"
#include "base/sort.h"
#include "infer/statics/build.h"

/* minimum bytes of a frame of open size: the return address and BP, by which it is addressed */
#define OPEN_LEAST 16

/* Limit of the jumps that are followed from call targets, per call or jump in the code: python3, perl, php, sqlite3, clang++
 * and ffmpeg with their libraries have 1.3 to 3.2. In a damaged file one function may span all code, and jump to each of the
 * others. */
#define FOLLOWS_EACH 16u

static void add_part(struct building *b, struct part *part)
{
    const struct call_site *sites;
    size_t count = calls_all(part->calls, &sites);
    work_take(b->work, count);
    for (size_t i = 0; i < count && !b->failed; i++) {
        const struct call_site *s = &sites[i];
        if (!s->tail && !s->open && s->offset < 8)
            continue;
        /* A jump in a function that may be called without a site: rise 0 (struct search). */
        struct search search = {
            {.caller = statics_number(b, part, s->function), .open = s->open, .site = s->next}, false};
        if (!s->tail)
            search.edge.rise = s->open ? OPEN_LEAST : (uint32_t)s->offset;
        statics_add_site(b, part, s, &search);
    }
}

/* Adds what functions of the part, among those found so far, are: that they never return, are the loader's resolvers, or can be
 * looked up by name. */
static void add_kinds(struct building *b, const struct part *part)
{
    uint32_t loader[STARTS_MAX];
    bool resolver;
    const bool exports = !starts_loader(part->image, loader);
    for (uint32_t f = 0; f < image_function_count(part->image) && !b->failed; f++) {
        const uint32_t *number = &part->functions[f];
        const char *name = image_function(part->image, f)->name;
        if (*number == TRIE_NONE)
            continue;
        if (!calls_returns(part->calls, f))
            statics_add(b, &b->ends, number, sizeof *number);
        if (calls_is_resolver(part->calls, f))
            statics_add(b, &b->resolvers, number, sizeof *number);
        if (exports && name && calls_export(part->calls, name, &resolver) == f)
            statics_add(b, &b->exports, number, sizeof *number);
    }
}

/* An image that may become a part. */
struct choice {
    struct image *image;
    double samples; /* per byte */
    const struct calls *calls;
};

/* Sorts by what is the same in each run, as images may be opened in any order. */
static int by_build(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    const struct build_id *p = image_build_id(x->image), *q = image_build_id(y->image);
    return strcmp(image_path(x->image), image_path(y->image)) ?: memcmp(p->bytes, q->bytes, sizeof p->bytes);
}

static int most_samples_first(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return order_of(y->samples, x->samples) ?: by_build(a, b);
}

/* All images, with the calls of those that are read. NULL: out of memory. */
static struct choice *choose_targets(struct building *b, const struct image_cache *images,
                                     struct image_calls *calls, const struct statics_need *need,
                                     size_t *count)
{
    *count = 0;
    while (image_cache_at(images, *count))
        ++*count;
    struct choice *choices = calloc(*count + 1, sizeof *choices);
    for (size_t i = 0; choices && i < *count; i++) {
        struct image *image = image_cache_at(images, i);
        uint32_t number = trie_image(b->trie, image_path(image), image_build_id(image));
        uint64_t samples = need && number < need->count ? need->samples[number] : 0;
        choices[i] =
            (struct choice){image, (double)(samples + 1) / (double)(image_code_size(image) + 1), NULL};
    }
    int rc = 0;
    if (choices)
        qsort(choices, *count, sizeof *choices, most_samples_first);
    for (size_t i = 0; choices && rc == 0 && i < *count; i++)
        rc = image_calls_of(calls, choices[i].image, &choices[i].calls);
    if (choices)
        qsort(choices, *count, sizeof *choices, by_build);
    return whole_or_free(choices, rc >= 0, free);
}

static void add_image(struct building *b, const struct choice *choice)
{
    struct part *part = &b->parts[b->count++];
    uint32_t functions = image_function_count(choice->image);
    part->image = choice->image;
    part->calls = choice->calls;
    part->vdso = strcmp(image_path(part->image), VDSO_NAME) == 0;
    part->number = trie_image(b->trie, image_path(part->image), image_build_id(part->image));
    part->functions = malloc(((size_t)functions + 1) * sizeof *part->functions);
    b->failed = part->number == TRIE_NONE || !part->functions;
    const struct call_site *sites;
    b->follows += FOLLOWS_EACH * (uint64_t)calls_all(part->calls, &sites);
    for (uint32_t f = 0; f < functions && part->functions; f++)
        part->functions[f] = TRIE_NONE;
}

static void open_parts(struct building *b, const struct image_cache *images, struct image_calls *calls,
                       const struct statics_need *need)
{
    size_t count;
    struct choice *choices = choose_targets(b, images, calls, need, &count);
    b->parts = calloc(count + 1, sizeof *b->parts);
    b->failed = !b->parts || !choices;
    for (size_t i = 0; i < count && !b->failed; i++)
        if (choices[i].calls)
            add_image(b, &choices[i]);
        else
            b->left_out = true;
    free(choices);
}

static struct setting_file file_of(const struct image *image)
{
    return (struct setting_file){image_path(image), *image_build_id(image)};
}

static void find_together(struct building *b, const struct settings *settings)
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

static int by_caller(const void *a, const void *b)
{
    const struct static_edge *x = a, *y = b;
    return order_of(x->caller, y->caller) ?: order_of(x->rise, y->rise) ?: order_of(x->open, y->open)
        ?: order_of(x->through, y->through) ?: order_of(x->site, y->site);
}

/* The order of edges before by_caller(), as a number: by callee, those from fixed frames first, and of these those from STATIC_ROOT,
 * which is below the greatest number. (No trie has 2^31 functions.) */
static uint64_t callee_number(const struct static_edge *e)
{
    return (uint64_t)e->callee << 33 | (uint64_t)e->open << 32 | (e->caller + 2);
}

static uint64_t caller_number(const struct static_edge *e)
{
    return (uint64_t)e->caller << 32 | e->rise;
}

/* Sorts by a number and then by_caller(). There are millions of edges: each is moved once. */
static bool sort_edges(struct static_edge *edges, size_t count,
                       uint64_t (*number)(const struct static_edge *))
{
    struct static_edge *sorted = malloc((count + 1) * sizeof *sorted);
    struct sort_keyed *order = malloc((count + 1) * sizeof *order);
    for (size_t i = 0; order && i < count; i++)
        order[i] = (struct sort_keyed){number(&edges[i]), i};
    const bool good = sorted && order && sort_keyed(order, count);
    for (size_t i = 0, first = 0; good && i < count; i++) {
        sorted[i] = edges[order[i].place];
        if (i + 1 < count && order[i + 1].key == order[i].key)
            continue;
        if (i > first)
            qsort(sorted + first, i + 1 - first, sizeof *sorted, by_caller);
        first = i + 1;
    }
    if (good && count)
        memcpy(edges, sorted, count * sizeof *edges);
    free(sorted);
    free(order);
    return good;
}

bool statics_sort(struct statics *statics)
{
    bool good = sort_edges(statics->edges, statics->count, callee_number);
    for (size_t c = 0; good && c < statics->class_count; c++)
        good = sort_edges(statics->classes[c].edges, statics->classes[c].count, caller_number);
    return good;
}

int statics_build(struct trie *trie, const struct image_cache *images, struct image_calls *calls,
                  const struct settings *settings, const struct statics_need *need, struct work *work,
                  struct statics *out, struct fathom_error *err)
{
    struct building b = {.trie = trie, .work = work};
    open_parts(&b, images, calls, need);
    if (!b.failed)
        find_together(&b, settings);
    for (size_t i = 0; i < b.count && !b.failed; i++)
        add_part(&b, &b.parts[i]);
    for (size_t i = 0; i < b.count && !b.failed; i++)
        statics_add_starts(&b, &b.parts[i]);
    if (!b.failed)
        statics_add_classes(&b);
    for (size_t i = 0; i < b.count && !b.failed; i++)
        add_kinds(&b, &b.parts[i]);
    for (size_t i = 0; i < b.count; i++)
        free(b.parts[i].functions);
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
                            .thread_count = b.threads.count,
                            .left_out = b.left_out};
    if (!b.failed && statics_sort(out))
        return 0;
    statics_free(out);
    return error_memory(err);
}

void statics_free(struct statics *statics)
{
    for (size_t i = 0; i < statics->class_count; i++) {
        free(statics->classes[i].edges);
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

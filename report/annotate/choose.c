/* choose.c - see choose.h. */
#include "report/annotate/choose.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/cache.h"
#include "report/annotate/origin.h"

#define NAME_SIZE 16384u /* bytes; only this much of a longer name is compared */

struct choice {
    const struct contexts *contexts;
    const struct annotate_options *options;
    struct arena *arena; /* of names */
    struct table *known; /* hash of image and function, or of an inlined one's name -> index in `functions` */
    struct table *nodes; /* node -> 1 + whether its path matches */
    struct table *paths; /* node -> hash of its path's functions */
    struct table *ends;  /* hashes of the counted functions with their paths */
    struct chosen *functions;
    size_t count, capacity;
    bool by_name;
};

/* Whether a name begins with another one that is in the form of folded stacks, where ';' is ':'. */
static bool begins_with(const char *name, const char *wanted, size_t length)
{
    size_t i = 0;
    while (i < length && name[i] && (name[i] == wanted[i] || (name[i] == ';' && wanted[i] == ':')))
        i++;
    return i == length;
}

static bool is_name(const char *name, const char *wanted, size_t length)
{
    return begins_with(name, wanted, length) && !name[length];
}

/* The wanted path need not name inlined functions and lines. */
static bool may_be_skipped(const struct choice *c, const struct cct_node *node)
{
    enum frame_kind kind = frames_at(c->contexts->frames, node->item)->kind;
    return kind == FRAME_INLINED || kind == FRAME_LINE;
}

/* Whether the path that ends in a node ends with the wanted functions. */
static bool ends_with(const struct choice *c, const struct cct_node *node)
{
    const char *path = c->options->path, *end = path + strlen(path);
    for (;; node = cct_parent(node)) {
        const char *start = end;
        while (start > path && start[-1] != ';')
            start--;
        while (cct_parent(node) &&
               !is_name(frames_at(c->contexts->frames, node->item)->name, start, (size_t)(end - start)) &&
               may_be_skipped(c, node))
            node = cct_parent(node);
        if (!cct_parent(node) ||
            !is_name(frames_at(c->contexts->frames, node->item)->name, start, (size_t)(end - start)))
            return false;
        if (start == path)
            return true;
        end = start - 1;
    }
}

/* The same, cached for each node unless out of memory. */
static bool wanted_path(const struct choice *c, const struct cct_node *node)
{
    if (!c->options->path)
        return true;
    uint64_t *known = table_put(c->nodes, (uintptr_t)node, NULL);
    if (!known)
        return ends_with(c, node);
    if (!*known)
        *known = 1 + ends_with(c, node);
    return *known == 2;
}

/* Finds the functions inlined at an address, innermost first, each once. Returns their number. */
static size_t inlined_at(const struct choice *c, const struct image *image, uint64_t address,
                         const char *out[INLINED_MOST_SHOWN])
{
    const struct annotate_options *o = c->options;
    struct line_frame frames[INLINED_MOST_SHOWN];
    struct lines *lines = o->images && o->inlined ? image_cache_lines(o->images, image, o->inlined) : NULL;
    size_t count = lines ? lines_at(lines, address, frames, INLINED_MOST_SHOWN) : 0, found = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        size_t same = 0;
        while (same < found && out[same] != frames[i].function)
            same++;
        if (frames[i].function && same == found)
            out[found++] = frames[i].function;
    }
    return found;
}

bool choice_is_at(const struct choice *c, const struct chosen *function, uint64_t address)
{
    const char *inlined[INLINED_MOST_SHOWN];
    uint32_t at = image_function_at(function->image, address);
    if (!function->inlined)
        return at == function->function;
    if (at == IMAGE_NO_FUNCTION) /* debug information may cover code without symbol and FDE */
        return false;
    for (size_t i = inlined_at(c, function->image, address, inlined); i-- > 0;)
        if (inlined[i] == function->inlined)
            return true;
    return false;
}

bool choice_has(const struct choice *c, const struct chosen *function, const struct placed_sample *sample)
{
    return sample->image == function->image && choice_is_at(c, function, sample->address) &&
           wanted_path(c, sample->node);
}

static const char *name_of(struct choice *c, const struct image *image, uint32_t function,
                           const char *inlined)
{
    char *name = malloc(NAME_SIZE);
    if (!name)
        return NULL;
    if (inlined)
        snprintf(name, NAME_SIZE, "%s", inlined);
    else
        image_function_format(image, function, name, NAME_SIZE);
    text_clean(name);
    const char *kept = arena_strdup(c->arena, name);
    free(name);
    return kept;
}

/* A path without inlined functions. NULL: out of memory. */
static const uint64_t *path_of(struct choice *c, const struct cct_node *node)
{
    bool added;
    uint64_t *path = table_put(c->paths, (uintptr_t)node, &added);
    for (; path && added && cct_parent(node); node = cct_parent(node))
        if (!may_be_skipped(c, node))
            *path = hash_u64(*path + node->item + 1);
    return path;
}

/* Counts a sample for a function, or for an inlined one if it has a name. */
static bool count_sample(struct choice *c, size_t number, uint32_t function, const char *inlined)
{
    const struct placed_sample *s = &c->contexts->samples[number];
    bool added;
    uint64_t which = inlined ? (uintptr_t)inlined : (uint64_t)function + 1;
    uint64_t *place = table_put(c->known, hash_u64((uintptr_t)s->image) + hash_u64(which), &added);
    if (!place)
        return false;
    if (added) {
        struct chosen chosen = {.image = s->image,
                                .function = function,
                                .inlined = inlined,
                                .name = name_of(c, s->image, function, inlined)};
        *place = c->count;
        if (!chosen.name || !vec_push(c->functions, c->count, c->capacity, chosen))
            return false;
    }
    struct chosen *f = &c->functions[*place];
    const uint64_t *path = path_of(c, s->node);
    if (!path || !table_put(c->ends, hash_u64(*place + 1) + *path, &added))
        return false;
    f->contexts += added;
    f->samples++;
    f->weight = add_saturating(f->weight, c->contexts->sample_values[number * c->contexts->metrics->count]);
    return true;
}

/* Counts a sample for its function, and for the functions inlined there. */
static bool add_sample(struct choice *c, size_t number)
{
    const struct placed_sample *s = &c->contexts->samples[number];
    const char *inlined[INLINED_MOST_SHOWN];
    uint32_t function = s->image ? image_function_at(s->image, s->address) : IMAGE_NO_FUNCTION;
    if (function == IMAGE_NO_FUNCTION || !wanted_path(c, s->node))
        return true;
    bool good = count_sample(c, number, function, NULL);
    for (size_t i = inlined_at(c, s->image, s->address, inlined); i-- > 0 && good;)
        good = count_sample(c, number, IMAGE_NO_FUNCTION, inlined[i]);
    return good;
}

static int by_weight(const void *a, const void *b)
{
    const struct chosen *f = a, *g = b;
    return order_of(g->weight, f->weight) ?: order_of(!g->inlined, !f->inlined) ?: strcmp(f->name, g->name)
           ?: strcmp(image_path(f->image), image_path(g->image));
}

/* Compares with or without the arguments. */
static bool has_name(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    return begins_with(name, wanted, length) && (!name[length] || name[length] == '(');
}

/* Keeps only the matching functions. */
static int keep_meant(struct choice *c, struct fathom_error *err)
{
    const char *wanted = c->options->function;
    size_t kept = 0;
    if (!wanted)
        return 0;
    for (size_t i = 0; i < c->count; i++)
        if (has_name(c->functions[i].name, wanted))
            c->functions[kept++] = c->functions[i];
    c->by_name = kept > 0;
    if (kept == 0) {
        regex_t expression;
        if (regcomp(&expression, wanted, REG_EXTENDED | REG_NOSUB) != 0)
            return error_set(err, EINVAL,
                             "'%s' is neither the name of a sampled function nor a regular expression",
                             wanted);
        for (size_t i = 0; i < c->count; i++)
            if (regexec(&expression, c->functions[i].name, 0, NULL, 0) == 0)
                c->functions[kept++] = c->functions[i];
        regfree(&expression);
    }
    c->count = kept;
    if (kept > 0)
        return 0;
    return c->options->path ? error_set(err, ENOENT, "no sample is in '%s' at the end of a path '%s'", wanted,
                                        c->options->path)
                            : error_set(err, ENOENT, "no sample is in a function '%s'", wanted);
}

int choice_new(const struct contexts *contexts, const struct annotate_options *options, struct choice **out,
               struct fathom_error *err)
{
    struct choice *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    *c = (struct choice){.contexts = contexts,
                         .options = options,
                         .arena = arena_new(0),
                         .known = table_new(),
                         .nodes = table_new(),
                         .paths = table_new(),
                         .ends = table_new()};
    bool good = c->arena && c->known && c->nodes && c->paths && c->ends;
    for (size_t i = 0; i < contexts->sample_count && good; i++)
        good = add_sample(c, i);
    int rc = good ? keep_meant(c, err) : error_memory(err);
    if (rc < 0) {
        choice_free(c);
        return rc;
    }
    sort_with(c->functions, c->count, by_weight);
    *out = c;
    return 0;
}

void choice_free(struct choice *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    table_free(c->known);
    table_free(c->nodes);
    table_free(c->paths);
    table_free(c->ends);
    free(c->functions);
    free(c);
}

size_t choice_functions(const struct choice *c, const struct chosen **out)
{
    *out = c->functions;
    return c->count;
}

bool choice_is_by_name(const struct choice *c)
{
    return c->by_name;
}

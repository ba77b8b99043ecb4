/* admission.c - see admission.h. */
#include "infer/contexts/admission.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "infer/samples/starts.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

/* A setting in terms of the map. */
struct place_of {
    enum setting_start start;
    uint32_t called; /* PATHMAP_NONE: unknown */
    const bool *has; /* by the map's images: whether the file is mapped; NULL: all are */
    uint32_t alike;
};

struct admission {
    const struct pathmap *map;
    uint32_t functions, images, setting_count;
    uint32_t signal; /* the root of handlers on alternate stacks; PATHMAP_NONE: none in the map */
    struct place_of *places;
    bool *has;               /* one row per set of files, by the map's images */
    uint8_t *begins;         /* by function: which kinds of stack begin with it */
    struct table *own_calls; /* set of (first function of a thread << 32 | a function that its code calls) */
};

#define PROGRAM 1u
#define THREAD  2u
#define ONLY    4u /* and it occurs nowhere else */

static bool note_starts(struct admission *a, const struct statics *statics)
{
    for (size_t i = 0; i < statics->start_count; i++) {
        const struct static_start *start = &statics->starts[i];
        if (start->function < a->functions)
            a->begins[start->function] |=
                (start->start == SETTING_START_THREAD ? THREAD : PROGRAM) | (start->only ? ONLY : 0);
    }
    for (size_t i = 0; i < statics->count; i++) {
        const struct static_edge *e = &statics->edges[i];
        if (e->caller < a->functions && a->begins[e->caller] & THREAD && e->callee < a->functions &&
            !table_put(a->own_calls, (uint64_t)e->caller << 32 | e->callee, NULL))
            return false;
    }
    return true;
}

/* Finds which of the map's images are in which sets. */
static bool find_files(struct admission *a, const struct settings *settings)
{
    uint32_t sets = settings_sets(settings);
    a->has = calloc((size_t)sets * a->images + 1, sizeof *a->has);
    for (uint32_t set = 0; a->has && set < sets; set++) {
        for (uint32_t i = 0; i < a->images; i++) {
            struct pathmap_image image = pathmap_image(a->map, i);
            a->has[(size_t)set * a->images + i] =
                set == 0 || partial_is_image(image.path) ||
                settings_set_has(settings, set, image.path, &image.build_id);
        }
    }
    return a->has;
}

static bool same_place(const struct admission *a, const struct place_of *x, const struct place_of *y)
{
    return x->start == y->start && x->called == y->called &&
           memcmp(x->has, y->has, a->images * sizeof *x->has) == 0;
}

/* Converts settings to places and identifies equivalent ones. */
static bool place_settings(struct admission *a, const struct settings *settings)
{
    struct table *first = table_new(); /* hash of a place -> index of the first such place */
    bool good = first;
    for (uint32_t i = 0; good && i < a->setting_count; i++) {
        struct setting setting = settings_at(settings, i);
        struct place_of *place = &a->places[i];
        place->start = setting.start;
        place->called = setting.called < a->functions ? setting.called : PATHMAP_NONE;
        place->has = a->has + (size_t)setting.files * a->images;
        place->alike = i;
        uint64_t hash = hash_u64((uint64_t)place->called << 32 | place->start);
        for (uint32_t k = 0; k < a->images; k++)
            hash = hash_u64(hash ^ place->has[k]);
        bool added;
        uint64_t *value = table_put(first, hash, &added);
        good = value;
        if (good && added)
            *value = i;
        else if (good && i != SETTING_ANY && same_place(a, place, &a->places[*value]))
            place->alike = a->places[*value].alike;
    }
    table_free(first);
    return good;
}

static bool fill_admission(struct admission *a, const struct settings *settings,
                           const struct statics *statics)
{
    a->places = calloc((size_t)a->setting_count + 1, sizeof *a->places);
    a->begins = calloc((size_t)a->functions + 1, sizeof *a->begins);
    a->own_calls = table_new();
    return a->places && a->begins && a->own_calls && (!statics || note_starts(a, statics)) &&
           find_files(a, settings) && place_settings(a, settings);
}

struct admission *admission_new(const struct settings *settings, const struct pathmap *map,
                                const struct statics *statics)
{
    struct admission *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->map = map;
    a->functions = pathmap_function_count(map);
    a->images = pathmap_image_count(map);
    a->setting_count = settings_count(settings);
    const uint32_t signal = partial_find(map, PARTIAL_SIGNAL);
    a->signal = signal == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, signal).function;
    return whole_or_free(a, fill_admission(a, settings, statics), admission_free);
}

void admission_free(struct admission *a)
{
    if (!a)
        return;
    free(a->places);
    free(a->has);
    free(a->begins);
    table_free(a->own_calls);
    free(a);
}

uint32_t admission_alike(const struct admission *a, uint32_t setting)
{
    return setting < a->setting_count ? a->places[setting].alike : SETTING_ANY;
}

bool admission_has(const struct admission *a, uint32_t setting, uint32_t function)
{
    uint32_t image = function < a->functions ? pathmap_function(a->map, function).image : PATHMAP_NONE;
    return image < a->images && a->places[setting].has[image];
}

bool admission_begins(const struct admission *a, uint32_t setting, uint32_t function, uint32_t height)
{
    uint8_t begins = a->begins[function];
    switch (a->places[setting].start) {
    case SETTING_START_PROGRAM:
        return begins ? begins & PROGRAM : height != STARTS_THREAD;
    case SETTING_START_THREAD:
        return begins ? begins & THREAD : height != STARTS_START;
    case SETTING_START_OTHER:
        return !begins && height != STARTS_START;
    default:
        return true;
    }
}

bool admission_calls(const struct admission *a, uint32_t setting, uint32_t caller)
{
    return a->places[setting].called == PATHMAP_NONE || !(a->begins[caller] & THREAD);
}

/* Whether a handler can be outermost at this height. A thread's own stack may contain an alternate one, on which handlers have
 * other heights. */
static bool can_handle(const struct admission *a, uint32_t setting, uint32_t height)
{
    const enum setting_start start = a->places[setting].start;
    return height != UNWIND_SIGNAL_HEIGHT ||
           (start != SETTING_START_PROGRAM && start != SETTING_START_THREAD);
}

bool admission_fits(const struct admission *a, uint32_t setting, uint32_t function, uint32_t height,
                    uint32_t caller)
{
    if (setting == SETTING_ANY)
        return true;
    if (!admission_has(a, setting, function))
        return false;
    if (caller >= a->functions)
        return admission_begins(a, setting, function, height);
    if (caller == a->signal)
        return can_handle(a, setting, height);
    return !(a->begins[function] & ONLY) &&
           (function == a->places[setting].called || admission_calls(a, setting, caller) ||
            table_find(a->own_calls, (uint64_t)caller << 32 | function));
}

/* Whether the setting allows the node below its parent, which is stored in *parent. */
static bool node_fits(const struct admission *a, uint32_t setting, const struct pathmap_node *node,
                      struct pathmap_node *parent)
{
    *parent = pathmap_node(a->map, node->parent);
    return admission_fits(a, setting, node->function, node->height, parent->function);
}

bool admission_allows(const struct admission *a, uint32_t setting, uint32_t node)
{
    struct pathmap_node n = pathmap_node(a->map, node), parent;
    bool good = true;
    for (bool more = node != PATHMAP_NONE; good && more; n = parent) {
        more = n.parent != PATHMAP_NONE;
        good = node_fits(a, setting, &n, &parent);
    }
    return good;
}

bool *admission_nodes(const struct admission *a, uint32_t setting)
{
    uint32_t nodes = pathmap_node_count(a->map);
    bool *allowed = malloc(((size_t)nodes + 1) * sizeof *allowed);
    uint8_t *known = calloc((size_t)nodes + 1, sizeof *known);
    for (uint32_t i = 0; allowed && known && i < nodes; i++) {
        bool good = true;
        uint32_t end = i;
        struct pathmap_node n = pathmap_node(a->map, i), parent;
        for (; end != PATHMAP_NONE && !known[end] && good; n = parent) {
            end = n.parent;
            good = node_fits(a, setting, &n, &parent);
        }
        good = good && (end == PATHMAP_NONE || allowed[end]);
        /* If the answer is yes, it holds for all nodes from i outwards to the first known one. */
        for (uint32_t at = i; good && at != end; at = pathmap_node(a->map, at).parent) {
            allowed[at] = true;
            known[at] = true;
        }
        if (!good) {
            allowed[i] = false;
            known[i] = true;
        }
    }
    free(known);
    return whole_or_free(allowed, known, free);
}

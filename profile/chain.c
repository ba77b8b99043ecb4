/* chain.c - see chain.h. */
#include "profile/chain.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/samples/locate.h"
#include "pathmap/map/partial.h"

#define NO_BIAS 1ull /* a bias is a multiple of the page size */

struct place_of { /* a function of the map */
    bool sought;
    struct image *image; /* NULL: in no file that can be read */
    uint32_t index;
};

struct chains {
    struct image_cache *images;
    const struct pathmap *map;
    struct place_of *places; /* by function */
    struct table *biases;    /* hash of mappings and image -> its load bias */
    uint64_t *addresses;
    size_t count, capacity;
    uint64_t left_out;
};

struct chains *chains_new(struct image_cache *images, const struct pathmap *map)
{
    struct chains *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->images = images;
    c->map = map;
    c->places = calloc(pathmap_function_count(map) + 1ul, sizeof *c->places);
    c->biases = table_new();
    return whole_or_free(c, c->places && c->biases, chains_free);
}

void chains_free(struct chains *c)
{
    if (!c)
        return;
    table_free(c->biases);
    free(c->places);
    free(c->addresses);
    free(c);
}

uint64_t chains_left_out(const struct chains *c)
{
    return c->left_out;
}

static uint64_t find_bias(const struct process *process, const struct image *image)
{
    const struct build_id *id;
    const struct mapping *m;
    uint64_t bias;
    process_open_all(process);
    for (size_t i = 0; (m = process_mapping_at(process, i, &id)); i++)
        if (m->image == image && image_bias(image, m->offset, m->start, &bias))
            return bias;
    return NO_BIAS;
}

/* false: out of memory. */
static bool bias_of(struct chains *c, const struct process *process, const struct image *image, uint64_t *out)
{
    bool added;
    uint64_t key = hash_u64(process_state(process) + hash_u64((uintptr_t)image));
    uint64_t *known = table_put(c->biases, key, &added);
    if (!known)
        return false;
    if (added)
        *known = find_bias(process, image);
    *out = *known;
    return true;
}

/* Appends the address in a function of the map where it calls, or its own. site: its return address in its image; 0: unknown.
 * false: out of memory. */
static bool append_caller(struct chains *c, const struct process *process, uint32_t function, uint64_t site)
{
    if (function >= pathmap_function_count(c->map)) /* the map is damaged */
        return true;
    struct place_of *place = &c->places[function];
    if (!place->sought) {
        place->sought = true;
        if (!locate_function(c->images, c->map, function, &place->image, &place->index))
            place->image = NULL;
    }
    uint64_t bias = NO_BIAS;
    if (place->image && !bias_of(c, process, place->image, &bias))
        return false;
    if (bias == NO_BIAS) {
        struct pathmap_function f = pathmap_function(c->map, function);
        c->left_out += !partial_is_image(pathmap_image(c->map, f.image).path);
        return true;
    }
    bool inside = site && image_function_at(place->image, site - 1) == place->index;
    uint64_t address = inside ? site - 1 : image_function(place->image, place->index)->address + 1;
    return vec_push(c->addresses, c->count, c->capacity, bias + address);
}

static bool append_leaf(struct chains *c, const struct sample *sample, bool user)
{
    bool kernel = sample->ip >= KERNEL_ADDRESSES;
    if (!vec_reserve(c->addresses, c->count, c->capacity, 4))
        return false;
    if (kernel) {
        c->addresses[c->count++] = PERF_CONTEXT_KERNEL;
        c->addresses[c->count++] = sample->ip;
    }
    if (!kernel || user) {
        c->addresses[c->count++] = PERF_CONTEXT_USER;
        c->addresses[c->count++] = kernel ? sample->reg_ip : sample->ip;
    }
    return true;
}

int chains_find(struct chains *c, const struct process *process, const struct sample *sample, uint32_t node,
                struct fathom_error *err)
{
    c->count = 0;
    bool good = append_leaf(c, sample, node != PATHMAP_NONE);
    while (good && process && node != PATHMAP_NONE) {
        struct pathmap_node inner = pathmap_node(c->map, node);
        node = inner.parent;
        if (node != PATHMAP_NONE)
            good = append_caller(c, process, pathmap_node(c->map, node).function, inner.site);
    }
    return good ? 0 : error_memory(err);
}

int chains_add(struct chains *c, uint64_t address, struct fathom_error *err)
{
    return vec_push(c->addresses, c->count, c->capacity, address) ? 0 : error_memory(err);
}

const uint64_t *chains_found(const struct chains *c, size_t *count)
{
    *count = c->count;
    return c->addresses;
}

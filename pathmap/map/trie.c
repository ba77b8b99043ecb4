/* trie.c - see trie.h. */
#include "pathmap/map/trie.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "pathmap/map/partial.h"
#include "pathmap/map/trie_data.h"

struct trie *trie_new(void)
{
    struct trie *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->names = names_new();
    t->pcs = table_new();
    t->node_capacity = 64;
    t->nodes = malloc(t->node_capacity * sizeof *t->nodes);
    if (!t->names || !t->pcs || !t->nodes || !edges_init(&t->edges, t->node_capacity) ||
        !numbers_init(&t->by_address) || !numbers_init(&t->by_build)) {
        trie_free(t);
        return NULL;
    }
    t->nodes[TRIE_ROOT] = (struct trie_node){.parent = TRIE_NONE, .function = TRIE_NONE};
    t->node_count = 1;
    return t;
}

void trie_free(struct trie *t)
{
    if (!t)
        return;
    names_free(t->names);
    table_free(t->pcs);
    edges_clear(&t->edges);
    numbers_clear(&t->by_address);
    numbers_clear(&t->by_build);
    free(t->nodes);
    free(t->functions);
    free(t->images);
    free(t);
}

uint32_t trie_image(struct trie *t, const char *path, const struct build_id *id)
{
    struct build_id none = {0};
    if (!id)
        id = &none;
    uint32_t hash = (uint32_t)(id->size ? checksum_of(id->bytes, id->size) : checksum_of(path, strlen(path)));
    size_t cursor = 0;
    for (uint32_t i; (i = numbers_next(&t->by_build, hash, &cursor)) != NUMBERS_NONE;) {
        const struct trie_image *image = &t->images[i];
        if (id->size ? build_id_equal(&image->build_id, id)
                     : !image->build_id.size && strcmp(names_text(t->names, image->path), path) == 0)
            return i;
    }
    uint32_t name = names_intern(t->names, path);
    if (name == NAMES_NONE || !vec_reserve(t->images, t->image_count, t->image_capacity, 1) ||
        !numbers_put(&t->by_build, hash, t->image_count))
        return TRIE_NONE;
    t->images[t->image_count] = (struct trie_image){.build_id = *id, .path = name};
    return t->image_count++;
}

uint32_t trie_image_count(const struct trie *t)
{
    return t->image_count;
}

const char *trie_image_path(const struct trie *t, uint32_t number, struct build_id *id)
{
    *id = t->images[number].build_id;
    return names_text(t->names, t->images[number].path);
}

void trie_set_hooked(struct trie *t, uint32_t image)
{
    t->images[image].hooked = t->images[image].entered = true;
    t->any_hooked = true;
}

void trie_set_entered(struct trie *t, uint32_t image)
{
    t->images[image].entered = true;
}

void trie_leave_out(struct trie *t)
{
    t->leaves_out = true;
}

bool trie_covers(const struct trie *t, uint32_t image)
{
    struct build_id id;
    return !t->leaves_out || !t->any_hooked || t->images[image].hooked ||
           partial_is_image(trie_image_path(t, image, &id));
}

bool trie_keeps_sites(const struct trie *t, uint32_t image)
{
    return !t->any_hooked || t->images[image].hooked;
}

static uint32_t function_hash(uint32_t image, uint64_t address)
{
    return (uint32_t)hash_u64(address ^ (uint64_t)image << 48);
}

uint32_t trie_find_function(const struct trie *t, uint32_t image, uint64_t address)
{
    uint32_t hash = function_hash(image, address), i;
    size_t cursor = 0;
    while ((i = numbers_next(&t->by_address, hash, &cursor)) != NUMBERS_NONE &&
           (t->functions[i].address != address || t->functions[i].image != image))
        ;
    return i == NUMBERS_NONE ? TRIE_NONE : i;
}

uint32_t trie_function(struct trie *t, uint32_t image, uint64_t address, const char *name)
{
    uint32_t known = trie_find_function(t, image, address);
    bool unnamed = known == TRIE_NONE || t->functions[known].name == NAMES_NONE;
    uint32_t text = unnamed && name && *name ? names_intern(t->names, name) : NAMES_NONE;
    if (known != TRIE_NONE) {
        if (unnamed)
            t->functions[known].name = text;
        return known;
    }
    if (image >= t->image_count || !vec_reserve(t->functions, t->function_count, t->function_capacity, 1) ||
        !numbers_put(&t->by_address, function_hash(image, address), t->function_count))
        return TRIE_NONE;
    t->functions[t->function_count] = (struct trie_function){address, image, text};
    return t->function_count++;
}

static uint32_t hash_of(const struct trie_node *key)
{
    uint64_t edge = hash_u64((uint64_t)key->parent << 32 | key->function);
    return (uint32_t)hash_u64(edge ^ ((uint64_t)key->height << 32 | key->site));
}

/* Grows the trie to hold `capacity` nodes. false: out of memory. */
static bool nodes_grow(struct trie *t, uint32_t capacity)
{
    struct edges bigger;
    struct trie_node *nodes = realloc(t->nodes, capacity * sizeof *nodes);
    if (!nodes)
        return false;
    t->nodes = nodes;
    if (!edges_init(&bigger, capacity))
        return false; /* nodes has more capacity than node_capacity says, which is harmless */
    for (uint32_t i = 1; i < t->node_count; i++)
        edges_put(&bigger, nodes[i].parent, hash_of(&nodes[i]), i);
    edges_clear(&t->edges);
    t->edges = bigger;
    t->node_capacity = capacity;
    return true;
}

static bool nodes_reserve(struct trie *t)
{
    if (t->node_count < t->node_capacity)
        return true;
    return t->node_count < TRIE_NONE &&
           nodes_grow(t, t->node_capacity > TRIE_NONE / 2 ? TRIE_NONE : t->node_capacity * 2);
}

void trie_reserve(struct trie *t, uint32_t count)
{
    if (count > t->node_capacity - t->node_count && count < TRIE_NONE - t->node_count)
        nodes_grow(t, t->node_count + count);
}

static bool node_is(const struct trie_node *node, const struct trie_node *key)
{
    return node->parent == key->parent && node->function == key->function && node->height == key->height &&
           node->site == key->site;
}

uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t function, uint32_t height, uint64_t site)
{
    if (parent >= t->node_count || function >= t->function_count ||
        (parent != TRIE_ROOT && height <= t->nodes[parent].height))
        return TRIE_NONE;
    struct trie_node key = {parent, function, height, site > UINT32_MAX ? 0 : (uint32_t)site, 0, 0};
    uint32_t hash = hash_of(&key), i;
    size_t cursor = 0;
    while ((i = edges_next(&t->edges, parent, hash, &cursor)) != EDGES_NONE && !node_is(&t->nodes[i], &key))
        ;
    if (i != EDGES_NONE)
        return i;
    if (!nodes_reserve(t))
        return TRIE_NONE;
    i = t->node_count++;
    t->nodes[i] = key;
    edges_put(&t->edges, parent, hash, i);
    return i;
}

void trie_add(struct trie *t, uint32_t node, uint64_t passes, uint64_t self)
{
    if (node == TRIE_ROOT || node >= t->node_count)
        return;
    t->nodes[node].passes = add_saturating(t->nodes[node].passes, passes);
    t->nodes[node].self = add_saturating(t->nodes[node].self, self);
}

uint64_t trie_self(const struct trie *t, uint32_t node)
{
    return t->nodes[node].self;
}

void trie_add_path(struct trie *trie, uint32_t node)
{
    trie_add(trie, node, 0, 1);
    for (; node != TRIE_ROOT; node = trie->nodes[node].parent)
        trie_add(trie, node, 1, 0);
}

uint32_t trie_height(const struct trie *trie, uint32_t node)
{
    return trie->nodes[node].height;
}

bool trie_same_functions(const struct trie *trie, uint32_t a, uint32_t b)
{
    while (a != b && a != TRIE_ROOT && b != TRIE_ROOT) {
        if (trie->nodes[a].function != trie->nodes[b].function ||
            trie->nodes[a].height != trie->nodes[b].height)
            return false;
        a = trie->nodes[a].parent;
        b = trie->nodes[b].parent;
    }
    return a == b;
}

uint32_t trie_function_at(const struct trie *trie, uint32_t number, uint64_t *address, const char **name)
{
    const struct trie_function *f = &trie->functions[number];
    *address = f->address;
    *name = f->name == NAMES_NONE ? NULL : names_text(trie->names, f->name);
    return f->image;
}

int trie_path(const struct trie *trie, uint32_t node, uint32_t **functions, size_t *capacity)
{
    size_t depth = 0;
    for (uint32_t n = node; n != TRIE_ROOT; n = trie->nodes[n].parent)
        depth++;
    if (!vec_reserve(*functions, 0, *capacity, depth))
        return -ENOMEM;
    size_t at = depth;
    for (uint32_t n = node; n != TRIE_ROOT; n = trie->nodes[n].parent)
        (*functions)[--at] = trie->nodes[n].function;
    return (int)depth;
}

bool trie_at_height(const struct trie *t, uint32_t node, uint32_t height, uint32_t *parent, uint64_t *site)
{
    for (; node != TRIE_ROOT; node = t->nodes[node].parent) {
        const struct trie_node *n = &t->nodes[node];
        if (n->height <= height) {
            *parent = n->parent;
            *site = n->site;
            return n->height == height;
        }
    }
    return false;
}

uint32_t trie_above(const struct trie *t, uint32_t node, uint64_t depth, uint32_t *function)
{
    while (node != TRIE_ROOT && t->nodes[node].height >= depth)
        node = t->nodes[node].parent;
    *function = t->nodes[node].function;
    return node == TRIE_ROOT ? TRIE_NONE : node;
}

bool trie_add_pc(struct trie *t, uint32_t node, uint32_t offset, uint64_t samples)
{
    uint64_t *place = table_put(t->pcs, (uint64_t)node << 32 | offset, NULL);
    if (!place)
        return false;
    *place = add_saturating(*place, samples);
    return true;
}

uint32_t trie_function_count(const struct trie *t)
{
    return t->function_count;
}

uint32_t trie_node_count(const struct trie *t)
{
    return t->node_count;
}

bool trie_copy_functions(struct trie *t, const struct trie *from)
{
    bool good = true;
    t->leaves_out = from->leaves_out;
    for (uint32_t i = 0; good && i < from->image_count; i++) {
        const struct trie_image *image = &from->images[i];
        good = trie_image(t, names_text(from->names, image->path), &image->build_id) == i;
        if (good && image->entered)
            trie_set_entered(t, i);
        if (good && image->hooked)
            trie_set_hooked(t, i);
    }
    for (uint32_t i = 0; good && i < from->function_count; i++) {
        uint64_t address;
        const char *name;
        uint32_t image = trie_function_at(from, i, &address, &name);
        good = trie_function(t, image, address, name) == i;
    }
    return good;
}

uint32_t trie_copy_node(struct trie *t, const struct trie *from, uint32_t node, uint32_t *copies)
{
    uint32_t above = node, below = TRIE_NONE;
    while (above != TRIE_ROOT && copies[above] == TRIE_NONE) { /* meanwhile copies[] stores the way back */
        copies[above] = below;
        below = above;
        above = from->nodes[above].parent;
    }
    uint32_t parent = above == TRIE_ROOT ? TRIE_ROOT : copies[above];
    while (below != TRIE_NONE) {
        const struct trie_node *n = &from->nodes[below];
        const uint32_t next = copies[below];
        if (parent != TRIE_NONE)
            parent = trie_child(t, parent, n->function, n->height, n->site);
        copies[below] = parent;
        below = next;
    }
    return parent;
}

struct trie_statistics *trie_statistics(struct trie *t)
{
    return &t->statistics;
}

/* pathmap.c - queries on an open map; see pathmap.h. Opening is in open.c. */
#include "pathmap/map/pathmap.h"

#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/name.h"
#include "pathmap/map/map_data.h"

/* A string in the file: the section ends with a NUL, so a string starts at any offset in it. "" if the offset
 * is outside. */
static const char *map_text(const struct pathmap *map, uint32_t offset)
{
    return offset < map->strings_size ? map->strings + offset : "";
}

uint32_t pathmap_image_count(const struct pathmap *map)
{
    return map->trie ? map->trie->image_count : map->image_count;
}

static struct pathmap_image trie_image_at(const struct trie *trie, uint32_t index)
{
    const struct trie_image *from = &trie->images[index];
    return (struct pathmap_image){from->hooked, from->entered, names_text(trie->names, from->path),
                                  from->build_id};
}

struct pathmap_image pathmap_image(const struct pathmap *map, uint32_t index)
{
    struct pathmap_image image = {.path = ""};
    if (index >= pathmap_image_count(map))
        return image;
    if (map->trie)
        return trie_image_at(map->trie, index);
    const struct fmap_image *from = &map->images[index];
    image.path = map_text(map, from->path);
    image.hooked = from->hooked != 0;
    image.entered = image.hooked || from->entered;
    image.build_id = build_id_of(from->build_id, from->build_id_size);
    return image;
}

bool pathmap_sampled(const struct pathmap *map)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (map->nodes[i].self)
            return true;
    }
    return false;
}

bool pathmap_hooked(const struct pathmap *map)
{
    bool any = map->trie && map->trie->any_hooked;
    for (uint32_t i = 0; i < map->image_count; i++)
        any |= map->images[i].hooked != 0;
    return any;
}

bool pathmap_leaves_out(const struct pathmap *map)
{
    return (map->trie ? map->trie->leaves_out : map->version < FMAP_VERSION) && pathmap_hooked(map);
}

bool pathmap_covers(const struct pathmap *map, uint32_t index)
{
    return index < pathmap_image_count(map) && (pathmap_image(map, index).hooked || !pathmap_hooked(map));
}

uint32_t pathmap_function_count(const struct pathmap *map)
{
    return map->function_count;
}

struct pathmap_function pathmap_function(const struct pathmap *map, uint32_t index)
{
    if (index >= map->function_count)
        return (struct pathmap_function){.image = PATHMAP_NONE};
    if (map->trie) {
        const struct trie_function *known = &map->trie->functions[index];
        const char *text = known->name == NAMES_NONE ? NULL : names_text(map->trie->names, known->name);
        return (struct pathmap_function){known->image, known->address, text};
    }
    const struct fmap_function *from = &map->functions[index];
    const char *name = map_text(map, from->name);
    return (struct pathmap_function){
        .image = from->image < map->image_count ? from->image : PATHMAP_NONE,
        .address = from->address,
        .name = *name ? name : NULL,
    };
}

uint32_t pathmap_node_count(const struct pathmap *map)
{
    return map->node_count;
}

uint32_t pathmap_path_count(const struct pathmap *map)
{
    return map->path_count;
}

bool pathmap_node_sound(const struct pathmap *map, uint32_t index)
{
    if (index >= map->node_count)
        return false;
    if (map->trie)
        return true; /* trie_child() saw to it; the parent's memory need not be touched */
    const struct fmap_node *node = &map->nodes[index];
    return node->function < map->function_count &&
           (node->parent == FMAP_NONE ||
            (node->parent < map->node_count && map->nodes[node->parent].height < node->height));
}

struct pathmap_node pathmap_node(const struct pathmap *map, uint32_t index)
{
    if (index >= map->node_count)
        return (struct pathmap_node){.parent = PATHMAP_NONE, .function = PATHMAP_NONE};
    const struct fmap_node *from = &map->nodes[index];
    bool sound = pathmap_node_sound(map, index);
    return (struct pathmap_node){
        .parent = sound ? from->parent : PATHMAP_NONE,
        .function = from->function < map->function_count ? from->function : PATHMAP_NONE,
        .height = from->height,
        .path = map->paths[index],
        .site = from->site,
        .passes = from->passes,
        .self = from->self,
    };
}

struct trie_statistics pathmap_statistics(const struct pathmap *map)
{
    return map->statistics;
}

uint32_t pathmap_trials(const struct pathmap *map, const struct trial **out)
{
    *out = map->trials.at;
    return map->trials.count;
}

const char *pathmap_function_name(const struct pathmap *map, uint32_t index, char *out, size_t size)
{
    const struct pathmap_function f = pathmap_function(map, index);
    name_format(pathmap_image(map, f.image).path, f.name, f.address, out, size);
    return out;
}

uint32_t pathmap_find_function(const struct pathmap *map, uint32_t image, uint64_t address)
{
    if (map->trie) {
        uint32_t known = trie_find_function(map->trie, image, address);
        return known < map->function_count ? known : PATHMAP_NONE;
    }
    const struct fmap_function *all = map->functions;
    uint32_t first = lower_bound(i, 0, map->function_count,
                                 all[i].image < image || (all[i].image == image && all[i].address < address));
    bool found = first < map->function_count && all[first].image == image && all[first].address == address;
    return found ? first : PATHMAP_NONE;
}

uint32_t pathmap_find_image(const struct pathmap *map, const char *path, const struct build_id *id,
                            bool *stale)
{
    bool same_path = false;
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        bool same = strcmp(image.path, path) == 0;
        if (!id ? same : id->size ? build_id_equal(&image.build_id, id) : same && !image.build_id.size) {
            if (stale)
                *stale = false;
            return i;
        }
        same_path |= same;
    }
    if (stale)
        *stale = same_path;
    return PATHMAP_NONE;
}

/* How many of the nodes first .. first + count - 1 exist in the map. */
static uint32_t run_within(const struct pathmap *map, uint32_t first, uint32_t count)
{
    if (first >= map->node_count)
        return 0;
    return count < map->node_count - first ? count : map->node_count - first;
}

uint32_t pathmap_find(const struct pathmap *map, uint32_t function, uint32_t height, uint32_t *first)
{
    uint64_t slot = fmap_slot(function, height, map->index_entries);
    for (uint32_t tries = 0; tries < map->index_entries; tries++) {
        const struct fmap_cid *cid = &map->index[slot];
        if (!cid->count)
            return 0;
        if (cid->function == function && cid->height == height) {
            uint32_t count = run_within(map, cid->first, cid->count);
            if (count)
                *first = cid->first;
            return count;
        }
        if (++slot == map->index_entries)
            slot = 0;
    }
    return 0;
}

uint32_t pathmap_function_nodes(const struct pathmap *map, uint32_t function, uint32_t *first)
{
    *first = 0;
    if (function >= map->function_count)
        return 0;
    uint32_t from = map->function_nodes[function], to = map->function_nodes[function + 1];
    uint32_t count = to > from ? run_within(map, from, to - from) : 0;
    if (count)
        *first = from;
    return count;
}

int pathmap_path(const struct pathmap *map, uint32_t node, uint32_t *functions, size_t max)
{
    size_t depth = 0;
    for (uint32_t at = node; at != FMAP_NONE; at = map->nodes[at].parent) {
        if (!pathmap_node_sound(map, at))
            return -EBADMSG;
        depth++;
    }
    size_t kept = depth < max ? depth : max;
    for (uint32_t at = node; kept; at = map->nodes[at].parent)
        functions[--kept] = map->nodes[at].function;
    return depth > INT32_MAX ? INT32_MAX : (int)depth;
}

uint32_t pathmap_unseen(const struct pathmap *map, uint32_t node, uint32_t *calls)
{
    uint64_t met[PATHMAP_CALLS];
    uint32_t frames = 0;
    *calls = 0;
    for (; node != PATHMAP_NONE; frames++) {
        struct pathmap_node n = pathmap_node(map, node);
        if (pathmap_node_seen(&n))
            break;
        node = n.parent;
        uint32_t caller = node == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, node).function, i = *calls;
        uint64_t call = (uint64_t)caller << 32 | n.function;
        while (i > 0 && met[i - 1] != call)
            i--;
        if (i == 0 && *calls < PATHMAP_CALLS)
            met[(*calls)++] = call;
    }
    return frames;
}

int pathmap_read_path(const struct pathmap *map, uint32_t node, uint32_t **functions, size_t *capacity,
                      struct fathom_error *err)
{
    int depth = pathmap_path(map, node, *functions, *capacity);
    if (depth > 0 && (size_t)depth > *capacity) {
        if (!vec_reserve(*functions, 0, *capacity, (size_t)depth))
            return error_memory(err);
        depth = pathmap_path(map, node, *functions, *capacity);
    }
    return depth < 0 ? error_set(err, EBADMSG, "the map is damaged: a path in it does not end") : depth;
}

/* The first PC whose node number is at least `node`. */
static uint32_t first_pc(const struct pathmap *map, uint32_t node)
{
    return lower_bound(i, 0, map->pc_count, map->pcs[i].node < node);
}

uint32_t pathmap_pcs(const struct pathmap *map, uint32_t node, uint32_t *first)
{
    *first = first_pc(map, node);
    uint32_t count = 0;
    while (count < map->pc_count - *first && map->pcs[*first + count].node == node)
        count++;
    return count;
}

struct pathmap_pc pathmap_pc(const struct pathmap *map, uint32_t number)
{
    struct pathmap_pc pc = {0};
    if (number < map->pc_count)
        pc = (struct pathmap_pc){map->pcs[number].offset, map->pcs[number].samples};
    return pc;
}

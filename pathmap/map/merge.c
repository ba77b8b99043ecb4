/*
 * merge.c - merges a finished map's paths and counts into a trie.
 *
 * Images are equal if their build-ids are, so maps made on different machines can be merged. The whole map is
 * checked before the trie is modified: a damaged one adds nothing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie_data.h"

static int map_check(const struct pathmap *map, struct fathom_error *err)
{
    for (uint32_t i = 0; i < pathmap_function_count(map); i++) {
        if (pathmap_function(map, i).image == PATHMAP_NONE)
            return error_set(err, EBADMSG, "function %u of the path map is in no image: the map is damaged",
                             i);
    }
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        if (!pathmap_node_sound(map, i))
            return error_set(err, EBADMSG, "node %u of the path map is unsound: the map is damaged", i);
    }
    return 0;
}

bool trie_adopt_images(struct trie *trie, const struct pathmap *map)
{
    if (pathmap_leaves_out(map))
        trie_leave_out(trie);
    for (uint32_t i = 0; i < pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        uint32_t number = trie_image(trie, image.path, &image.build_id);
        if (number == TRIE_NONE)
            return false;
        if (image.hooked)
            trie_set_hooked(trie, number);
        if (image.entered)
            trie_set_entered(trie, number);
    }
    return true;
}

/* Maps the map's function numbers to the trie's, adding missing functions. */
static bool functions_add(struct trie *trie, const struct pathmap *map, uint32_t *numbers)
{
    for (uint32_t i = 0; i < pathmap_function_count(map); i++) {
        struct pathmap_function function = pathmap_function(map, i);
        struct pathmap_image image = pathmap_image(map, function.image);
        uint32_t number = trie_image(trie, image.path, &image.build_id);
        if (number != TRIE_NONE)
            number = trie_function(trie, number, function.address, function.name);
        if (number == TRIE_NONE)
            return false;
        numbers[i] = number;
    }
    return true;
}

/* Whether every call of the node was already counted in the trie before the merge, so that samples whose
 * walks pass through it must not add to its passes. */
static bool is_counted(const struct trie *trie, uint32_t node, uint32_t before, struct pathmap_image image)
{
    return node < before && !image.hooked &&
           trie->images[trie->functions[trie->nodes[node].function].image].hooked;
}

/* Whether a child of `parent` that was called by `caller` has a call site: if the calling frame is left out,
 * there is none in the parent. */
static bool keeps_site(const struct trie *trie, uint32_t parent, uint32_t caller)
{
    return parent == caller && trie_keeps_sites(trie, trie->functions[trie->nodes[parent].function].image);
}

/* Enters each node after its parent: nodes are sorted by CID, so outer frames that have not been entered yet
 * are collected in `pending` first. A node of an image that the trie covers goes below its nearest covered
 * ancestor; `covered` holds, for each node, the nearest one, counting the node itself. All arrays have one
 * element per node of the map. */
static bool nodes_add(struct trie *trie, const struct pathmap *map, const uint32_t *functions,
                      uint32_t *numbers, uint32_t *covered, uint32_t *pending)
{
    uint32_t count = pathmap_node_count(map), before = trie_node_count(trie);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = TRIE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = 0;
        for (uint32_t at = i; at != PATHMAP_NONE && numbers[at] == TRIE_NONE;
             at = pathmap_node(map, at).parent)
            pending[n++] = at;
        while (n) {
            uint32_t at = pending[--n];
            struct pathmap_node node = pathmap_node(map, at);
            bool outermost = node.parent == PATHMAP_NONE;
            bool covers = trie_covers(trie, trie->functions[functions[node.function]].image);
            uint32_t above = outermost ? TRIE_ROOT : covered[node.parent];
            uint32_t parent = covers || outermost ? above : numbers[node.parent];
            bool called = outermost || keeps_site(trie, parent, numbers[node.parent]);
            numbers[at] =
                trie_child(trie, parent, functions[node.function], node.height, called ? node.site : 0);
            if (numbers[at] == TRIE_NONE)
                return false;
            covered[at] = covers ? numbers[at] : above;
            struct pathmap_image image = pathmap_image(map, pathmap_function(map, node.function).image);
            trie_add(trie, numbers[at], is_counted(trie, numbers[at], before, image) ? 0 : node.passes,
                     node.self);
        }
    }
    return true;
}

static bool pcs_add(struct trie *trie, const struct pathmap *map, const uint32_t *numbers)
{
    bool fine = true;
    for (uint32_t i = 0; i < pathmap_node_count(map) && fine; i++) {
        uint32_t first, count = pathmap_pcs(map, i, &first);
        for (uint32_t p = first; p < first + count && fine; p++)
            fine = trie_add_pc(trie, numbers[i], pathmap_pc(map, p).offset, pathmap_pc(map, p).samples);
    }
    return fine;
}

int trie_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err)
{
    int rc = map_check(map, err);
    if (rc < 0)
        return rc;
    if (pathmap_leaves_out(map) && !trie->leaves_out && trie->any_hooked)
        return error_set(err, ENOTSUP,
                         "the paths of an older path map leave out the frames of images without hooks, and "
                         "cannot be added to paths that have them: train it again");
    uint32_t *functions = malloc((pathmap_function_count(map) + 1ul) * sizeof *functions);
    uint32_t *numbers = malloc((pathmap_node_count(map) + 1ul) * sizeof *numbers);
    uint32_t *covered = malloc((pathmap_node_count(map) + 1ul) * sizeof *covered);
    uint32_t *pending = malloc((pathmap_node_count(map) + 1ul) * sizeof *pending);
    if (!functions || !numbers || !covered || !pending || !trie_adopt_images(trie, map) ||
        !functions_add(trie, map, functions) || !nodes_add(trie, map, functions, numbers, covered, pending) ||
        !pcs_add(trie, map, numbers)) {
        rc = error_memory(err);
    } else {
        struct trie_statistics *to = &trie->statistics, from = pathmap_statistics(map);
        to->paths_entered = add_saturating(to->paths_entered, from.paths_entered);
        to->paths_cut = add_saturating(to->paths_cut, from.paths_cut);
        to->paths_failed = add_saturating(to->paths_failed, from.paths_failed);
    }
    free(functions);
    free(numbers);
    free(covered);
    free(pending);
    return rc;
}

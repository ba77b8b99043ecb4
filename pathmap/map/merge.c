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
#include "pathmap/map/walk.h"

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

/* A merge under way. numbers and covered have one element per node of the map. */
struct merge {
    struct trie *trie;
    const struct pathmap *map;
    uint32_t *functions; /* the trie's numbers of the map's functions */
    bool *counted;       /* by the trie's function: all its calls were counted in the trie before */
    uint32_t *numbers;   /* the trie's numbers of the map's nodes, once they are entered */
    uint32_t *covered;   /* the nearest covered ancestor, counting the node itself */
};

/* Maps the map's function numbers to the trie's, adding missing functions. */
static bool functions_add(struct merge *m)
{
    for (uint32_t i = 0; i < pathmap_function_count(m->map); i++) {
        struct pathmap_function function = pathmap_function(m->map, i);
        struct pathmap_image image = pathmap_image(m->map, function.image);
        uint32_t number = trie_image(m->trie, image.path, &image.build_id);
        if (number != TRIE_NONE)
            number = trie_function(m->trie, number, function.address, function.name);
        if (number == TRIE_NONE)
            return false;
        m->functions[i] = number;
    }
    return true;
}

/* Samples that passed through a call counted by hooks must not add to its passes, not even if they show it on a
 * path of its own: the hooks cannot distinguish the places in an unhooked function from which a callback comes,
 * and count all of its calls at one node. */
static bool note_counted(struct merge *m)
{
    struct trie *trie = m->trie;
    m->counted = calloc(trie->function_count + 1ul, sizeof *m->counted);
    if (!m->counted)
        return false;
    for (uint32_t i = 1; i < trie->node_count; i++) { /* without the root */
        uint32_t function = trie->nodes[i].function;
        m->counted[function] |= trie->images[trie->functions[function].image].hooked;
    }
    return true;
}

/* Whether a child of `parent` that was called by `caller` has a call site: if the calling frame is left out,
 * there is none in the parent. */
static bool keeps_site(const struct trie *trie, uint32_t parent, uint32_t caller)
{
    return parent == caller && trie_keeps_sites(trie, trie->functions[trie->nodes[parent].function].image);
}

/* Enters a node whose parent is entered. A node of an image that the trie covers goes below its nearest
 * covered ancestor. */
static int node_add(void *context, uint32_t at, struct fathom_error *err)
{
    struct merge *m = context;
    struct trie *trie = m->trie;
    struct pathmap_node node = pathmap_node(m->map, at);
    uint32_t function = m->functions[node.function];
    bool outermost = node.parent == PATHMAP_NONE;
    bool covers = trie_covers(trie, trie->functions[function].image);
    uint32_t above = outermost ? TRIE_ROOT : m->covered[node.parent];
    uint32_t parent = covers || outermost ? above : m->numbers[node.parent];
    bool called = outermost || keeps_site(trie, parent, m->numbers[node.parent]);
    uint32_t number = trie_child(trie, parent, function, node.height, called ? node.site : 0);
    if (number == TRIE_NONE)
        return error_memory(err);
    m->numbers[at] = number;
    m->covered[at] = covers ? number : above;
    struct pathmap_image image = pathmap_image(m->map, pathmap_function(m->map, node.function).image);
    trie_add(trie, number, m->counted[function] && !image.hooked ? 0 : node.passes, node.self);
    return 0;
}

static bool pcs_add(const struct merge *m)
{
    bool fine = true;
    for (uint32_t i = 0; i < pathmap_node_count(m->map) && fine; i++) {
        uint32_t first, count = pathmap_pcs(m->map, i, &first);
        for (uint32_t p = first; p < first + count && fine; p++)
            fine = trie_add_pc(m->trie, m->numbers[i], pathmap_pc(m->map, p).offset,
                               pathmap_pc(m->map, p).samples);
    }
    return fine;
}

static void statistics_add(struct trie *trie, const struct pathmap *map)
{
    struct trie_statistics *to = &trie->statistics, from = pathmap_statistics(map);
    to->paths_entered = add_saturating(to->paths_entered, from.paths_entered);
    to->paths_cut = add_saturating(to->paths_cut, from.paths_cut);
    to->paths_failed = add_saturating(to->paths_failed, from.paths_failed);
    const struct trial *trials;
    uint32_t count = pathmap_trials(map, &trials);
    for (uint32_t i = 0; i < count; i++)
        trials_add(trie, trials[i]);
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
    size_t nodes = pathmap_node_count(map) + 1ul;
    struct merge m = {.trie = trie,
                      .map = map,
                      .functions = malloc((pathmap_function_count(map) + 1ul) * sizeof *m.functions),
                      .numbers = malloc(nodes * sizeof *m.numbers),
                      .covered = malloc(nodes * sizeof *m.covered)};
    rc = m.functions && m.numbers && m.covered && trie_adopt_images(trie, map) && functions_add(&m) &&
                 note_counted(&m)
             ? pathmap_walk(map, node_add, &m, err)
             : error_memory(err);
    if (rc == 0 && !pcs_add(&m))
        rc = error_memory(err);
    if (rc == 0)
        statistics_add(trie, map);
    free(m.functions);
    free(m.counted);
    free(m.numbers);
    free(m.covered);
    return rc;
}

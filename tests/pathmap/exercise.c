/* exercise.c - see exercise.h. */
#include "tests/pathmap/exercise.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "pathmap/map/fmap.h"

static void promise(bool kept)
{
    if (!kept)
        abort();
}

void fmap_mend(void *data, size_t size)
{
    uint8_t *file = data;
    struct fmap_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    memcpy(header.magic, FMAP_MAGIC, sizeof header.magic);
    header.size = size;
    header.sections %= FMAP_MAX_SECTIONS + 1;
    memcpy(file, &header, sizeof header);
    size_t covered = sizeof header + header.sections * sizeof(struct fmap_section);
    if (covered + sizeof(uint64_t) > size)
        return;
    for (uint32_t i = 0; i < header.sections; i++) {
        struct fmap_section section;
        uint8_t *at = file + sizeof header + i * sizeof section;
        memcpy(&section, at, sizeof section);
        if (section.offset > size || section.length > size - section.offset)
            continue;
        section.checksum = fmap_checksum(file + section.offset, section.length);
        memcpy(at, &section, sizeof section);
    }
    uint64_t checksum = checksum_of(file, covered);
    memcpy(file + covered, &checksum, sizeof checksum);
}

static void exercise_node(const struct pathmap *map, uint32_t i)
{
    struct pathmap_node node = pathmap_node(map, i);
    uint32_t steps = 0, functions[4], first;
    promise(i >= pathmap_node_count(map) || node.path < pathmap_path_count(map));
    for (uint32_t at = i; at < pathmap_node_count(map); at = pathmap_node(map, at).parent)
        promise(steps++ < pathmap_node_count(map));
    int depth = pathmap_path(map, i, functions, 4);
    promise(depth < 0 || (uint32_t)depth == steps);
    for (int d = 0; d < depth && d < 4; d++)
        promise(functions[d] < pathmap_function_count(map));
    uint32_t count = pathmap_find(map, node.function, node.height, &first);
    promise(count == 0 || (first < pathmap_node_count(map) && count <= pathmap_node_count(map) - first));
    count = pathmap_pcs(map, i, &first);
    promise(count == 0 || first + count > first);
    for (uint32_t pc = first; pc < first + count; pc++)
        (void)pathmap_pc(map, pc);
}

void fmap_exercise(const struct pathmap *map)
{
    for (uint32_t i = 0; i <= pathmap_image_count(map); i++) {
        struct pathmap_image image = pathmap_image(map, i);
        bool stale;
        (void)strlen(image.path);
        pathmap_find_image(map, image.path, &image.build_id, &stale);
    }
    for (uint32_t i = 0; i <= pathmap_function_count(map); i++) {
        struct pathmap_function function = pathmap_function(map, i);
        uint32_t first, count = pathmap_function_nodes(map, i, &first);
        promise(count == 0 || (first < pathmap_node_count(map) && count <= pathmap_node_count(map) - first));
        promise(!function.name || *function.name);
        pathmap_find_function(map, function.image, function.address);
    }
    for (uint32_t i = 0; i <= pathmap_node_count(map); i++)
        exercise_node(map, i);
    exercise_node(map, PATHMAP_NONE);
    struct trie *trie = trie_new();
    if (trie && trie_merge(trie, map, NULL) < 0)
        promise(trie_node_count(trie) == 1);
    trie_free(trie);
}

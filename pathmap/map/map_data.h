/* map_data.h - the internals of an open map, for open.c, index.c and pathmap.c. */
#ifndef FATHOM_PATHMAP_MAP_MAP_DATA_H
#define FATHOM_PATHMAP_MAP_MAP_DATA_H

#include "base/file.h"
#include "pathmap/map/order.h"
#include "pathmap/map/pathmap.h"

/* All pointers are into the file's bytes. Lengths are consistent with each other, but the numbers stored in
 * the arrays are untrusted, except for those in `paths`, which are below path_count. In a growing map,
 * pointers are into `memory` and `order`, and functions, images and names are the trie's. */
struct pathmap {
    const struct trie
        *trie;          /* the growing map; NULL: the map is from a file, as are its functions, images and
                           strings */
    struct order order; /* of its nodes; owned */
    const struct fmap_node *nodes;
    const struct fmap_cid *index;
    uint32_t index_entries;         /* at least 1 */
    const uint32_t *paths;          /* by node */
    const uint32_t *function_nodes; /* function_count + 1 of them */
    const struct fmap_function *functions;
    const struct fmap_image *images;
    const struct fmap_pc *pcs; /* NULL: none */
    uint32_t pc_count;
    const char *strings; /* its last byte is a NUL */
    size_t strings_size; /* bytes, at least 1 */
    uint32_t node_count, function_count, image_count, path_count;
    struct trie_statistics statistics;
    struct trials trials;
    uint32_t version;
    struct file_view view; /* if it came from a file */
    void *memory;          /* if it did not; owned */
};

#endif

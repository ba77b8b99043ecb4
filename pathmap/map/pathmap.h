/*
 * pathmap.h - a path map as it is asked: mapped from an .fmap file (docs/fmap.md), or over a trie that grows.
 *
 * Nodes are sorted by CID and, within one, by function path, so all candidates of a CID stand side by side,
 * those of one path next to each other, and one hash access finds them. A map from a file is safe for
 * several threads, one over a trie as far as the trie is. The file may be hostile: its checksums are verified when it is opened, and numbers when they are followed; any
 * number may be asked for.
 */
#ifndef FATHOM_PATHMAP_MAP_PATHMAP_H
#define FATHOM_PATHMAP_MAP_PATHMAP_H

#include <stdbool.h>

#include "pathmap/map/trie.h"

#define PATHMAP_NONE UINT32_MAX

struct pathmap;

/* Errors: system errors; -ENOMSG: not an .fmap file; -ENOTSUP: a newer version; -EBADMSG: damaged or cut. */
int pathmap_open(const char *path, struct pathmap **out, struct fathom_error *err);
/* From trie_serialise()'s bytes, which the map takes over and frees (also on failure): for tests. */
int pathmap_open_memory(void *data, size_t size, struct pathmap **out, struct fathom_error *err);
void pathmap_close(struct pathmap *map);

/* A map over a trie (borrowed) that has its nodes, their counts and its functions as they are now, under the trie's
 * numbers for functions and images; images are always the trie's. -ENOMEM, -EFBIG. */
int pathmap_over(const struct trie *trie, struct pathmap **out, struct fathom_error *err);
/* The same once the trie has more nodes or functions. With more nodes, the map's have new numbers, and answers that
 * were kept are no longer true; without, counts stay as they were. Errors as above, which leave the map as it was. */
int pathmap_update(struct pathmap *map, struct fathom_error *err);
/* The map's number of a node of its trie; PATHMAP_NONE: the root, or newer than the map. */
uint32_t pathmap_number(const struct pathmap *map, uint32_t node);

struct pathmap_image {
    bool hooked;      /* training saw every call into it */
    bool entered;     /* or some, by hooks at the functions' entries */
    const char *path; /* "" when the number is none of the map's */
    struct build_id build_id;
};
struct pathmap_function {
    uint32_t image; /* PATHMAP_NONE when the number is none of the map's, or its file is damaged */
    uint64_t address;
    const char *name; /* mangled; NULL when unknown */
};
struct pathmap_node {
    uint32_t parent; /* node, or PATHMAP_NONE for an outermost function (or a damaged one): following parents
                        always ends */
    uint32_t function; /* PATHMAP_NONE when the map is damaged */
    uint32_t height;   /* bytes from the base to the CFA */
    uint32_t path; /* number of its function path: equal for nodes whose functions from the root are equal */
    uint64_t site; /* return address in the caller's image, 0 when unknown */
    uint64_t passes, self;
};

uint32_t pathmap_image_count(const struct pathmap *map);
struct pathmap_image pathmap_image(const struct pathmap *map, uint32_t index);
uint32_t pathmap_function_count(const struct pathmap *map);
struct pathmap_function pathmap_function(const struct pathmap *map, uint32_t index);
uint32_t pathmap_node_count(const struct pathmap *map);
uint32_t pathmap_path_count(const struct pathmap *map); /* distinct function paths */
struct pathmap_node pathmap_node(const struct pathmap *map, uint32_t index);
/* Whether the node's function is one of the map's and its parent is none or lies above it. */
bool pathmap_node_sound(const struct pathmap *map, uint32_t index);
struct trie_statistics pathmap_statistics(const struct pathmap *map);

/* Whether any sample was counted (self) or calls alone (passes). O(nodes) where there is none. */
bool pathmap_sampled(const struct pathmap *map);
/* Whether paths leave out frames of images that are not hooked, beside those that are (docs/fmap.md). */
bool pathmap_leaves_out(const struct pathmap *map);
/* Whether it is one of the images that training set out to see: it is hooked, or none is. */
bool pathmap_covers(const struct pathmap *map, uint32_t image);
/* The function's number, PATHMAP_NONE when the map does not know it. */
uint32_t pathmap_find_function(const struct pathmap *map, uint32_t image, uint64_t address);
/* The image's number by build-id (by path where the map's image and `id` have none; by path alone when id is
 * NULL), else PATHMAP_NONE. *stale, which may be NULL, tells whether the map has an image of this path that
 * is another build. */
uint32_t pathmap_find_image(const struct pathmap *map, const char *path, const struct build_id *id,
                            bool *stale);
/* Candidates of a CID: nodes *first .. *first + count - 1. Returns the count, 0 when there is none. */
uint32_t pathmap_find(const struct pathmap *map, uint32_t function, uint32_t height, uint32_t *first);
/* All nodes of one function, in order of height: *first .. *first + count - 1. *first is 0 when there is none. */
uint32_t pathmap_function_nodes(const struct pathmap *map, uint32_t function, uint32_t *first);
/* Where the samples that ended in a node lay in its function. */
struct pathmap_pc {
    uint32_t offset; /* bytes from the function's start */
    uint32_t samples;
};
/* Those of a node: numbers *first .. *first + count - 1, in order of offset. Returns the count. O(log). */
uint32_t pathmap_pcs(const struct pathmap *map, uint32_t node, uint32_t *first);
struct pathmap_pc pathmap_pc(const struct pathmap *map, uint32_t number);
/* Functions from the root to the node, at most max of them (the innermost are kept); returns the depth (which
 * may be more than max), or -EBADMSG when the walk meets an unsound node. */
int pathmap_path(const struct pathmap *map, uint32_t node, uint32_t *functions, size_t max);
/* All functions of a path, from the root to the node, in an array that grows when it must (base/vec.h); returns
 * the depth, -EBADMSG as above, or -ENOMEM. */
int pathmap_read_path(const struct pathmap *map, uint32_t node, uint32_t **functions, size_t *room,
                      struct fathom_error *err);

#endif

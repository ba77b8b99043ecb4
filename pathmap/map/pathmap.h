/*
 * pathmap.h - a path map for queries: mapped from an .fmap file (docs/fmap.md), or over a growing trie.
 *
 * Nodes are sorted by CID and, within one, by function path, so all candidates of a CID are contiguous, those
 * of one path adjacent, and one hash access finds them. A map from a file is thread-safe; one over a trie is
 * as thread-safe as the trie. The file may be hostile: checksums are verified when it is opened, and numbers
 * when they are followed; any number may be passed to a query.
 */
#ifndef FATHOM_PATHMAP_MAP_PATHMAP_H
#define FATHOM_PATHMAP_MAP_PATHMAP_H

#include <stdbool.h>

#include "pathmap/map/trials.h"
#include "pathmap/map/trie.h"

#define PATHMAP_NONE UINT32_MAX

struct pathmap;

/* Errors: system errors; -ENOMSG: not an .fmap file; -ENOTSUP: a newer version; -EBADMSG: damaged or cut. */
int pathmap_open(const char *path, struct pathmap **out, struct fathom_error *err);
/* From trie_serialise()'s bytes, which the map takes ownership of and frees (even on failure); for tests. */
int pathmap_open_memory(void *data, size_t size, struct pathmap **out, struct fathom_error *err);
void pathmap_close(struct pathmap *map);

/* A map over a trie (borrowed): a snapshot of its nodes, their counts and its functions, with the trie's
 * numbers for functions and images. Images are always the trie's own. -ENOMEM, -EFBIG. */
int pathmap_over(const struct trie *trie, struct pathmap **out, struct fathom_error *err);
/* Updates the map after the trie has gained nodes or functions. If it has new nodes, the map's nodes are
 * renumbered and previous answers become invalid; otherwise, counts are not updated. Errors as above; they
 * leave the map unchanged. */
int pathmap_update(struct pathmap *map, struct fathom_error *err);
/* The map's number of a node of its trie; PATHMAP_NONE: it is the root, or newer than the map. */
uint32_t pathmap_number(const struct pathmap *map, uint32_t node);

struct pathmap_image {
    bool hooked;      /* training saw every call into it */
    bool entered;     /* or some, through hooks at function entries */
    const char *path; /* "" if the map has no image of this number */
    struct build_id build_id;
};
struct pathmap_function {
    uint32_t image; /* PATHMAP_NONE if the map has no function of this number, or its file is damaged */
    uint64_t address;
    const char *name; /* mangled; NULL when unknown */
};
struct pathmap_node {
    uint32_t parent; /* node, or PATHMAP_NONE for an outermost function (or a damaged one): following parents
                        always terminates */
    uint32_t function; /* PATHMAP_NONE when the map is damaged */
    uint32_t height;   /* bytes from the base to the CFA */
    uint32_t path; /* number of its function path: equal for nodes with the same functions from the root */
    uint64_t site; /* return address in the caller's image, 0 when unknown */
    uint64_t passes, self;
};

/* Whether anything went through the node, rather than that inference alone entered it. */
static inline bool pathmap_node_seen(const struct pathmap_node *node)
{
    return node->passes || node->self;
}

uint32_t pathmap_image_count(const struct pathmap *map);
struct pathmap_image pathmap_image(const struct pathmap *map, uint32_t index);
uint32_t pathmap_function_count(const struct pathmap *map);
struct pathmap_function pathmap_function(const struct pathmap *map, uint32_t index);
/* Its readable name (image/name.h); returns `out`. */
const char *pathmap_function_name(const struct pathmap *map, uint32_t index, char *out, size_t size);
uint32_t pathmap_node_count(const struct pathmap *map);
uint32_t pathmap_path_count(const struct pathmap *map); /* distinct function paths */
struct pathmap_node pathmap_node(const struct pathmap *map, uint32_t index);
/* Whether the node's function is in the map, and its parent is PATHMAP_NONE or has a smaller height. */
bool pathmap_node_sound(const struct pathmap *map, uint32_t index);
struct trie_statistics pathmap_statistics(const struct pathmap *map);
/* How well parts of the training predict each other. Returns the number of trials; 0: unknown. */
uint32_t pathmap_trials(const struct pathmap *map, const struct trial **out);

/* Whether any samples were counted (self), rather than only calls (passes). O(nodes) if there are none. */
bool pathmap_sampled(const struct pathmap *map);
/* Whether the map has hooked images and its paths leave out frames of the other images (docs/fmap.md). */
bool pathmap_leaves_out(const struct pathmap *map);
/* Whether it has hooked images, that is, training saw every call into them. */
bool pathmap_hooked(const struct pathmap *map);
/* Whether the image is among those that training should observe: it is hooked, or no image is. */
bool pathmap_covers(const struct pathmap *map, uint32_t image);
/* The function's number; PATHMAP_NONE if it is not in the map. */
uint32_t pathmap_find_function(const struct pathmap *map, uint32_t image, uint64_t address);
/* Finds an image's number by build-id (by path if neither the map's image nor `id` has one; by path alone if
 * id is NULL); PATHMAP_NONE if there is none. *stale (may be NULL) is set to whether the map has only another
 * build of the image with this path. */
uint32_t pathmap_find_image(const struct pathmap *map, const char *path, const struct build_id *id,
                            bool *stale);
/* Candidates of a CID: nodes *first .. *first + count - 1. Returns the count, 0 if there are none. */
uint32_t pathmap_find(const struct pathmap *map, uint32_t function, uint32_t height, uint32_t *first);
/* All nodes of one function, sorted by height: *first .. *first + count - 1. *first is 0 if there are
 * none. */
uint32_t pathmap_function_nodes(const struct pathmap *map, uint32_t function, uint32_t *first);
/* Where in a node's function the samples that ended in the node were. */
struct pathmap_pc {
    uint32_t offset; /* bytes from the function's start */
    uint32_t samples;
};
/* The PCs of a node: numbers *first .. *first + count - 1, sorted by offset. Returns the count. O(log). */
uint32_t pathmap_pcs(const struct pathmap *map, uint32_t node, uint32_t *first);
struct pathmap_pc pathmap_pc(const struct pathmap *map, uint32_t number);
/* Stores the functions from the root to the node, at most max of them (the innermost ones); returns the depth
 * (which may exceed max), or -EBADMSG if an unsound node is on the path. */
int pathmap_path(const struct pathmap *map, uint32_t node, uint32_t *functions, size_t max);
/* How many frames at the inner end of a node's path were never seen. *calls: the number of different calls
 * (caller and callee) among these, at most PATHMAP_CALLS: recursion repeats few. */
#define PATHMAP_CALLS 64u
uint32_t pathmap_unseen(const struct pathmap *map, uint32_t node, uint32_t *calls);
/* Stores all functions of a path, from the root to the node, in an array that is grown as needed
 * (base/vec.h); returns the depth, -EBADMSG as above, or -ENOMEM. */
int pathmap_read_path(const struct pathmap *map, uint32_t node, uint32_t **functions, size_t *capacity,
                      struct fathom_error *err);

#endif

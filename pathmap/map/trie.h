/*
 * trie.h - a path map under construction: the tree of call paths with heights and counts.
 *
 * A node is one activation seen from its caller: (parent, function, height, call site). Two nodes of one
 * parent that differ only in height or site are the same function path (pathmap.h groups them). 32 bytes per
 * node.
 */
#ifndef FATHOM_PATHMAP_MAP_TRIE_H
#define FATHOM_PATHMAP_MAP_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"

#define TRIE_ROOT 0u /* the empty path: parent of each stack's outermost function */
#define TRIE_NONE UINT32_MAX

struct trie;

struct trie *trie_new(void); /* NULL: out of memory */
void trie_free(struct trie *trie);

/* The number of an image in this trie; added if new. Images are equal if their build-ids are (or, for files
 * without one, their paths). TRIE_NONE: out of memory. */
uint32_t trie_image(struct trie *trie, const char *path, const struct build_id *id);
uint32_t trie_image_count(const struct trie *trie);
/* Returns its path and sets *id to its build-id. number < trie_image_count(). */
const char *trie_image_path(const struct trie *trie, uint32_t number, struct build_id *id);
/* Training saw every call into this image. */
void trie_set_hooked(struct trie *trie, uint32_t image);
/* Training saw some of them, through hooks at function entries. */
void trie_set_entered(struct trie *trie, uint32_t image);
/* From now on, paths leave out frames of unhooked images, except for the innermost, as in maps of version 1
 * (docs/fmap.md). Call it before entering paths that contain other images. */
void trie_leave_out(struct trie *trie);
/* Whether frames of the image belong in paths: always, unless frames of unhooked images are left out. Roots of
 * partial paths are kept. */
bool trie_covers(const struct trie *trie, uint32_t image);
/* Whether call sites in the image are distinguished: if it is hooked, or no image is. Which calls from other
 * images training sees is a matter of chance. */
bool trie_keeps_sites(const struct trie *trie, uint32_t image);
/* The number of a function, given its image's number and its entry address there. name (mangled, may be NULL)
 * is stored for `map paths` on machines without the binary. */
uint32_t trie_function(struct trie *trie, uint32_t image, uint64_t address, const char *name);
/* The same, but TRIE_NONE if it is not present. */
uint32_t trie_find_function(const struct trie *trie, uint32_t image, uint64_t address);
uint32_t trie_function_count(const struct trie *trie);
/* A function's image, address and name (mangled; NULL: unknown). number < trie_function_count(). */
uint32_t trie_function_at(const struct trie *trie, uint32_t number, uint64_t *address, const char **name);
/* Stores the functions from the root to the node in an array that is grown as needed (base/vec.h); returns the
 * depth, or -ENOMEM. */
int trie_path(const struct trie *trie, uint32_t node, uint32_t **functions, size_t *capacity);
/* The child of `parent` for a call from `site` (the return address's image-virtual address in the parent's
 * image, 0 when unknown) to `function` whose CFA is `height` bytes below the base; added if new. The height
 * must be greater than the parent's (every call takes at least 8 bytes), except for children of the root,
 * which may have any: a thread's outermost frame has 0. TRIE_NONE: the height is invalid, a number is
 * unknown, or out of memory. A site of 4 GiB or more is stored as unknown. */
uint32_t trie_child(struct trie *trie, uint32_t parent, uint32_t function, uint32_t height, uint64_t site);
/* Reserves room for that many more nodes; on failure, the trie grows as nodes are added. */
void trie_reserve(struct trie *trie, uint32_t count);
/* passes: times the path was entered, or walked through by an unwound sample. self: samples whose innermost
 * frame it was. Counts saturate rather than wrap around. The root has no counts. */
void trie_add(struct trie *trie, uint32_t node, uint64_t passes, uint64_t self);
uint64_t trie_self(const struct trie *trie, uint32_t node);
/* One more sample with this innermost frame: a pass for the node and each of its callers, and a self for it. */
void trie_add_path(struct trie *trie, uint32_t node);
/* Whether two nodes end paths of the same functions at the same heights, whatever the call sites. */
bool trie_same_functions(const struct trie *trie, uint32_t a, uint32_t b);
uint32_t trie_height(const struct trie *trie, uint32_t node);
/* Finds the node with this height on the path that ends with `node`; sets *parent to its parent and *site to its
 * call site. false: none. */
bool trie_at_height(const struct trie *trie, uint32_t node, uint32_t height, uint32_t *parent,
                    uint64_t *site);
/* The innermost node on the path that ends with `node` whose height is less than `depth`: the frame that contains
 * the byte at that depth of the stack. *function: its function. TRIE_NONE: none. */
uint32_t trie_above(const struct trie *trie, uint32_t node, uint64_t depth, uint32_t *function);
/* Adds samples whose PC was this many bytes into the node's function. false: out of memory. */
bool trie_add_pc(struct trie *trie, uint32_t node, uint32_t offset, uint64_t samples);
uint32_t trie_node_count(const struct trie *trie); /* including the root */

/* Gives an empty trie the images and functions of another, with the same numbers. false: out of memory. */
bool trie_copy_functions(struct trie *trie, const struct trie *from);
/* The node with the same path as a node of `from`, added if new, without counts. copies: by node of `from`, the
 * results so far; initially TRIE_NONE. TRIE_NONE: out of memory. */
uint32_t trie_copy_node(struct trie *trie, const struct trie *from, uint32_t node, uint32_t *copies);

/* What training could not use, stored in the map for `map info`. */
struct trie_statistics {
    uint64_t paths_entered; /* whole paths */
    uint64_t paths_cut;     /* stack dumps that ended before the stack did; not entered */
    uint64_t paths_failed;  /* not unwound for another reason; not entered */
};
struct trie_statistics *trie_statistics(struct trie *trie);

/* The map's bytes in the .fmap format (docs/fmap.md), malloc'ed; the caller frees them. For tests. */
int trie_serialise(const struct trie *trie, void **data, size_t *size, struct fathom_error *err);
struct outfile;
/* Writes the map; trie_save() also opens the file. */
int trie_write(const struct trie *trie, struct outfile *out, struct fathom_error *err);
int trie_save(const struct trie *trie, const char *path, struct fathom_error *err);

struct pathmap;
/* Adds all paths, counts and statistics of a map. Merge maps with hooked images first. Frames that the trie
 * or the map leaves out are omitted from the paths added; paths already in the trie cannot be changed
 * (-ENOTSUP). Used for --append, `map merge`, and for combining a map with a recording's own audit samples.
 * Passes from a map of unwound stacks are not added where the trie has counted every call. -EBADMSG: the map
 * is damaged, nothing was added; -ENOMEM: part of it may have been added. */
int trie_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err);
/* Adopts only the map's information about its images, so that paths entered from now on have the shape needed
 * to merge the map later. false: out of memory. */
bool trie_adopt_images(struct trie *trie, const struct pathmap *map);

#endif

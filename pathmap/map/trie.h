/*
 * trie.h - a path map while it is built: the tree of call paths with heights and counts.
 *
 * A node is one activation seen from its caller: (parent, function, height, call site). Two nodes of one
 * parent that differ only in height or site are the same function path (pathmap.h groups them). 32 bytes a
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

/* The number of an image in this trie, added when new. Images are equal when their build-ids are (or, where a
 * file has none, their paths). TRIE_NONE: out of memory. */
uint32_t trie_image(struct trie *trie, const char *path, const struct build_id *id);
uint32_t trie_image_count(const struct trie *trie);
/* Its path and, in *id, its build-id. number < trie_image_count(). */
const char *trie_image_path(const struct trie *trie, uint32_t number, struct build_id *id);
/* Training saw every call into this image. */
void trie_set_hooked(struct trie *trie, uint32_t image);
/* It saw some of them by hooks at the functions' entries. */
void trie_set_entered(struct trie *trie, uint32_t image);
/* From now on paths leave out frames of images that are not hooked, but for the innermost: as in maps of
 * version 1 (docs/fmap.md). To be told before paths with other images are entered. */
void trie_leave_out(struct trie *trie);
/* Whether frames of the image belong in paths: always, but where such frames are left out. */
bool trie_covers(const struct trie *trie, uint32_t image);
/* Whether call sites in the image are told apart: it is hooked, or none is. Of calls by other images training
 * sees some by chance. */
bool trie_keeps_sites(const struct trie *trie, uint32_t image);
/* The number of a function: an image's number and the function's entry address in it. name (mangled, may be
 * NULL) is kept for `map paths` on a machine without the binary. */
uint32_t trie_function(struct trie *trie, uint32_t image, uint64_t address, const char *name);
/* The same, TRIE_NONE when it is not there. */
uint32_t trie_find_function(const struct trie *trie, uint32_t image, uint64_t address);
uint32_t trie_function_count(const struct trie *trie);
/* The child of `parent` for a call from `site` (the return address's image-virtual address in the parent's
 * image, 0 when unknown) to `function` whose CFA is `height` bytes below the base; added when new. Height
 * must be above the parent's (every call takes at least 8 bytes), but below the root any height will do: a
 * thread's outermost frame has 0. Else TRIE_NONE, as when out of memory or a number is unknown. A site of 4
 * GiB or more is kept as unknown. */
uint32_t trie_child(struct trie *trie, uint32_t parent, uint32_t function, uint32_t height, uint64_t site);
/* Makes room for so many more nodes at once, if there is memory: else they take it as they come. */
void trie_reserve(struct trie *trie, uint32_t count);
/* passes: times the path was entered, or walked through by an unwound sample. self: samples whose innermost
 * frame it was. Counts stay at the largest value rather than wrap round. The root counts nothing. */
void trie_add(struct trie *trie, uint32_t node, uint64_t passes, uint64_t self);
/* Samples whose PC lay this many bytes into the node's function. false: out of memory. */
bool trie_add_pc(struct trie *trie, uint32_t node, uint32_t offset, uint64_t samples);
uint32_t trie_node_count(const struct trie *trie); /* with the root */

/* What training could not use, kept in the map so that `map info` can tell. */
struct trie_statistics {
    uint64_t paths_entered; /* whole paths */
    uint64_t paths_cut;     /* stack dumps that ended before the stack did: not entered */
    uint64_t paths_failed;  /* not unwound for another reason: not entered */
};
struct trie_statistics *trie_statistics(struct trie *trie);

/* For tests: the map's bytes in the .fmap format (docs/fmap.md); malloc'ed, the caller frees. */
int trie_serialise(const struct trie *trie, void **data, size_t *size, struct fathom_error *err);
struct outfile;
/* Writes the map; trie_save() opens the file too. */
int trie_write(const struct trie *trie, struct outfile *out, struct fathom_error *err);
int trie_save(const struct trie *trie, const char *path, struct fathom_error *err);

struct pathmap;
/* Adds all paths, counts and statistics of a map: those with hooked images first. Frames that either leaves
 * out are left out of the map's paths; those that are in the trie already cannot be changed (-ENOTSUP). For
 * --append, `map merge`, and a map with a recording's own audit samples. Passes of a map of unwound stacks
 * are not added where the trie has those of every call. -EBADMSG: the map is damaged, nothing was added;
 * -ENOMEM: some of it may have been. */
int trie_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err);
/* Only what the map says of its images, so that paths take the shape that they will need when the map is merged
 * later. false: out of memory. */
bool trie_adopt_images(struct trie *trie, const struct pathmap *map);

#endif

/*
 * chain.h - the addresses of a path's frames in its process: what a call chain recorded by the kernel would have had.
 *
 * A caller's address is in its call, one byte before where it goes on, so that readers which look it up as it is find the
 * caller, and so do those that subtract one. Where a path is known without its calls, it is one byte into the function.
 */
#ifndef FATHOM_PROFILE_CHAIN_H
#define FATHOM_PROFILE_CHAIN_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "process/process.h"

struct chains;

/* Borrowed; map: always the same. NULL: out of memory. */
struct chains *chains_new(struct image_cache *images, const struct pathmap *map);
void chains_free(struct chains *chains); /* NULL is allowed */
/* Finds the addresses from the sample's own on, outwards, with PERF_CONTEXT_ markers. node: of the map, PATHMAP_NONE: no
 * callers are known; process: NULL: unknown. Frames whose file the process does not have are left out. -ENOMEM. */
int chains_find(struct chains *chains, const struct process *process, const struct sample *sample,
                uint32_t node, struct fathom_error *err);
/* Adds one more, outermost. -ENOMEM. */
int chains_add(struct chains *chains, uint64_t address, struct fathom_error *err);
/* What was found last; valid until the next call. */
const uint64_t *chains_found(const struct chains *chains, size_t *count);
uint64_t chains_left_out(const struct chains *chains); /* such frames, of all samples so far */

#endif

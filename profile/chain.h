/*
 * chain.h - the addresses of a path's frames in its process: what a call chain recorded by the kernel would have contained.
 *
 * A caller's address is inside its call, one byte before the return address, so that it is attributed to the caller by readers
 * that look it up unchanged and by those that subtract one. If a path's calls are unknown, it is one byte into the function.
 */
#ifndef FATHOM_PROFILE_CHAIN_H
#define FATHOM_PROFILE_CHAIN_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "process/process.h"

struct chains;

/* Both are borrowed; map: always the same. NULL: out of memory. */
struct chains *chains_new(struct image_cache *images, const struct pathmap *map);
void chains_free(struct chains *chains); /* NULL is allowed */
/* Finds the addresses from the sample's own outwards, with PERF_CONTEXT_ markers. node: of the map, PATHMAP_NONE: no callers
 * are known; process: NULL: unknown. Frames whose file is not mapped in the process are skipped. -ENOMEM. */
int chains_find(struct chains *chains, const struct process *process, const struct sample *sample,
                uint32_t node, struct fathom_error *err);
/* Adds one more address, outermost. -ENOMEM. */
int chains_add(struct chains *chains, uint64_t address, struct fathom_error *err);
/* What was found last; valid until the next call. */
const uint64_t *chains_found(const struct chains *chains, size_t *count);
uint64_t chains_left_out(const struct chains *chains); /* frames skipped, in all samples so far */

#endif

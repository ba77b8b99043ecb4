/*
 * stack_cache.h - the known stacks of programs, from one recording to the next.
 *
 * They are files of a cache (base/cache.h) in the directory "stacks", named "BUILD-ID-PATH.stacks" after the program's build-id
 * and a checksum of its path; the least recently used are removed. A program's stacks are used for whoever runs it, so only
 * those in files count that are at their path and cannot be changed by others (numbered_file_stamp()). Of two recordings at
 * once, the one that ends last overwrites the other's.
 */
#ifndef FATHOM_INFER_LIVE_STACK_CACHE_H
#define FATHOM_INFER_LIVE_STACK_CACHE_H

#include "infer/live/kept_stacks.h"

#define STACK_CACHE_BYTES   (UINT64_C(64) << 20) /* all programs together */
#define STACK_CACHE_LARGEST (UINT64_C(8) << 20)  /* per program; larger files are neither written nor read */

/* Reads the stacks of the program at a path: 1; 0: there are none, or they are damaged or of other files; -ENOMEM. */
int stack_cache_get(const char *program, const struct build_id *id, struct kept_stacks **out);
/* Writes them in place of earlier ones. *stacks: how many. 1; 0: there is no directory, or they are too large; negative. */
int stack_cache_put(const char *program, const struct build_id *id, const struct kept_stacks *kept,
                    size_t *stacks, struct fathom_error *err);
/* Removes all. *count: of how many programs. 0 or negative. */
int stack_cache_clear(size_t *count, struct fathom_error *err);

#endif

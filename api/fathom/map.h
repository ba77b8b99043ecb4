/*
 * map.h - path maps (the files that trainings write), and those that recordings keep of their programs.
 *
 * What is printed goes to the stream given; a failed write shows in ferror(). Names in it are made safe for a terminal.
 * Errors, where nothing else is said: system errors; -EBADMSG, -ENOMSG, -ENOTSUP: a map that is damaged, none, or of a later format.
 */
#ifndef FATHOM_MAP_H
#define FATHOM_MAP_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A map's images and counts, and how many of its CIDs are precise. */
FATHOM_API int fathom_map_describe(const char *map, FILE *out, struct fathom_error *error);

struct fathom_map_listing {
    uint32_t rows; /* at most; 0: all */
    bool hooked;   /* without the frames of images that have no hooks, if any image has */
};

/* Its call paths, the most sampled first. */
FATHOM_API int fathom_map_list(const char *map, const struct fathom_map_listing *listing, FILE *out,
                               struct fathom_error *error);

/* Adds up maps into the file `output`, which is in its place only when it is complete; "-": standard output. */
FATHOM_API int fathom_map_merge(const char *output, const char *const *maps, size_t count,
                                const struct fathom_listener *listener, struct fathom_error *error);

/* Makes the map of a training that was killed from the directory that it left, and removes the directory. output: NULL: the
 * file that the training would have written, if it does not exist yet. Errors: -EBUSY: the training is running; -EPERM: another
 * user's; -ENOMSG: not such a directory; -EEXIST, -EINVAL: an output must be given; -ECHILD: no call was recorded, the directory is
 * removed all the same. */
FATHOM_API int fathom_map_recover(const char *directory, const char *output,
                                  const struct fathom_listener *listener, struct fathom_error *error);

/* The maps that are kept. -ENOENT: this user has no directory for them. */
FATHOM_API int fathom_cached_maps_list(FILE *out, struct fathom_error *error);
FATHOM_API int fathom_cached_maps_clear(FILE *out,
                                        struct fathom_error *error); /* removes them, and prints how many */
FATHOM_API int fathom_cached_maps_directory(FILE *out, struct fathom_error *error); /* prints its path */

#ifdef __cplusplus
}
#endif

#endif

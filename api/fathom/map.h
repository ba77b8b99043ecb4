/*
 * map.h - path maps: the files that training writes, and the cached maps that recordings make of their programs.
 *
 * Output goes to the given stream; after a failed write, ferror() is set. Names are made safe for a terminal.
 * Errors, unless said otherwise: system errors; -EBADMSG, -ENOMSG, -ENOTSUP: a map that is damaged, not a map, or of a later format.
 */
#ifndef FATHOM_MAP_H
#define FATHOM_MAP_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a map's images and counts, and how many of its CIDs are precise. */
FATHOM_API int fathom_map_describe(const char *map, FILE *out, struct fathom_error *error);

struct fathom_map_listing {
    uint32_t rows; /* at most; 0: all */
    bool hooked;   /* leave out frames of images without hooks, if any image has hooks */
};

/* Prints a map's call paths, the most sampled first. */
FATHOM_API int fathom_map_list(const char *map, const struct fathom_map_listing *listing, FILE *out,
                               struct fathom_error *error);

/* Adds up maps into the file `output`, which is renamed into place once it is complete; "-": standard output. */
FATHOM_API int fathom_map_merge(const char *output, const char *const *maps, size_t count,
                                const struct fathom_listener *listener, struct fathom_error *error);

/* Makes the map of a training that was killed, from the directory it left behind, and removes the directory. output: NULL: the file that
 * the training would have written, if it does not exist yet. Errors: -EBUSY: the training is still running; -EPERM: it is another
 * user's; -ENOMSG: not such a directory; -EEXIST, -EINVAL: an output must be given; -ECHILD: no call was recorded, and the directory
 * is removed anyway. */
FATHOM_API int fathom_map_recover(const char *directory, const char *output,
                                  const struct fathom_listener *listener, struct fathom_error *error);

/* Lists the cached maps. -ENOENT: this user has no directory for them. */
FATHOM_API int fathom_cached_maps_list(FILE *out, struct fathom_error *error);
FATHOM_API int
fathom_cached_maps_clear(FILE *out, struct fathom_error *error); /* removes them, and prints their number */
FATHOM_API int fathom_cached_maps_directory(FILE *out,
                                            struct fathom_error *error); /* prints the directory's path */

#ifdef __cplusplus
}
#endif

#endif

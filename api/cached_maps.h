/*
 * cached_maps.h - carries what a recording learned of its programs over to later ones (pathmap/map/map_cache.h).
 */
#ifndef FATHOM_API_CACHED_MAPS_H
#define FATHOM_API_CACHED_MAPS_H

#include "base/log.h"
#include "image/cache.h"
#include "infer/engine/mapped_files.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"

/* Whether maps are to be kept and used, unless `no_cache`: $FATHOM_NO_CACHE is not set. */
bool cached_maps_wanted(bool no_cache);
/* Adds a finished recording's stacks to the maps of its programs. Failures are warned of. images: with what is open already, borrowed
 * (image_cache_settle()); NULL: nothing is. verbose: how much is kept is noted. */
void cached_maps_add(struct reader *reader, struct image_cache *images, const struct log *log, bool verbose);

struct cached_maps {
    struct pathmap *map; /* of all other recordings of this one's programs; NULL: there are none */
    unsigned recordings; /* their number */
    struct trie *trie;   /* what the map is over */
};
/* files: of the recording. directory: where they are kept; NULL: the user's. */
int cached_maps_find(const struct mapped_files *files, const char *directory, struct cached_maps *out,
                     struct fathom_error *err);
/* Calls see() for the file of each of them. */
int cached_maps_files(struct reader *reader,
                      int (*see)(void *context, const char *path, struct fathom_error *err), void *context,
                      struct fathom_error *err);
void cached_maps_close(struct cached_maps *kept); /* a zeroed one is allowed */

#endif

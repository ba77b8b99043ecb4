/* cached_maps.h - keeps what a recording learned about its programs for later recordings (pathmap/map/map_cache.h). */
#ifndef FATHOM_API_CACHED_MAPS_H
#define FATHOM_API_CACHED_MAPS_H

#include "base/log.h"
#include "image/cache.h"
#include "infer/engine/mapped_files.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"

/* Whether to keep and use maps: false with no_cache, or if $FATHOM_NO_CACHE is set. */
bool cached_maps_wanted(bool no_cache);
/* Adds a finished recording's stacks to the maps of its programs; failures are only warnings. images: the files opened so far, borrowed
 * (image_cache_settle()); NULL: none. verbose: note how much is kept. */
void cached_maps_add(struct reader *reader, struct image_cache *images, const struct log *log, bool verbose);

struct cached_maps {
    struct pathmap *map; /* of all other recordings of the same programs; NULL: there are none */
    unsigned recordings; /* number of these recordings */
    struct trie *trie;   /* underlies the map */
};
/* files: of the recording. directory: of the maps; NULL: the user's. */
int cached_maps_find(const struct mapped_files *files, const char *directory, struct cached_maps *out,
                     struct fathom_error *err);
/* Calls see() with the file of each map for the recording. */
int cached_maps_files(struct reader *reader,
                      int (*see)(void *context, const char *path, struct fathom_error *err), void *context,
                      struct fathom_error *err);
void cached_maps_close(struct cached_maps *kept); /* a zero-initialised one is allowed */

#endif

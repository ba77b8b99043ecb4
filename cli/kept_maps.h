/*
 * kept_maps.h - carries what a recording learned of its programs over to later ones (pathmap/map/map_cache.h).
 */
#ifndef FATHOM_CLI_KEPT_MAPS_H
#define FATHOM_CLI_KEPT_MAPS_H

#include "cli/options.h"
#include "cli/terminal.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"

/* A row of a command's table of options, whose struct has a `bool no_cache`. */
#define KEPT_MAPS_NO_CACHE(type, text) OPTION_FLAG("no-cache", 0, type, no_cache, text)

/* Whether maps are to be kept and used, unless `no_cache`: $FATHOM_NO_CACHE is not set. */
bool kept_maps_wanted(bool no_cache);
/* Adds a finished recording's stacks to the maps of its programs. Failures are warned of. */
void kept_maps_add(struct reader *reader, struct terminal *terminal);
struct kept_maps {
    struct pathmap *map; /* of all other recordings of this one's programs; NULL: there are none */
    unsigned recordings; /* their number */
    struct trie *trie;   /* what the map is over */
};
/* directory: where they are kept; NULL: the user's. */
int kept_maps_find(struct reader *reader, const char *directory, struct kept_maps *out,
                   struct fathom_error *err);
/* Calls see() for the file of each of them. */
int kept_maps_files(struct reader *reader,
                    int (*see)(void *context, const char *path, struct fathom_error *err), void *context,
                    struct fathom_error *err);
void kept_maps_close(struct kept_maps *kept); /* a zeroed one is allowed */

#endif

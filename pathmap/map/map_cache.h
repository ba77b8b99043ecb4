/*
 * map_cache.h - caches path maps for later recordings: what was learned in the latest recordings of each program.
 *
 * They are cached files (base/cache.h) in the directory "maps", named "BUILD-ID-RECORDING.fmap": by the program's
 * build-id, so that no map is used for another build, and by a number of the recording, as a recording gains
 * nothing from its own map. For each program the latest MAP_CACHE_RECORDINGS are kept; in all, the most recently
 * used ones.
 */
#ifndef FATHOM_PATHMAP_MAP_MAP_CACHE_H
#define FATHOM_PATHMAP_MAP_MAP_CACHE_H

#include <time.h>

#include "pathmap/map/pathmap.h"

#define MAP_CACHE_BYTES      (UINT64_C(256) << 20) /* of all maps together */
#define MAP_CACHE_LARGEST    (UINT64_C(64) << 20)  /* of one; larger files are neither written nor read */
#define MAP_CACHE_RECORDINGS 8u

/* The directory's path, malloc'ed. NULL: this user has none (base/cache.h), or out of memory. */
char *map_cache_directory(bool make);
/* Stores what a recording learned about a program: 1; 0: there is no directory for it, or it is too large. */
int map_cache_add(const struct build_id *program, uint64_t recording, const struct trie *trie,
                  struct fathom_error *err);
/* Whether a map is useful to a recording of a program. */
struct map_cache_entry;
bool map_cache_is_for(const struct map_cache_entry *entry, const struct build_id *program,
                      uint64_t recording);
/* Adds to the trie what recordings other than this one learned about a program, and marks their maps as used.
 * Damaged maps, and those of later versions of the format, are skipped. directory: as for map_cache_list().
 * Returns the number of maps, or -ENOMEM. */
int map_cache_get(const char *directory, const struct build_id *program, uint64_t recording,
                  struct trie *trie, struct fathom_error *err);

struct map_cache_entry {
    struct build_id program;
    uint64_t recording;
    char *path; /* the map's; malloc'ed */
    uint64_t bytes;
    time_t used;
};
/* All maps in the directory (NULL: the user's), most recently used first. */
int map_cache_list(const char *directory, struct map_cache_entry **out, size_t *count,
                   struct fathom_error *err);
void map_cache_list_free(struct map_cache_entry *entries, size_t count);

#endif

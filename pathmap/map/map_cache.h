/*
 * map_cache.h - path maps kept from one recording to the next: what each of a program's latest recordings learned.
 *
 * They are kept files (base/cache.h) in the directory "maps", named "BUILD-ID-RECORDING.fmap" after the program's
 * build-id, so that no map is ever used for another build of it, and a number of the recording, as a recording's own map
 * says nothing that is not in it. Of each program the latest MAP_CACHE_RECORDINGS stay; of all maps, those that were
 * used last.
 */
#ifndef FATHOM_PATHMAP_MAP_MAP_CACHE_H
#define FATHOM_PATHMAP_MAP_MAP_CACHE_H

#include <time.h>

#include "pathmap/map/pathmap.h"

#define MAP_CACHE_BYTES      (UINT64_C(256) << 20) /* of all maps together */
#define MAP_CACHE_LARGEST    (UINT64_C(64) << 20)  /* of one; larger files are neither written nor read */
#define MAP_CACHE_RECORDINGS 8u

/* The directory's path, malloc'ed. NULL: this user has none (kept.h), or out of memory. */
char *map_cache_directory(bool make);
/* Keeps what a recording learned of a program: 1; 0: there is no directory for it, or it is too large. */
int map_cache_add(const struct build_id *program, uint64_t recording, const struct trie *trie,
                  struct fathom_error *err);
/* Whether the map tells a recording of a program something. */
struct map_cache_entry;
bool map_cache_is_for(const struct map_cache_entry *entry, const struct build_id *program,
                      uint64_t recording);
/* Adds to the trie what other recordings than this one learned of a program, and marks their maps as used. Maps that are
 * damaged, or of a later version of the format, are left out. directory: as for map_cache_list(). Returns their number, or
 * -ENOMEM. */
int map_cache_get(const char *directory, const struct build_id *program, uint64_t recording,
                  struct trie *trie, struct fathom_error *err);

struct map_cache_entry {
    struct build_id program;
    uint64_t recording;
    char *path; /* the map's; malloc'ed */
    uint64_t bytes;
    time_t used;
};
/* All maps of the directory, NULL: the user's, the latest used first. */
int map_cache_list(const char *directory, struct map_cache_entry **out, size_t *count,
                   struct fathom_error *err);
void map_cache_list_free(struct map_cache_entry *entries, size_t count);

#endif

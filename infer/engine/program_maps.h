/*
 * program_maps.h - what a recording says of each program in it: a path map of the stacks that were read, with all
 * samples that were found to have one of them.
 *
 * Programs are told apart by their build-ids. The paths of a process are those of its program, in whatever library they
 * end; after an exec, those of the next one.
 */
#ifndef FATHOM_INFER_ENGINE_PROGRAM_MAPS_H
#define FATHOM_INFER_ENGINE_PROGRAM_MAPS_H

#include "image/cache.h"
#include "pathmap/map/trie.h"
#include "perfdata/reader.h"

struct program_maps;

struct program_map {
    struct build_id program;
    const char *path;  /* the program's */
    struct trie *trie; /* the program is always among its images */
    uint64_t stacks;   /* that were entered */
};

/* Reads the recording. images is borrowed. Samples of its main event that have a stack of their own, as stock perf records
 * them, are not taken. */
int program_maps_read(struct reader *reader, struct image_cache *images, struct program_maps **out,
                      struct fathom_error *err);
/* Number of programs that ran, also those without stacks. */
uint64_t program_maps_recording(const struct program_maps *maps); /* mapped_files_recording() */
size_t program_maps_count(const struct program_maps *maps);
struct program_map program_maps_at(const struct program_maps *maps, size_t index);
void program_maps_free(struct program_maps *maps);

#endif

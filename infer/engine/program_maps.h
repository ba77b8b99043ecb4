/*
 * program_maps.h - makes a path map of each program in a recording from the stacks that were read, with all samples that were
 * found to have one of these stacks.
 *
 * Programs are distinguished by their build-ids. A process's paths belong to its program, whatever library they end in; after
 * an exec, to the next program.
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
    struct trie *trie; /* its images always include the program */
    uint64_t stacks;   /* entered into the trie */
};

/* Reads the recording. images is borrowed. Skips samples of its main event that have a stack of their own, as stock perf
 * records them. */
int program_maps_read(struct reader *reader, struct image_cache *images, struct program_maps **out,
                      struct fathom_error *err);
/* Number of programs that ran, including those without stacks. */
uint64_t program_maps_recording(const struct program_maps *maps); /* mapped_files_recording() */
size_t program_maps_count(const struct program_maps *maps);
struct program_map program_maps_at(const struct program_maps *maps, size_t index);
void program_maps_free(struct program_maps *maps);

#endif

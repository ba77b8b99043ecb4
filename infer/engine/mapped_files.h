/*
 * mapped_files.h - the files that a recording's processes mapped executable, each build of each once, and an identifier of the
 * recording.
 *
 * Reports take paths and names from these files, even if a map has the same builds under other paths. Names that a stripped
 * file lacks can come from another file of its build (image_cache_also()).
 */
#ifndef FATHOM_INFER_ENGINE_MAPPED_FILES_H
#define FATHOM_INFER_ENGINE_MAPPED_FILES_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie.h"
#include "perfdata/record.h"

struct mapped_file {
    const char *path;
    struct build_id id;
};

struct mapped_files;

struct mapped_files *mapped_files_new(void); /* NULL: out of memory */
void mapped_files_free(struct mapped_files *files);
/* Notes a record, of any kind. *added (may be NULL): whether it brought a new file. 0 or -ENOMEM. */
int mapped_files_note(struct mapped_files *files, const struct record *record, bool *added);
/* Identifies the recording, by its first sample; 0: it has none. */
uint64_t mapped_files_recording(const struct mapped_files *files);
size_t mapped_files_list(const struct mapped_files *files, const struct mapped_file **out);

/* Registers with the image cache the paths that a map has for the same builds. 0 or -ENOMEM. */
int mapped_files_also(const struct mapped_files *files, const struct pathmap *map,
                      struct image_cache *images);
/* Makes the trie use the recording's paths for the builds that a map has, too: call it before the map is merged into the trie.
 * 0 or -ENOMEM. */
int mapped_files_name(const struct mapped_files *files, const struct pathmap *map, struct trie *trie);
/* Whether a map is of programs other than these (builds_foreign()): 1, 0 or -ENOMEM. */
int mapped_files_foreign(const struct mapped_files *files, const struct pathmap *map);

#endif

/*
 * mapped_files.h - looks through a recording for the files that were mapped, before anything is made of it.
 *
 * They are the recording's own, whichever path a map has of their builds: names and files of reports come from them. What a
 * stripped one lacks, another file of its build can tell (image_cache_also()). A map of other programs is left out.
 */
#ifndef FATHOM_INFER_ENGINE_MAPPED_FILES_H
#define FATHOM_INFER_ENGINE_MAPPED_FILES_H

#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"

/* Tells the images of all files, and gives those of them that the map (NULL: none) has their paths in the trie: call it before
 * the map is merged into it. *foreign: whether the map is of programs other than those mapped (builds_foreign()). */
int mapped_files_read(struct reader *reader, const struct pathmap *map, struct image_cache *images,
                      struct trie *trie, bool *foreign, struct fathom_error *err);

#endif

/*
 * kept.h - directories of files that are kept for later runs, below $XDG_CACHE_HOME/fathom (~/.cache/fathom):
 * directories 0700, files 0600, at most so many bytes.
 *
 * What others could have put there is not used: the directories must be this user's own (fathom and those in it
 * no links, and not to be written by others), and so must the files. Root keeps nothing in another user's.
 *
 * A file is written beside its place and renamed, so that several processes may keep the same one at once and
 * none sees half of it. What was used longest ago (its time of modification) goes first.
 */
#ifndef FATHOM_BASE_KEPT_H
#define FATHOM_BASE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The path of the directory called `name`, malloc'd; NULL: the user has none of their own, or out of memory.
 * make: makes it where it is not there yet. */
char *kept_directory(const char *name, bool make);
/* Opens a file there for reading. -1: it is not there, a link, or another user's. */
int kept_open(const char *path);
/* Notes that a file there is used now. false: as above. */
bool kept_use(const char *path);

struct kept_file {
    int fd; /* open for writing */
    char *temporary;
};

/* Begins a file of about so many bytes; removes the oldest files so that the directory has at most
 * `limit`. */
int kept_begin(const char *directory, uint64_t bytes, uint64_t limit, struct kept_file *out,
               struct fathom_error *err);
/* Closes the file and moves it to `path`. written: what writing it returned; a failure is returned again, and
 * the file is removed. */
int kept_end(struct kept_file *file, const char *path, int written, struct fathom_error *err);

#endif

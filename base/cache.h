/*
 * cache.h - caches of files for later runs, below $XDG_CACHE_HOME/fathom (~/.cache/fathom): directories 0700,
 * files 0600, limited in size.
 *
 * Files that others could have put there are not used: directories and files must belong to this user (fathom
 * and its subdirectories must not be links, nor writable by others). Root keeps nothing in another user's
 * directories.
 *
 * A file is written under a temporary name and renamed, so that several processes may keep the same one at
 * once and none sees half of it. The least recently used files (by modification time) are removed first.
 */
#ifndef FATHOM_BASE_CACHE_H
#define FATHOM_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

/* The path of the directory called `name`, malloc'd; NULL: the user has none, or out of memory. make: create
 * it if it does not exist. */
char *cache_directory(const char *name, bool make);
/* Opens a file there for reading. -1: missing, a link, another user's, or one that others may write. */
int cache_open(const char *path);
/* Marks a file there as used now. false: as above. */
bool cache_use(const char *path);

#define CACHE_NAME_SIZE 128

struct cache_entry {
    char name[CACHE_NAME_SIZE];
    uint64_t bytes;
    struct timespec used;
};
/* The files of a directory, the latest used first; malloc'ed, *count of them. A directory that does not exist has
 * none. */
int cache_list(const char *directory, struct cache_entry **out, size_t *count, struct fathom_error *err);

struct cache_file {
    int fd; /* open for writing */
    char *temporary;
};

/* Begins a file of about `bytes` bytes; removes the oldest files so that the directory has at most `limit`
 * bytes. */
int cache_begin(const char *directory, uint64_t bytes, uint64_t limit, struct cache_file *out,
                struct fathom_error *err);
/* Closes the file and moves it to `path`. written: the result of writing it; a failure is returned as is, and
 * the file is removed. */
int cache_end(struct cache_file *file, const char *path, int written, struct fathom_error *err);

#endif

/*
 * spool.h - the agent's recordings that are not in the store yet: files in one directory, which only their
 * owner may read. Recordings never change, so sending one twice counts once.
 */
#ifndef FATHOM_AGENT_SPOOL_H
#define FATHOM_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define SPOOL_PREFIX  "profile." /* followed by the time in UTC */
#define SPOOL_DAMAGED ".damaged" /* suffix of recordings that cannot be read */

struct spool_file {
    char *name;
    uint64_t bytes; /* on disk */
    dev_t device;
    ino_t inode;
    bool damaged; /* by its name */
    bool growing; /* a process has it open: spool_find_growing() */
};

struct spool {
    struct spool_file *files; /* by name: oldest first, unless the clock was set back */
    size_t count, capacity;
    uint64_t bytes; /* of all */
};

/* Makes the directory if it does not exist. */
int spool_make(const char *directory, struct fathom_error *err);
/* Lock files there, held by the processes that use it: one agent, and one recorder, which may continue for a
 * while after its agent was killed. */
#define SPOOL_LOCK          "lock"
#define SPOOL_RECORDER_LOCK "lock.recorder"
/* *fd: holds the lock as long as a process has it. -EBUSY: another process has the lock; errors of files. */
int spool_lock(const char *directory, const char *name, int *fd, struct fathom_error *err);
/* Lists it anew. */
int spool_list(const char *directory, struct spool *spool, struct fathom_error *err);
void spool_clear(struct spool *spool);
/* Marks the files that a process has open. false: these cannot be found out. */
bool spool_find_growing(struct spool *spool, pid_t pid);
/* Removes files until at most `most` bytes remain: damaged ones, then the oldest, but none that grows, nor
 * the one with this name (NULL: none). Returns how many. */
unsigned spool_trim(const char *directory, struct spool *spool, uint64_t most, const char *spared);

#endif

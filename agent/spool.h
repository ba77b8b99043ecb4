/*
 * spool.h - the agent's recordings that are not yet in the store: files of one directory, which only their owner may read. What
 * was recorded is never changed, so that sending it twice counts once.
 */
#ifndef FATHOM_AGENT_SPOOL_H
#define FATHOM_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define SPOOL_PREFIX  "profile." /* the time in UTC follows */
#define SPOOL_DAMAGED ".damaged" /* the end of names of recordings that cannot be read */

struct spool_file {
    char *name;
    uint64_t bytes; /* on disk */
    dev_t device;
    ino_t inode;
    bool damaged; /* by its name */
    bool growing; /* a process has it open: spool_find_growing() */
};

struct spool {
    struct spool_file *files; /* by name: the oldest first, as long as the clock goes forward */
    size_t count, capacity;
    uint64_t bytes; /* of all */
};

/* Makes the directory, if it is not there. */
int spool_make(const char *directory, struct fathom_error *err);
/* Which processes use it, as locks of files there: one agent, and one recorder, which may go on for a while when its agent was killed. */
#define SPOOL_LOCK          "lock"
#define SPOOL_RECORDER_LOCK "lock.recorder"
/* A descriptor: the lock is held as long as a process has it. -EBUSY: another one has; others of files. */
int spool_lock(const char *directory, const char *name, int *fd, struct fathom_error *err);
/* Lists it anew. */
int spool_list(const char *directory, struct spool *spool, struct fathom_error *err);
void spool_clear(struct spool *spool);
/* Marks those that the process has open. false: what it has open cannot be told. */
bool spool_find_growing(struct spool *spool, pid_t pid);
/* Removes files until it has at most so many bytes: damaged ones, then the oldest, but none that grows, nor the one of this name
 * (NULL: none). Returns how many. */
unsigned spool_trim(const char *directory, struct spool *spool, uint64_t most, const char *spared);

#endif

/*
 * session_directory.h - the directory of a training session: creates and removes it, and finds those whose
 * trainer was killed.
 *
 * Its trainer holds a lock on it (flock), which the kernel releases with the process. A directory with a
 * mailbox but no lock is abandoned: its stores can still be made into a map, by one process at a time.
 */
#ifndef FATHOM_PATHMAP_TRAIN_SESSION_DIRECTORY_H
#define FATHOM_PATHMAP_TRAIN_SESSION_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct session_directory {
    char *path;
    int fd; /* holds the lock; -1: none */
};

/* What to do with the stores if the trainer is killed. */
struct session_about {
    char output[PATH_MAX]; /* absolute path of the map; "": unknown */
    bool partial;          /* struct harvest's */
    bool calls;            /* make no map: calls are logged for a trace */
};

/* Creates one, mode 0700, in $TMPDIR or /tmp. System errors. */
int session_directory_make(struct session_directory *out, struct fathom_error *err);
int session_directory_describe(const struct session_directory *directory, const struct session_about *about,
                               struct fathom_error *err);
/* Takes over an abandoned directory. -EBUSY: its trainer is running, or another process does the same;
 * -EPERM: it belongs to another user; -ENOMSG: not a session directory; system errors. *about is filled as
 * far as it is known. */
int session_directory_adopt(const char *path, struct session_directory *out, struct session_about *about,
                            struct fathom_error *err);
/* The paths of this user's session directories where new ones are created, locked or not; the caller frees
 * each and the array. */
int session_directory_list(char ***out, size_t *count, struct fathom_error *err);
/* Removes a directory whose trainer was killed before it made the mailbox, or after it removed everything else:
 * it is not locked and contains only its description. Leaves any other directory unchanged. */
void session_directory_sweep(const char *path);
/* Whether a process has written calls into it. */
bool session_directory_has_calls(const char *path);
/* Releases the lock and leaves the files. */
void session_directory_close(struct session_directory *directory);
/* Removes it with its files, and closes it. */
void session_directory_remove(struct session_directory *directory);

#endif

/*
 * session_directory.h - the directory of a training session: made, told apart from those whose trainer was
 * killed, and removed.
 *
 * Its trainer holds a lock on it (flock), which the kernel drops with the process. A directory that has a
 * mailbox and no lock is abandoned: what its stores hold can still be made a map, by one process at a time.
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

/* What is to become of the stores, should the trainer be killed. */
struct session_about {
    char output[PATH_MAX]; /* of the map, a whole path; "": not told */
    bool partial;          /* struct harvest's */
};

/* A new one, mode 0700, in $TMPDIR or /tmp. System errors. */
int session_directory_make(struct session_directory *out, struct fathom_error *err);
int session_directory_describe(const struct session_directory *directory, const struct session_about *about,
                               struct fathom_error *err);
/* Takes an abandoned directory over. -EBUSY: its trainer runs, or another process does the same; -EPERM: it
 * is another user's; -ENOMSG: no session's; system errors. *about is filled as far as it is known. */
int session_directory_adopt(const char *path, struct session_directory *out, struct session_about *about,
                            struct fathom_error *err);
/* The paths of this user's session directories where new ones are made, whoever holds them; the caller frees
 * each and the array. */
int session_directory_list(char ***out, size_t *count, struct fathom_error *err);
/* Lets go of the lock and leaves the files. */
void session_directory_close(struct session_directory *directory);
/* Removes it with its files, and closes it. */
void session_directory_remove(struct session_directory *directory);

#endif

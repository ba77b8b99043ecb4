/*
 * symlinks.h - refuses paths that lead through symbolic links which others put in a directory like /tmp.
 *
 * The kernel protects the last part of a path alone (fs.protected_symlinks, proc(5)): `-o /tmp/work/perf.data` would be
 * written wherever another user's link /tmp/work leads.
 */
#ifndef FATHOM_BASE_SYMLINKS_H
#define FATHOM_BASE_SYMLINKS_H

#include "base/error.h"

/* 0, also if there is no such directory; -EPERM: a directory of the path, or of a link on the way, is a link of another
 * user in a directory that is sticky and writable by all, and not that user's; -ENOMEM. Who may still change directories
 * on the way is not checked. */
int symlinks_check(const char *path, struct fathom_error *err);

/* Opens a directory (O_PATH) that is this user's own; no link on the way to it, nor at its end, belongs to others than this user
 * and root, so that nobody else chooses what it is. A negative errno: -EPERM: it is not so. */
int symlinks_open_own(const char *path);

#endif

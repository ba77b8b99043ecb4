/*
 * symlinks.h - refuses paths that lead through symbolic links which others put in a directory like /tmp.
 *
 * The kernel protects the last part of a path alone (fs.protected_symlinks, proc(5)): `-o /tmp/work/perf.data` would be
 * written wherever another user's link /tmp/work leads.
 */
#ifndef FATHOM_BASE_SYMLINKS_H
#define FATHOM_BASE_SYMLINKS_H

#include "base/error.h"

/* 0, also if there is no such directory; -EPERM: a directory of the path, or of a link on the way, is another
 * user's link in a sticky, world-writable directory that is not that user's; -ENOMEM. Who else may change
 * directories on the way is not checked. */
int symlinks_check(const char *path, struct fathom_error *err);

/* Opens a directory (O_PATH) that this user owns; all links on the way and at its end must belong to this
 * user or root, so that nobody else chooses the target. A negative errno; -EPERM: otherwise. */
int symlinks_open_own(const char *path);

#endif

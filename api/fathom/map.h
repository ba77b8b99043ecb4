/*
 * map.h - path maps: what was learned by training.
 */
#ifndef FATHOM_MAP_H
#define FATHOM_MAP_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the map of a training that was killed from the directory that it left, and removes the directory. output: NULL: the
 * file that the training would have written, if it does not exist yet. Errors: -EBUSY: the training is running; -EPERM: another
 * user's; -ENOMSG: not such a directory; -EEXIST, -EINVAL: an output must be given; -ECHILD: no call was recorded, the directory is
 * removed all the same. */
FATHOM_API int fathom_map_recover(const char *directory, const char *output,
                                  const struct fathom_listener *listener, struct fathom_error *error);
/* The same for all those of this user, each into a file of its own. Failures are warned of. */
FATHOM_API void fathom_map_recover_all(const struct fathom_listener *listener);

#ifdef __cplusplus
}
#endif

#endif

/*
 * past_plt.h - what a map becomes when the image's calls of its own functions skip its PLT (map_frames.h:
 * symbolic).
 *
 * The stubs used by these calls then never run. Their nodes, which have the same heights as the functions behind
 * them and no frames to separate them, are no longer in the map.
 */
#ifndef FATHOM_DISAMBIG_CLONE_PAST_PLT_H
#define FATHOM_DISAMBIG_CLONE_PAST_PLT_H

#include "disambig/map_frames.h"

/* Makes a map without them. *out: NULL if there are none, or the file cannot be changed like this; otherwise the
 * caller frees it. Errors as of enlarge_movable() and moved_map_make(). */
int past_plt_make(const struct map_frames_of *of, struct trie **out, struct fathom_error *err);

#endif

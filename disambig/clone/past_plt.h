/*
 * past_plt.h - what a map becomes when the image's calls of its own functions lead past its PLT
 * (map_frames.h: symbolic).
 *
 * The stubs through which these calls led then never run. Their nodes, which share their heights with the
 * functions that they lead to and have no frames to tell them apart, are no longer in the map.
 */
#ifndef FATHOM_DISAMBIG_CLONE_PAST_PLT_H
#define FATHOM_DISAMBIG_CLONE_PAST_PLT_H

#include "disambig/map_frames.h"

/* A map without them. *out: NULL if there are none, or the file cannot be changed so; else the caller frees it.
 * Errors as of enlarge_movable() and moved_map_make(). */
int past_plt_make(const struct map_frames_of *of, struct trie **out, struct fathom_error *err);

#endif

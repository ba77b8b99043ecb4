/*
 * redirects.h - for each node of a map, the node whose own code calls or jumps to it: there a copy can be chosen
 * for it.
 *
 * That is its parent, if this calls the node's function directly; or a node reached by the same call of the same
 * parent that ended in a jump (a tail call): then the jump can lead to a copy. If several ways may have led to a
 * function, or an unknown one, none of them may lead to a copy anywhere, as it would not be certain which copy
 * runs. A jump to another image may come back to any function with a pointer to it, except the very function that
 * the call leads to.
 *
 * A call through a pointer leads to a copy if it has a guard for the function (move/move.h). That is allowed
 * where everything that training saw behind the call was certainly reached from functions of the image that it
 * called itself. (Not seen: a function of an image that was not hooked, to which the pointer leads, and which
 * jumps to one of this image.)
 */
#ifndef FATHOM_DISAMBIG_CLONE_REDIRECTS_H
#define FATHOM_DISAMBIG_CLONE_REDIRECTS_H

#include "disambig/map_frames.h"
#include "image/calls/calls.h"

struct redirects { /* by node of the map; all owned */
    /* PATHMAP_NONE: none is certain, and the node's function is its first copy. The chain of a node's redirectors
     * ends with a parent or with none. */
    uint32_t *nodes;
    /* For nodes reached from a guarded call: the node of the function that was called first; PATHMAP_NONE: no
     * such call. */
    uint32_t *heads;
    /* The node's redirector, which is its parent, calls it through a pointer: a copy requires a guard. */
    bool *pointed;
};

/* -EBADMSG: the map is damaged; -ENOMEM. */
int redirects_find(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                   struct redirects *out, struct fathom_error *err);
void redirects_clear(struct redirects *redirectors); /* zeros are allowed */

#endif

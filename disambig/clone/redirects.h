/*
 * redirects.h - for each node of a map, the node whose code leads to it by calls and jumps of its own: where a
 * copy can be chosen for it.
 *
 * That is its parent, if that calls the node's function directly; or a node that the same call of the same
 * parent had led to, and which went on by a jump (a tail call): then the jump can lead to a copy. Where
 * several ways may have led to a function, or one that is not known, none of them may lead to a copy
 * anywhere, as it would not be certain which copy runs. A jump to another image may come back to any function
 * that has a pointer to it; only not to the very function that the call leads to.
 *
 * A call through a pointer leads to a copy if it has a guard for the function (move/move.h). That is allowed
 * where all that training saw behind the call is certain to be reached from functions of the image that it
 * called itself. (Not seen is a function of an image that was not hooked, which the pointer leads to and
 * which jumps on to one of this image.)
 */
#ifndef FATHOM_DISAMBIG_CLONE_REDIRECTS_H
#define FATHOM_DISAMBIG_CLONE_REDIRECTS_H

#include "disambig/map_frames.h"
#include "image/calls/calls.h"

struct redirects { /* by node of the map; all owned */
    /* PATHMAP_NONE: none is certain, and the node's function is its first copy. The redirector of a node, its
     * redirector and so on end with a parent or with none. */
    uint32_t *nodes;
    /* Of what was reached from a guarded call: the node of the function that it called at first;
     * PATHMAP_NONE: the call is none. */
    uint32_t *heads;
    /* Its redirector, which is its parent, calls it through a pointer: to lead to a copy, this takes a guard. */
    bool *pointed;
};

/* -EBADMSG: the map is damaged; -ENOMEM. */
int redirects_find(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                   struct redirects *out, struct fathom_error *err);
void redirects_clear(struct redirects *redirectors); /* zeros are allowed */

#endif

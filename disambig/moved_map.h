/*
 * moved_map.h - the path map of a program whose frames have grown, computed from the map of the original program:
 * each node's height grows by the pads of its callers and their calls, and the program has another build-id. It
 * is what training the patched program would give (DESIGN, section 7).
 *
 * Heights below a frame that aligns the stack, or below a signal frame, depend on the stack's address modulo 32
 * or more, which pads change: there the moved map is one of those that training could give.
 */
#ifndef FATHOM_DISAMBIG_MOVED_MAP_H
#define FATHOM_DISAMBIG_MOVED_MAP_H

#include "disambig/bodies.h"
#include "rewrite/enlarge.h"
#include "pathmap/map/pathmap.h"

struct moved_map {               /* all borrowed */
    const struct pathmap *map;   /* if there are copies, a cloned one (clone/cloned_map.h), */
    const struct bodies *bodies; /* and what its functions are copies of; NULL: no copies */
    uint32_t image;              /* number of the patched image in it */
    const char *path;            /* of the patched file */
    const struct build_id *id;   /* of that file */
    const uint32_t *pads;        /* bytes; by function of the map, then by wrap */
    const bool *unshifted;       /* by node: its caller's pad does not move it; NULL: all are moved */
    const uint32_t *wraps;       /* by node: the wrap of its call (search/search.h); NULL: none */
    /* By node: what a guarded call led to first (clone/redirects.h); NULL: no guarded calls. */
    const uint32_t *heads;
    const struct enlarged *file; /* where the image's code is now; NULL: unchanged */
    /* By node: not in the new map (it must have no children); NULL: all are. */
    const bool *left_out;
};

/* Enters the moved paths into an empty trie, which leaves out the frames that the map leaves out. -EBADMSG: a damaged map;
 * -EOVERFLOW: a height of 4 GiB or more; -ENOMEM. */
int moved_map_make(const struct moved_map *moved, struct trie *trie, struct fathom_error *err);

#endif

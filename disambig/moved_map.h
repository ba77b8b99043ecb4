/*
 * moved_map.h - the path map of a program whose frames have grown, made from that of the program as it was: each node's
 * height grows by the pads of its callers and their calls, and the program has another build-id. It is what training the patched
 * program anew would give (DESIGN, section 7).
 *
 * Heights below a frame that aligns the stack, or below a signal frame, depend on the stack's address modulo 32 and more,
 * which pads change: there the moved map is one of the maps that training could give.
 */
#ifndef FATHOM_DISAMBIG_MOVED_MAP_H
#define FATHOM_DISAMBIG_MOVED_MAP_H

#include "disambig/bodies.h"
#include "rewrite/enlarge.h"
#include "pathmap/map/pathmap.h"

struct moved_map {               /* all borrowed */
    const struct pathmap *map;   /* with copies: a cloned one (clone/cloned_map.h), */
    const struct bodies *bodies; /* and what its functions are copies of; NULL: of none */
    uint32_t image;              /* number of the patched image in it */
    const char *path;            /* of the patched file */
    const struct build_id *id;   /* of it */
    const uint32_t *pads;        /* bytes, for each function of the map, then each wrap */
    const bool *unshifted;       /* for each node: its caller's pad does not move it; NULL: none is so */
    const uint32_t *wraps; /* for each node: the wrap of its call (search/search.h); NULL: none has one */
    /* For each node: what a guarded call led to at first (clone/redirects.h); NULL: no such call. */
    const uint32_t *heads;
    const struct enlarged *file; /* where code of the image is now; NULL: all of it where it was */
    /* For each node: it is not in the new map (none may be below it); NULL: none is so. */
    const bool *left_out;
};

/* Enters the moved paths into an empty trie, which leaves out the frames that the map leaves out. -EBADMSG: a damaged map;
 * -EOVERFLOW: a height of 4 GiB or more; -ENOMEM. */
int moved_map_make(const struct moved_map *moved, struct trie *trie, struct fathom_error *err);

#endif

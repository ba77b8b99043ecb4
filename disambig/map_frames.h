/*
 * map_frames.h - the frames of one image (growth/growth.h) by the numbers of a path map: how much each function
 * of the map may grow, and which nodes are moved by their caller's pad.
 *
 * A node has no call site if the caller's image was not hooked, or the call was not seen: then it moves if all
 * calls of its caller do; otherwise the caller must keep its frame.
 */
#ifndef FATHOM_DISAMBIG_MAP_FRAMES_H
#define FATHOM_DISAMBIG_MAP_FRAMES_H

#include "rewrite/enlarge.h"
#include "pathmap/map/pathmap.h"

struct map_frames_of { /* all borrowed */
    const struct pathmap *map;
    uint32_t number;             /* of the image in the map */
    const struct image *image;   /* the same */
    const struct growth *growth; /* its frames */
    bool anew;                   /* functions may be emitted anew, */
    bool inserted;               /* also with added instructions */
    bool edges;                  /* calls through pointers may be guarded, and then lead to copies */
    /* The image's calls of its own functions skip its PLT, as with ld -Bsymbolic (clone/past_plt.h). */
    bool symbolic;
    /* The compiler makes the frames (docs/pads.md): each function with a unique symbol may grow. */
    bool compiled;
};

struct map_frames { /* all owned */
    /* By function of the map: */
    uint32_t *functions; /* its number in the image; IMAGE_NO_FUNCTION: in another image */
    uint32_t *most;      /* the largest pad, bytes */
    bool *anew;          /* it can grow only by being emitted anew, */
    bool *inserted;      /* only by added instructions */
    /* By node of the map: */
    bool *unshifted;  /* its caller's pad does not move it */
    uint32_t unsited; /* functions that must keep their frame because some of their calls have no call site */
};

/* -ENOMEM, or what enlarge_movable() returns. */
int map_frames_make(const struct map_frames_of *of, struct map_frames *out, struct fathom_error *err);
void map_frames_clear(struct map_frames *m); /* zeros are allowed */

/* The part that depends on nodes, for a map with other functions (clone/cloned_map.h). functions: their numbers
 * in the image. Sets `unshifted`, which must be zeroed; sets `most` to 0 for functions that must keep their
 * frame, and returns their number. */
uint32_t map_frames_read_nodes(const struct pathmap *map, const struct growth *growth,
                               const uint32_t *functions, uint32_t *most, bool *unshifted);

#endif

/*
 * map_frames.h - the frames of one image (growth/growth.h) by the numbers of a path map: how much each function of the map
 * may grow, and which of its nodes a pad of the caller moves.
 *
 * A map has no call site where the caller's image was not hooked, or the call was not seen: such a node moves if all calls of
 * its caller do, and else the caller must keep its frame.
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
    bool inserted;               /* also with instructions that are added */
    bool edges;                  /* calls through pointers may be guarded, to lead to copies */
    /* The image's calls of its own functions through its PLT are led past that, as by ld -Bsymbolic (clone/past_plt.h). */
    bool symbolic;
    /* The compiler makes the frames (docs/pads.md): each function with a symbol that no other has may grow. */
    bool compiled;
};

struct map_frames { /* all owned */
    /* By function of the map: */
    uint32_t *functions; /* its number in the image; IMAGE_NO_FUNCTION: it is of another one */
    uint32_t *most;      /* the largest pad, bytes */
    bool *anew;          /* it grows only by being emitted anew, */
    bool *inserted;      /* only by instructions that are added */
    /* By node of the map: */
    bool *unshifted;  /* a pad of its caller does not move it */
    uint32_t unsited; /* functions that must keep their frame because calls of theirs have no call site */
};

/* -ENOMEM, or what enlarge_movable() returns. */
int map_frames_make(const struct map_frames_of *of, struct map_frames *out, struct fathom_error *err);
void map_frames_clear(struct map_frames *m); /* zeros are allowed */

/* The part of it that looks at nodes, for a map whose functions are others (clone/cloned_map.h). functions: the image's number
 * of each of its functions. Fills unshifted, zeros before; most becomes 0 for the functions that must keep their frame. Returns
 * how many these are. */
uint32_t map_frames_read_nodes(const struct pathmap *map, const struct growth *growth,
                               const uint32_t *functions, uint32_t *most, bool *unshifted);

#endif

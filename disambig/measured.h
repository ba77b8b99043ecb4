/*
 * measured.h - compares the heights that a patched program was measured to have with those of its moved map.
 *
 * Of each measured node whose caller's node is in the moved map, the same call from there (function and call site) is sought:
 * at the measured height it agrees; at others only, the move was wrong; not at all, the path is one that the map's
 * training did not see. What lies below a node of the last two kinds is not compared. A function of an image that was not
 * changed may be at another height because the stack was aligned on the way to it: by the loader, when it binds a function.
 */
#ifndef FATHOM_DISAMBIG_MEASURED_H
#define FATHOM_DISAMBIG_MEASURED_H

#include "pathmap/map/pathmap.h"

struct measured {
    uint64_t agree, wrong, unknown, below; /* nodes; below: not compared */
    uint64_t aligned;                      /* nodes at other heights, of other images */
    uint32_t first_wrong;                  /* a node of the measured map, PATHMAP_NONE: none is wrong */
    uint32_t expected;                     /* its height in the moved map, bytes */
};

/* patched: the image that was changed. Images are the same if their build-ids are. -ENOMEM. */
int measured_compare(const struct pathmap *moved, const struct pathmap *measured,
                     const struct build_id *patched, struct measured *out, struct fathom_error *err);

#endif

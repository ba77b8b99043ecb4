/*
 * measured.h - compares the heights measured in a patched program with those of its moved map.
 *
 * If the caller of a measured node has a node in the moved map, the same call from there (function and call site)
 * is searched for: if it is found at the measured height, it agrees; at other heights only, the move was wrong;
 * not at all, the map's training did not see this path. Nodes below one of the latter two kinds are not compared.
 * A function of an unchanged image may be at another height because the stack was aligned in between, as the
 * loader does when it binds a function.
 */
#ifndef FATHOM_DISAMBIG_MEASURED_H
#define FATHOM_DISAMBIG_MEASURED_H

#include "pathmap/map/pathmap.h"

struct measured {
    uint64_t agree, wrong, unknown, below; /* nodes; below: those not compared */
    uint64_t aligned;                      /* nodes at other heights, in other images */
    uint32_t first_wrong;                  /* a node of the measured map; PATHMAP_NONE: none */
    uint32_t expected;                     /* its height in the moved map, bytes */
};

/* patched: the changed image. Images are identified by build-id. -ENOMEM. */
int measured_compare(const struct pathmap *moved, const struct pathmap *measured,
                     const struct build_id *patched, struct measured *out, struct fathom_error *err);

#endif

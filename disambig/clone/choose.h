/* choose.h - which bodies get copies, and which callers they are for: the most worth for the least code. */
#ifndef FATHOM_DISAMBIG_CLONE_CHOOSE_H
#define FATHOM_DISAMBIG_CLONE_CHOOSE_H

#include <stddef.h>

#include "base/error.h"
#include "disambig/clone/pointed.h"
#include "disambig/clone/conflicts.h"

struct choose_room {       /* what may still be used; what was used is taken from it */
    uint64_t code;         /* bytes of copies */
    uint64_t guards;       /* executed by the map's calls */
    struct pointed *edges; /* NULL: all calls that lead to copies are direct */
};

/* Adds copies for as long as they part conflicts and fit. conflicts: as of conflicts_find(). sizes: bytes of code, by function. *made: how many
 * copies. -ENOMEM. */
int choose_copies(struct bodies *bodies, const struct conflicts *conflicts, size_t count,
                  const uint32_t *sizes, struct choose_room *room, uint32_t *made, struct fathom_error *err);

#endif

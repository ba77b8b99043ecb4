/* choose.h - chooses which bodies get copies, and for which callers: the most worth for the least code. */
#ifndef FATHOM_DISAMBIG_CLONE_CHOOSE_H
#define FATHOM_DISAMBIG_CLONE_CHOOSE_H

#include <stddef.h>

#include "base/error.h"
#include "disambig/clone/pointed.h"
#include "disambig/clone/conflicts.h"

struct choose_budget {     /* what is still available; reduced by what is used */
    uint64_t code;         /* bytes of copies */
    uint64_t guards;       /* executed by the map's calls */
    struct pointed *edges; /* NULL: only direct calls can lead to copies */
};

/* Adds copies while they separate conflicts and fit. conflicts: as of conflicts_find(). sizes: bytes of code, by
 * function. *made: the number of copies. -ENOMEM. */
int choose_copies(struct bodies *bodies, const struct conflicts *conflicts, size_t count,
                  const uint32_t *sizes, struct choose_budget *budget, uint32_t *made,
                  struct fathom_error *err);

#endif

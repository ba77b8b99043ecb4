/* choose.h - which bodies get copies, and which callers they are for: the most worth for the least code. */
#ifndef FATHOM_DISAMBIG_CLONE_CHOOSE_H
#define FATHOM_DISAMBIG_CLONE_CHOOSE_H

#include <stddef.h>

#include "base/error.h"
#include "disambig/clone/rivals.h"

/* Adds copies for as long as they part rivals and their code fits. rivals: as of rivals_find(). sizes: bytes of code, by function.
 * *room: bytes of code that copies may still have; what was used is taken from it. *made: how many copies. -ENOMEM. */
int choose_copies(struct bodies *bodies, const struct rivals *rivals, size_t count, const uint32_t *sizes,
                  uint64_t *room, uint32_t *made, struct fathom_error *err);

#endif

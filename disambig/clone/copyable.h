/* copyable.h - which functions of a map can have copies, and which of its calls can lead to them. */
#ifndef FATHOM_DISAMBIG_CLONE_COPYABLE_H
#define FATHOM_DISAMBIG_CLONE_COPYABLE_H

#include "disambig/clone/redirects.h"
#include "disambig/map_frames.h"

struct copyable {
    bool *functions; /* by function of the map: can have copies */
    bool *growing;   /* by function of the map: with larger frames */
    uint32_t *sizes; /* by function of the map: bytes of one copy's code */
    struct redirects redirectors;
    uint64_t code; /* bytes of all functions of the image */
};

/* Errors as of enlarge_movable(). */
int copyable_find(const struct map_frames_of *of, const struct map_frames *frames, struct copyable *out,
                  struct fathom_error *err);
void copyable_clear(struct copyable *copyable); /* zeros are allowed */

#endif

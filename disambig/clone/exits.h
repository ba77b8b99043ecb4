/*
 * exits.h - to which functions those of a map jump (tail calls), and which functions may be reached in ways that
 * the code does not show: by a pointer, or by a name that other images can use.
 */
#ifndef FATHOM_DISAMBIG_CLONE_EXITS_H
#define FATHOM_DISAMBIG_CLONE_EXITS_H

#include "base/hash.h"
#include "disambig/map_frames.h"
#include "image/calls/calls.h"

struct function_exits {
    uint32_t first, count; /* in `jumps` */
    bool unknown;          /* it jumps through a pointer, */
    bool foreign;          /* or to a function of another image, which may itself end in a jump */
};

struct exits {                        /* all owned */
    struct function_exits *functions; /* by function of the map */
    uint32_t *jumps;                  /* functions of the map */
    uint32_t jump_count, jump_capacity;
    uint32_t *numbers; /* the map's function, by the image's function; or PATHMAP_NONE */
    bool *taken;       /* by function of the map: reachable by a pointer, or a jump of another image */
};

/* Key of calls and jumps in a table, by functions of the map. */
static inline uint64_t exits_pair(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

/* Adds to `pinned` the pairs whose jump is too short to reach anything but the first copy. false: out of memory;
 * the caller clears *out in any case. */
bool exits_read(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                struct table *pinned, struct exits *out);
void exits_clear(struct exits *exits); /* zeros are allowed */

#endif

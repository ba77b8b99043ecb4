/*
 * exits.h - where the functions of a map go on to by jumps (tail calls), and which of them may be reached in
 * ways that the code does not show: by a pointer, or by a name that other images know.
 */
#ifndef FATHOM_DISAMBIG_CLONE_EXITS_H
#define FATHOM_DISAMBIG_CLONE_EXITS_H

#include "base/hash.h"
#include "disambig/map_frames.h"
#include "image/calls/calls.h"

struct function_exits {
    uint32_t first, count; /* in `jumps` */
    bool unknown;          /* it jumps to what a pointer says, */
    bool foreign;          /* or to a function of another image, which may go on by a jump in turn */
};

struct exits {                        /* all owned */
    struct function_exits *functions; /* by function of the map */
    uint32_t *jumps;                  /* functions of the map */
    uint32_t jump_count, jump_capacity;
    uint32_t *numbers; /* by function of the image: of the map, or PATHMAP_NONE */
    bool *taken;       /* by function of the map: a pointer, or a jump of another image, may lead to it */
};

/* The key of a table of calls and jumps, by functions of the map. */
static inline uint64_t exits_pair(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

/* Adds to `pinned` the pairs whose jump is too short to lead anywhere but to the first copy. false: out of
 * memory; the caller clears *out in any case. */
bool exits_read(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                struct table *pinned, struct exits *out);
void exits_clear(struct exits *exits); /* zeros are allowed */

#endif

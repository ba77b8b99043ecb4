/*
 * enlarge.h - makes a file with larger frames: in place where the code and the CFI have room for the numbers
 * (patch/patch.h), and else by emitting the function anew (move/move.h) with wider ones, or, where pushes
 * make the frame, with instructions added. A function can have several copies.
 */
#ifndef FATHOM_REWRITE_ENLARGE_H
#define FATHOM_REWRITE_ENLARGE_H

#include "rewrite/growth/growth.h"
#include "rewrite/move/move.h"
#include "rewrite/pads.h"

struct enlarged {
    void *elf; /* the new file */
    size_t size;
    struct build_id id;       /* of it */
    struct move_result moved; /* where code went; empty if none did */
    size_t in_place, anew;    /* functions; each copy counts */
};

/* Pads ascending by address, then copy. A function with copies has one for each of them from 0 on, of no
 * bytes if its frame stays. */
struct enlarge_plan { /* all borrowed */
    const struct pad *pads;
    size_t count;
    const struct move_call *calls; /* that lead to copies but the first, or past a stub of the PLT */
    size_t call_count;
    /* The same, of calls through pointers, in functions that the pads have. */
    const struct move_guard *guards;
    size_t guard_count;
    /* By address, copy, site. The function has a pad, which may be of no bytes. */
    const struct wrap *wraps;
    size_t wrap_count;
};

/* Which of the plan's pads are of functions that can be emitted anew with them, and with their wraps.
 * -ENOMEM and other system errors; not that a file has no room for a segment: then none can. */
int enlarge_movable(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                    bool *movable, struct fathom_error *err);

/* Makes the new file and checks it, read again, against the old one. Functions with copies, wraps or
 * guards, or whose pads do not fit in place, are ones that enlarge_movable() found. The caller clears the
 * result. Errors as of patch_resize(), patch_check(), move_apply() and move_check(). */
int enlarge_frames(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                   struct enlarged *out, struct fathom_error *err);
void enlarged_clear(struct enlarged *enlarged); /* zeros are allowed */

/* Where a function's entry is in the new file, in this copy of it. */
uint64_t enlarged_entry(const struct enlarged *enlarged, uint64_t entry, uint32_t copy);
/* Where an instruction of the old file is in the new one, in this copy of its function; back: a return
 * address, which is the end of a call. */
uint64_t enlarged_address(const struct enlarged *enlarged, uint64_t address, uint32_t copy, bool back);
/* The same for the return address of a call that led to the function with this entry in the old file, perhaps by a guard. */
uint64_t enlarged_return(const struct enlarged *enlarged, uint64_t address, uint32_t copy, uint64_t callee);

#endif

/*
 * enlarge.h - makes a file with larger frames: in place where the numbers in code and CFI fit (patch/patch.h),
 * otherwise by emitting the function anew (move/move.h) with wider numbers or, where pushes make the frame, with
 * added instructions. A function can have several copies.
 */
#ifndef FATHOM_REWRITE_ENLARGE_H
#define FATHOM_REWRITE_ENLARGE_H

#include "rewrite/growth/growth.h"
#include "rewrite/move/move.h"
#include "rewrite/pads.h"

struct enlarged {
    void *elf; /* the new file */
    size_t size;
    struct build_id id;       /* the new file's */
    struct move_result moved; /* where moved code is now; empty if none was moved */
    size_t in_place, anew;    /* functions; each copy counts */
};

/* Pads ascending by address, then copy. A function with copies has one pad for each, from copy 0 on, of 0 bytes
 * if its frame does not grow. */
struct enlarge_plan { /* all borrowed */
    const struct pad *pads;
    size_t count;
    const struct move_call *calls; /* calls that lead to other copies than the first, or past a PLT stub */
    size_t call_count;
    /* The same for calls through pointers, in functions that have pads. */
    const struct move_guard *guards;
    size_t guard_count;
    /* By address, copy, site. The function has a pad, perhaps of 0 bytes. */
    const struct wrap *wraps;
    size_t wrap_count;
};

/* Determines which of the plan's pads are of functions that can be emitted anew with these and their wraps. If
 * the file has no room for a segment, none is. -ENOMEM and other system errors. */
int enlarge_movable(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                    bool *movable, struct fathom_error *err);

/* Makes the new file, reads it again, and checks it against the old one. Functions with copies, wraps or guards,
 * or whose pads do not fit in place, must have been found movable by enlarge_movable(). The caller clears the
 * result. Errors as in patch_resize(), patch_check(), move_apply() and move_check(). */
int enlarge_frames(const struct image *image, const struct growth *growth, const struct enlarge_plan *plan,
                   struct enlarged *out, struct fathom_error *err);
void enlarged_clear(struct enlarged *enlarged); /* a zeroed one is allowed */

/* Where the entry of this copy of a function is in the new file. */
uint64_t enlarged_entry(const struct enlarged *enlarged, uint64_t entry, uint32_t copy);
/* Where an instruction of the old file is in this copy of its function, in the new file. back: it is a return
 * address, the end of a call. */
uint64_t enlarged_address(const struct enlarged *enlarged, uint64_t address, uint32_t copy, bool back);
/* The same for the return address of a call that led to the function with this entry in the old file, perhaps
 * through a guard. */
uint64_t enlarged_return(const struct enlarged *enlarged, uint64_t address, uint32_t copy, uint64_t callee);

#endif

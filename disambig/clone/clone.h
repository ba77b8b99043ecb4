/*
 * clone.h - chooses functions that get copies for some of their callers, so that paths differ which frame sizes
 * alone cannot separate, and by how much each copy's frame grows (ICPP paper, section 5.3).
 *
 * In rounds: a search chooses pads (search/search.h); copies are chosen for what is still ambiguous (conflicts.h,
 * choose.h); the map is remade with these as functions of their own (cloned_map.h); and so on. A copy costs no
 * instruction, as calls are re-pointed. Only on request, and in rounds after all others, calls through pointers
 * get guards (pointed.h), which cost some.
 */
#ifndef FATHOM_DISAMBIG_CLONE_CLONE_H
#define FATHOM_DISAMBIG_CLONE_CLONE_H

#include "disambig/clone/cloned_map.h"
#include "disambig/clone/pointed.h"
#include "disambig/map_frames.h"
#include "disambig/search/search.h"

struct clone_problem { /* all borrowed */
    const struct map_frames_of *of;
    const struct map_frames *frames;     /* of the map without copies */
    const struct search_problem *search; /* of the map without copies */
    uint32_t largest;                    /* the largest pad, bytes */
    double code;                         /* bytes of all copies, as a share of the image's code: 0.25 */
    double guards; /* executed, as a share of the map's calls: 0.05; 0: none (of->edges is false) */
};

struct clone_result {
    struct bodies *bodies;
    struct cloned_map cloned;
    /* For the cloned map, with pads by body; its values of before are those of the map without copies. */
    struct search_result found;
    bool *unshifted;      /* by node of the cloned map */
    uint32_t *most;       /* by body: bytes */
    struct pointed edges; /* calls through pointers that may lead to copies */
    struct pointed_sum guarded;
    uint32_t *heads; /* by node of the cloned map: redirects.h */
    uint32_t copies;
    uint64_t code;     /* bytes of the copied functions' original code */
    uint64_t all_code; /* bytes of all functions of the image */
};

/* Errors as of search_run(), enlarge_movable() and cloned_map_make(). */
int clone_run(const struct clone_problem *problem, struct clone_result *out, struct fathom_error *err);
void clone_clear(struct clone_result *result); /* zeros are allowed */

/* The guards of calls through pointers; the caller frees them. -ENOMEM. */
int clone_guards(const struct map_frames_of *of, const struct clone_result *result, struct move_guard **out,
                 size_t *count, struct fathom_error *err);

/* All direct calls and jumps to functions of the image, in each copy of the calling function, that lead to
 * another copy than the first, or past a PLT stub (past_plt.h); the caller frees them. -ENOMEM. */
int clone_calls(const struct map_frames_of *of, const struct map_frames *frames, const struct bodies *bodies,
                struct move_call **out, size_t *count, struct fathom_error *err);

#endif

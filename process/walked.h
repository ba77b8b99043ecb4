/*
 * walked.h - walks of stacks as records have them (perfdata/walks.h): made while recording, and read in place of walking the stack
 * again.
 */
#ifndef FATHOM_PROCESS_WALKED_H
#define FATHOM_PROCESS_WALKED_H

#include "perfdata/walks.h"
#include "process/unwind.h"

/* A walk of the sample's copied stack, as a record has it. frames: room for STACK_FRAMES_MAX, which *out borrows. */
void walked_make(const struct sample *sample, const struct unwind_frame *unwound, size_t count,
                 enum unwind_end end, struct walked_frame *frames, struct walked *out);
/* With its frames, for free(). NULL: out of memory. */
struct walked *walked_copy(const struct walked *walked);
/* As unwind_sample() for a sample with a walk. Where a file's code cannot be found, or CFAs do not grow, it ends. UNWIND_CUT too, where
 * a copy would lead on here, though it did not while recording. */
size_t walked_frames(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end);
/* The word below the CFA of the last of `count` frames, at least 1, by the sample's walk or its stack: where the walk went on. false:
 * not known. */
bool walked_beyond(const struct sample *sample, const struct unwind_frame *frames, size_t count,
                   uint64_t *word);
/* Whether a sample with a walk and a copy of its stack is walked in the same way here, up to its stack's base. frames: scratch,
 * UNWIND_MAX_FRAMES. */
bool walked_agrees(const struct process *process, const struct sample *sample, struct unwind_frame *frames);

#endif

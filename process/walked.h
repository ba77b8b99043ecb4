/*
 * walked.h - walks of stacks that were made while recording and are stored in records (perfdata/walks.h): they replace walking
 * the stack again.
 */
#ifndef FATHOM_PROCESS_WALKED_H
#define FATHOM_PROCESS_WALKED_H

#include "perfdata/walks.h"
#include "process/unwind.h"

/* The walk of the sample's copied stack, in the form of records. frames: STACK_FRAMES_MAX, borrowed by *out. */
void walked_make(const struct sample *sample, const struct unwind_frame *unwound, size_t count,
                 enum unwind_end end, struct walked_frame *frames, struct walked *out);
/* A copy including its frames, for free(). NULL: out of memory. */
struct walked *walked_copy(const struct walked *walked);
/* Like unwind_sample(), for a sample with a walk. It ends where a file's code cannot be found, or CFAs do not grow; with
 * UNWIND_CUT also where a copy would allow continuing here, though it did not while recording. */
size_t walked_frames(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end);
/* The word below the CFA of the last of `count` frames, at least 1, from the sample's walk or its stack: the address at which
 * the walk continued. false: unknown. */
bool walked_beyond(const struct sample *sample, const struct unwind_frame *frames, size_t count,
                   uint64_t *word);
/* Whether walking the copied stack of a sample that also has a walk gives the same frames here, up to its stack's base. frames:
 * scratch, UNWIND_MAX_FRAMES. */
bool walked_agrees(const struct process *process, const struct sample *sample, struct unwind_frame *frames);

#endif

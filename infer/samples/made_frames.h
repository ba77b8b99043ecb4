/*
 * made_frames.h - the frames of announced stacks whose code was made at run time, and may be replaced by other code at the same addresses: such a stack is
 * the same to the recorder, but its path has other functions from then on. Only of processes of which the times of that are known.
 */
#ifndef FATHOM_INFER_SAMPLES_MADE_FRAMES_H
#define FATHOM_INFER_SAMPLES_MADE_FRAMES_H

#include "infer/samples/trainer.h"

struct made_frames;

#define MADE_FRAMES_NONE 0u /* the stack has no such frame */

struct made_frames *made_frames_new(void); /* NULL: out of memory */
void made_frames_free(struct made_frames *frames);
/* Keeps those of a stack, the first of whose frames has this height. *number: its. 0 or -ENOMEM. */
int made_frames_add(struct made_frames *frames, const struct process *process,
                    const struct unwind_frame *stack, size_t count, uint32_t height, uint32_t *number);
/* Gives the path that was entered for the stack the functions that its code has in the process now. 0 or -ENOMEM. */
int made_frames_rename(struct made_frames *frames, uint32_t number, const struct process *process,
                       struct trainer *trainer, struct trie *trie, struct trainer_path *path);

#endif

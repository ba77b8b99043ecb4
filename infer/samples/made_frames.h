/*
 * made_frames.h - the frames of announced stacks whose code was made at run time, and may be replaced by other code at the same
 * addresses: the recorder takes such a stack as the same, but its path then has other functions. Only for processes for which
 * it is known when code was made.
 */
#ifndef FATHOM_INFER_SAMPLES_MADE_FRAMES_H
#define FATHOM_INFER_SAMPLES_MADE_FRAMES_H

#include "infer/samples/trainer.h"

struct made_frames;

#define MADE_FRAMES_NONE 0u /* the stack has no such frame */

struct made_frames *made_frames_new(void); /* NULL: out of memory */
void made_frames_free(struct made_frames *frames);
/* Stores the frames of a stack, whose first frame has this height. *number: the stack's number here. 0 or -ENOMEM. */
int made_frames_add(struct made_frames *frames, const struct process *process,
                    const struct unwind_frame *stack, size_t count, uint32_t height, uint32_t *number);
/* Replaces the functions on the path that was entered for the stack by those that the process has there now. 0 or -ENOMEM. */
int made_frames_rename(struct made_frames *frames, uint32_t number, const struct process *process,
                       struct trainer *trainer, struct trie *trie, struct trainer_path *path);

#endif

/* trainer.h - enters unwound samples into a trie, by which `train` and a recording's audit samples make a map. */
#ifndef FATHOM_INFER_SAMPLES_TRAINER_H
#define FATHOM_INFER_SAMPLES_TRAINER_H

#include "infer/samples/function_numbers.h"
#include "process/unwind.h"

struct trainer;

/* Borrows the trie. NULL: out of memory. */
struct trainer *trainer_new(struct trie *trie);
void trainer_free(struct trainer *trainer);

/* Stacks with a frame in this file (borrowed) are not entered, as if the frame were in no function. */
void trainer_leave_out(struct trainer *trainer, const char *path);
/* From now on, partial paths that are kept apart are entered, too. */
void trainer_keep_apart(struct trainer *trainer);
/* The numbers of the functions that it enters; owned by the trainer. */
struct function_numbers *trainer_numbers(struct trainer *trainer);
/* The trie's number of a place's function (which it must have), added if new. TRIE_NONE: out of memory. */
uint32_t trainer_function(struct trainer *trainer, const struct place *place);
/* Unwinds the sample's dump and enters every prefix of its path with its height: each gets one pass, the whole path one self. A
 * stack that was not unwound to its root, or has a frame in no function, is entered below a root that says why (partial.h); one
 * that has to be kept apart is counted as not unwound (trie_statistics), and entered only after trainer_keep_apart(), without
 * counts. Heights count from process_stack_base() on a thread's own stack; elsewhere the unwound stack determines and sets the
 * base (unwind_base(), unwind_signal_base()). If the trie omits frames (trie.h), so does this, except for the innermost. A
 * frame above the base (clone3) is omitted, so every height is at least 0 and grows by at least 8 from a caller to its callee.
 * *end (may be NULL): how the walk ended. Returns the number of frames entered, negative if out of memory. */
int trainer_add(struct trainer *trainer, struct process *process, const struct sample *sample,
                enum unwind_end *end, struct fathom_error *err);
/* Determines the base of the sample's stack from its dump, as trainer_add() does, without entering anything: 1; 0: unknown;
 * negative if out of memory. */
int trainer_find_base(struct trainer *trainer, struct process *process, const struct sample *sample,
                      struct fathom_error *err);
/* Where the last entered stack begins. */
struct trainer_origin {
    const struct unwind_frame *outermost; /* valid until the next trainer_add() */
    uint64_t base;
    uint32_t called; /* the function of the frame below it; TRIE_NONE: none */
};
struct trainer_origin trainer_origin(const struct trainer *trainer);
/* The last path that trainer_add() entered. */
struct trainer_path {
    uint32_t leaf;    /* node of the innermost frame */
    uint32_t callers; /* node of the frame around it; TRIE_ROOT: none */
    uint32_t height;  /* of the innermost frame */
    bool partial;     /* it does not begin at the stack's root */
    bool apart;       /* it has to be kept apart (pathmap/map/partial.h) */
    /* if apart: bytes by which its heights are less than from the stack's base, if that is known */
    uint64_t lowered;
    /* it spans two stacks, so that the heights of other samples do not identify their frames in it */
    bool switched;
};
struct trainer_path trainer_entered(const struct trainer *trainer);
/* Its frames, innermost first, as far as they were entered; valid until the next trainer_add(). */
const struct unwind_frame *trainer_frames(const struct trainer *trainer, size_t *count);
/* Enters a sample with the return addresses of a path entered before. Its callers are the same if its own frame has the height
 * of one of the path's frames; its function follows from its PC. *node: its own node; TRIE_NONE: no frame has that height.
 * Returns the number of nodes entered, or -ENOMEM. */
int trainer_repeat(struct trainer *trainer, const struct trainer_path *path, const struct process *process,
                   const struct sample *sample, uint32_t *node, struct fathom_error *err);

#endif

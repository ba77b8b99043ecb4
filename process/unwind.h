/*
 * unwind.h - walks a dumped stack by the CFI tables: the ground truth of audit samples and training.
 *
 * SP, IP, BP and the dump suffice for nearly all code; if a rule needs another register, or is an expression, the sample's
 * registers are used, if they were recorded (registers.h). A frame whose CFA cannot be computed ends the walk, with the
 * reason; a BP that cannot be computed is unknown, which matters only when a CFA needs it. A step by a derived row
 * (cfi/cfi.h) is trusted only if a call precedes the return address that it finds, or that is in run-time code
 * (image/run_time.h). CFAs grow strictly from frame to frame. A signal frame's CFA is the interrupted SP (as glibc's CFI
 * for __restore_rt says). A stack ends with its outermost function:
 *   - by its CFI (the return address is undefined: _start, clone3), or with a return address of 0, unless the thread's
 *     own base is known and is elsewhere;
 *   - at the thread's own base, if that is known;
 *   - if the return address is the first instruction of a function and no call precedes it: it was put there for a
 *     coroutine to return to (glibc's __start_context).
 * A signal handler on an alternate stack is the outermost frame there, according to the signal frame: the walk ends, as the
 * interrupted code is on a stack that was not copied (UNWIND_SIGNAL).
 * If a function of Go's runtime switched to the system stack (image/go_stacks.h), the walk continues on the goroutine's, if
 * that was copied: its frames have CFAs as if its bytes were where they are in the copy (stack_record.h,
 * STACK_PART_SWITCH).
 */
#ifndef FATHOM_PROCESS_UNWIND_H
#define FATHOM_PROCESS_UNWIND_H

#include "perfdata/known_stack.h"
#include "process/process.h"

#define UNWIND_MAX_FRAMES 4096

/* Recordings use the same numbers (enum stack_frames_end). */
enum unwind_end {
    UNWIND_ROOT,        /* reached the outermost frame: the path is complete */
    UNWIND_CUT,         /* the dump ended first */
    UNWIND_NO_MAPPING,  /* a PC outside all known code (JIT code, a damaged stack) */
    UNWIND_NO_CFI,      /* code without CFI */
    UNWIND_UNSUPPORTED, /* an unsupported CFI rule */
    UNWIND_BAD,         /* CFAs did not grow: a damaged stack */
    UNWIND_LONG,        /* more frames than requested */
    UNWIND_SWITCHED,    /* it continues on another stack, which was not copied */
    /* at a signal handler that was the first to run on the alternate stack: the interrupted code is on another */
    UNWIND_SIGNAL,
    UNWIND_ENDS,                   /* number of kinds */
    UNWIND_CONTINUES = UNWIND_ENDS /* a step did not end the walk */
};

struct unwind_frame {
    uint64_t pc; /* the return address for outer frames */
    /* of the PC (for a return address, CFI and function are looked up at - 1, except for a signal frame's and an interrupted
     * one's) */
    struct place place;
    uint64_t cfa;
    uint64_t caller_bp; /* BP after it returned; meaningless if the caller does not need it */
    bool interrupted;   /* a signal arrived here: pc is not a return address */
    bool derived;       /* its CFI row was derived from the code (image/cfi/cfi.h) */
};

/* What a walk read: another stack has the same frames if its words, and BP if has_bp is set, are the same, and its PC has the
 * same CFA. */
struct unwind_words {
    struct stack_word *words; /* innermost first */
    size_t count, capacity;
    struct table *ranges; /* of return addresses by image, cached while the images are open */
    bool has_bp;          /* the sample's BP was used */
    uint64_t registers;   /* the sample's other registers that were used, as in sample.register_mask */
    bool partial;         /* out of memory: some words are missing */
};

/* Frames innermost first; returns their number and sets *end. For a sample with a walk, the frames of that (walked.h). */
size_t unwind_sample(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end);
/* The same, and sets *words to those that this walk read. Out of memory: partial. *words has to be zeroed initially, can be
 * reused, and is freed by unwind_words_free(). */
size_t unwind_words(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                    size_t max, struct unwind_words *words, enum unwind_end *end);
/* Whether a walk with these frames continued on another stack. */
bool unwind_switched(const struct sample *sample, const struct unwind_frame *frames, size_t count);
void unwind_words_free(struct unwind_words *words);
/* The place and CFI row of a frame's PC: a return address, unless exact, belongs to the call before it. false: as for
 * process_cfi(). */
bool unwind_place(const struct process *process, uint64_t pc, bool exact, struct place *place,
                  struct cfi_row *row);
/* Whether nothing called the function with this return address: a coroutine begins with it. */
bool unwind_begins(const struct process *process, uint64_t return_address);
/* For a walk that ended like this after `count` frames, at least 1: the frame that it reached by a call but could not unwind,
 * without its CFA. false: no call precedes the last return address read, or no function is known there. */
bool unwind_beyond(const struct process *process, const struct sample *sample,
                   const struct unwind_frame *frames, size_t count, enum unwind_end end,
                   struct unwind_frame *out);
/* Whether the return address is that of a signal handler. */
bool unwind_is_handler(const struct process *process, uint64_t return_address);
/* The base of the stack (process.h) from a walk that ended with UNWIND_ROOT, and the kind of stack: a thread's own begins with
 * `_start` or returns to clone3. STACK_UNKNOWN: the sample is in one of these functions itself, which does not determine the
 * base. */
enum stack_kind unwind_base(const struct unwind_frame *frames, size_t count, uint64_t *base);
/* The base of an alternate signal stack from its outermost frame, the handler. The root that says why paths begin there is
 * above that. */
/* of the handler: heights of frames are the same modulo 16 on all stacks (x86-64 psABI, 3.2.2), and 8 is `_start`'s */
#define UNWIND_SIGNAL_HEIGHT 16u
static inline uint64_t unwind_signal_base(uint64_t handler_cfa)
{
    return handler_cfa + UNWIND_SIGNAL_HEIGHT;
}
const char *unwind_end_text(enum unwind_end end); /* "the dump ended before the stack did" */

#endif

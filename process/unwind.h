/*
 * unwind.h - walks a dumped stack by the CFI tables: the truth that audit samples and training are made of.
 *
 * Only SP, IP, BP and the dump are needed: rows whose CFA or BP cannot be told from these end the walk and
 * say why. CFAs grow strictly from frame to frame. A signal frame's CFA is the SP that was interrupted (as
 * glibc's CFI for __restore_rt says). A stack ends with the function that begins on it:
 *   - by its CFI (the return address is undefined: _start, clone3), or with a return address of 0;
 *   - with the thread's own base, when that is known;
 *   - where the return address is the first instruction of a function and no call stands before it: it was
 *     put there for a coroutine to return to (glibc's __start_context);
 *   - with a signal handler on an alternate stack, as the signal frame tells.
 */
#ifndef FATHOM_PROCESS_UNWIND_H
#define FATHOM_PROCESS_UNWIND_H

#include "process/process.h"

#define UNWIND_MAX_FRAMES 4096

enum unwind_end {
    UNWIND_ROOT,        /* reached the outermost frame: the path is whole */
    UNWIND_CUT,         /* the dump ended first */
    UNWIND_NO_MAPPING,  /* a PC outside all known code (JIT code, a damaged stack) */
    UNWIND_NO_CFI,      /* code without CFI */
    UNWIND_UNSUPPORTED, /* a CFI rule that cannot be followed */
    UNWIND_BAD,         /* CFAs did not grow: a damaged stack */
    UNWIND_LONG,        /* more than the frames that were asked for */
    UNWIND_ENDS         /* number of kinds */
};

struct unwind_frame {
    struct place place; /* of the PC; for outer frames the return address (its CFI and function are looked up
                           at - 1, but for a signal frame's and an interrupted one's) */
    uint64_t cfa;
    bool interrupted; /* a signal came here: pc is no return address */
};

/* Frames innermost first; returns their number and sets *end. */
size_t unwind_sample(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end);
/* Whether nothing called the function that has this return address: a coroutine begins with it. */
bool unwind_begins(const struct process *process, uint64_t return_address);
/* The base of the stack (process.h) from a walk that ended with UNWIND_ROOT, and whose stack it is: a
 * thread's own begins with `_start` or returns to clone3. STACK_UNKNOWN: the sample is in one of these
 * itself, which does not tell. */
enum stack_kind unwind_base(const struct unwind_frame *frames, size_t count, uint64_t *base);
const char *unwind_end_text(enum unwind_end end); /* "the dump ended before the stack did" */

#endif

/*
 * go_stacks.h - the two stacks of a thread that runs Go: the goroutine's, and the system stack, to which the
 * runtime changes for its own work, for C, and to grow the goroutine's stack (runtime/asm_amd64.s). While the
 * thread is on the system stack, the goroutine's state is saved in curg.sched, where Go's own tracebacks continue
 * (runtime/traceback.go).
 */
#ifndef FATHOM_IMAGE_GO_STACKS_H
#define FATHOM_IMAGE_GO_STACKS_H

#include "image/image.h"

/* The address of the running g is at the thread's FS base + `thread`; the others are offsets, in bytes. */
struct go_stacks {
    int32_t thread;
    uint32_t machine; /* in g: its m */
    uint32_t system;  /* in m: the g of its system stack, g0 */
    uint32_t current; /* in m: the goroutine that it runs, curg */
    uint32_t saved;   /* in g: its saved SP, followed by the saved PC */
    /* Code, as addresses of the image; call_size 0: not found. */
    uint64_t call;      /* runtime.systemstack_switch: the saved PC during a call on the system stack */
    uint64_t grow;      /* runtime.morestack: its return address is then the system stack's outermost word */
    uint32_t call_size; /* bytes */
    uint32_t grow_size;
};

/* Reads the offsets from the code of runtime.systemstack. false: the image has none, or its code is of an unknown
 * form. */
bool image_go_stacks(const struct image *image, struct go_stacks *out);

/* Functions that need special treatment in a walk. */
enum go_role {
    GO_OTHER,
    GO_CALLS_ON_SYSTEM, /* runtime.systemstack: what it calls runs on the system stack, itself on the goroutine's */
    GO_CALLS_C, /* runtime.asmcgocall: the same, unless it already was on the system stack (image_go_kept_sp()) */
    GO_GROWS, /* runtime.morestack: the same, but the saved PC is that of its caller, which needs a larger stack */
    GO_CALLED_BACK, /* runtime.cgocallback: what it calls runs on the goroutine's stack, further out on which is the
                     * call of C */
    GO_SAVED_PC,  /* runtime.systemstack_switch: stands for the first two in a saved PC */
    GO_SAVES,     /* gosave_systemstack_switch: called by these before they change stacks */
    GO_SCHEDULES, /* runtime.schedule: no goroutine waits for its work */
};
enum go_role image_go_role(const struct image *image, uint32_t function);
/* For a return address in runtime.asmcgocall. If the call is the one made without a change of stacks: the
 * distance in bytes from SP to where the function saved its own SP. -1: the call is the one after a change of
 * stacks. */
int image_go_kept_sp(const struct image *image, uint64_t return_address);

#endif

/*
 * go_stacks.h - the two stacks of a thread that runs Go: the goroutine's, and the system stack, to which the runtime changes for its
 * own work, for C, and to make the goroutine's larger (runtime/asm_amd64.s). While it is there, the goroutine's state is saved in
 * curg.sched: that is where Go's own tracebacks go on (runtime/traceback.go).
 */
#ifndef FATHOM_IMAGE_GO_STACKS_H
#define FATHOM_IMAGE_GO_STACKS_H

#include "image/image.h"

/* A thread's FS base + `thread` has the address of the g that runs; the others are offsets, in bytes. */
struct go_stacks {
    int32_t thread;
    uint32_t machine; /* in a g: its m */
    uint32_t system;  /* in an m: the g of its system stack, g0 */
    uint32_t current; /* in an m: the goroutine that it runs, curg */
    uint32_t saved;   /* in a g: its saved SP, which its PC follows */
    /* Code, by addresses of the image; 0 bytes: not found. */
    uint64_t
        call; /* where a saved PC is while a function calls on the system stack: runtime.systemstack_switch */
    uint64_t
        grow; /* runtime.morestack, whose return address is there the outermost word of the system stack */
    uint32_t call_size; /* bytes */
    uint32_t grow_size;
};

/* Reads them off the code of runtime.systemstack. false: the image has none, or one that is not known. */
bool image_go_stacks(const struct image *image, struct go_stacks *out);

/* Functions that are different from others in a walk. */
enum go_role {
    GO_OTHER,
    GO_CALLS_ON_SYSTEM, /* runtime.systemstack: what it calls runs on the system stack, itself on the goroutine's */
    GO_CALLS_C, /* runtime.asmcgocall, likewise; unless it was on the system stack already (image_go_kept_sp()) */
    GO_GROWS, /* runtime.morestack: likewise, but the saved PC is that of its caller, which needs a larger stack */
    GO_CALLED_BACK, /* runtime.cgocallback: what it calls runs on the goroutine's stack again, beyond which is the call of C */
    GO_SAVED_PC,  /* runtime.systemstack_switch: stands for the first two in a saved PC */
    GO_SAVES,     /* gosave_systemstack_switch: what they call before they change stacks */
    GO_SCHEDULES, /* runtime.schedule: no goroutine waits for what it does */
};
enum go_role image_go_role(const struct image *image, uint32_t function);
/* For a return address in runtime.asmcgocall: bytes from SP to where it keeps its own SP, for a call on the stack that it was on; -1: the
 * call is the other one, for which it changes stacks. */
int image_go_kept_sp(const struct image *image, uint64_t return_address);

#endif

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

enum go_switch {
    GO_SWITCH_NONE,
    GO_SWITCH_CALL, /* it went on to the system stack to call, and has its own frame on the goroutine's */
    GO_SWITCH_BACK, /* runtime.cgocallback: what it calls runs on the goroutine's stack again, above the call of C */
    GO_SWITCH_GROW, /* runtime.morestack: the saved PC is that of the function which needs a larger stack */
};

/* Whether what this function calls runs on another stack. */
enum go_switch image_go_switch(const struct image *image, uint32_t function);
/* Whether it is what stands as a goroutine's saved PC while that is on the system stack (runtime.systemstack_switch). */
bool image_go_is_saved(const struct image *image, uint32_t function);

#endif

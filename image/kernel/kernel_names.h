/*
 * kernel_names.h - names for addresses of a recorded kernel, taken from the running one if it is the same.
 *
 * The kernel is the same if the build-ids agree; after a restart it may be at another address. A module must be
 * at the same address, as its build is not known.
 */
#ifndef FATHOM_IMAGE_KERNEL_KERNEL_NAMES_H
#define FATHOM_IMAGE_KERNEL_KERNEL_NAMES_H

#include "image/kernel/running.h"

struct kernel_names { /* both borrowed */
    struct running_kernel *running;
    const struct kernel_layout *recorded; /* has the recorded kernel's address */
};

enum kernel_named {
    KERNEL_NAMED,
    KERNEL_OTHER,   /* another kernel runs here */
    KERNEL_HIDDEN,  /* the running kernel hides its addresses */
    KERNEL_UNKNOWN, /* no function is known there: a module at another address, or code made at run time */
};

struct kernel_name {
    char name[160];    /* the function, cut if longer, or "[kernel]+0x12f0" */
    const char *image; /* "[kernel]" or "[ext4]"; borrowed */
    uint64_t address;  /* of the function or, if unknown, of the named place, in its part of the kernel */
};

/* Names an address; there always is some name. 0, or -ENOMEM with a message. */
int kernel_names_find(const struct kernel_names *names, uint64_t address, struct kernel_name *out,
                      enum kernel_named *how, struct fathom_error *err);

#endif

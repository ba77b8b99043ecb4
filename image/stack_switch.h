/*
 * stack_switch.h - recognises instructions at which a function has changed to another stack, but not yet to its
 * frame there.
 */
#ifndef FATHOM_IMAGE_STACK_SWITCH_H
#define FATHOM_IMAGE_STACK_SWITCH_H

#include "image/image.h"

/* Whether an earlier instruction of the same straight piece of code loaded SP from memory, and nothing was pushed
 * since: then CFI is wrong about SP, as in glibc's swapcontext() and setcontext(). Decodes the function up to the
 * address; false if that is not possible. */
bool image_stack_switched(const struct image *image, uint64_t address);

#endif

/*
 * stack_switch.h - instructions at which a function has changed to another stack, but not yet to its frame there.
 */
#ifndef FATHOM_IMAGE_STACK_SWITCH_H
#define FATHOM_IMAGE_STACK_SWITCH_H

#include "image/image.h"

/* Whether SP was loaded from memory by an earlier instruction of the same straight piece of code, and nothing was
 * pushed since: then SP is not what CFI tells, as in glibc's swapcontext() and setcontext(). Decodes the function
 * up to the address; false if that is not possible. */
bool image_stack_switched(const struct image *image, uint64_t address);

#endif

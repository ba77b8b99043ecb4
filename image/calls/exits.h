/* exits.h - the instructions by which a function leaves its frame: returns, and jumps to other functions (tail calls). */
#ifndef FATHOM_IMAGE_CALLS_EXITS_H
#define FATHOM_IMAGE_CALLS_EXITS_H

#include "image/image.h"

enum exit_kind {
    EXIT_RETURN,
    EXIT_TAIL,   /* a jump to another function, which then returns in its place */
    EXIT_HIDDEN, /* a conditional one: it may be passed and not taken, or runs over the function's end */
    EXIT_AGAIN,  /* a jump to the function's own first instruction: no exit */
};

typedef int exit_see(void *context, enum exit_kind kind, uint64_t address);
/* What is read of an image for all of its functions. */
struct exits_reader;

/* 0 or -ENOMEM; close it even on failure. image: borrowed. */
int exits_open(const struct image *image, struct exits_reader **out);
void exits_close(struct exits_reader *reader); /* NULL is allowed */
/* Calls see() for each of a function, by index (an owner), with its .cold parts, of which SP is at the return address there. Until see() is not 0, which is
 * returned. Jumps through tables that cannot be read are taken to stay in the function. -ENOMEM. */
int exits_see(struct exits_reader *reader, uint32_t function, exit_see *see, void *context);

#endif

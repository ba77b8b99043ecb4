/* exits.h - the instructions by which a function leaves its frame: returns, and jumps to other functions (tail calls). */
#ifndef FATHOM_IMAGE_CALLS_EXITS_H
#define FATHOM_IMAGE_CALLS_EXITS_H

#include "image/image.h"

enum exit_kind {
    EXIT_RETURN,
    EXIT_TAIL,   /* a jump to another function, which then returns in its place */
    EXIT_HIDDEN, /* a conditional one, or a fall-through at the function's end: it need not be taken */
    EXIT_AGAIN,  /* a jump to the function's own first instruction: no exit */
};

struct exits {
    struct exit {
        enum exit_kind kind;
        uint64_t address;
    } * items;
    size_t count, capacity;
};
/* What is read once per image. */
struct exits_reader;

/* 0 or -ENOMEM; close it even on failure. image: borrowed. */
int exits_open(const struct image *image, struct exits_reader **out);
void exits_close(struct exits_reader *reader); /* NULL is allowed */
/* Adds the exits of a function (index of an owner) and its .cold parts; at each, SP points to the return address. Jumps
 * by tables that cannot be read are assumed to stay in the function. 0 or -ENOMEM. */
int exits_find(struct exits_reader *reader, uint32_t function, struct exits *out);

#endif

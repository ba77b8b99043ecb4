/*
 * no_return.h - which functions do not return: code behind their calls is another's, or not reached. Private to image/.
 *
 * Those of the C and C++ libraries by name, also as stubs of the PLT; and functions all of whose ways lead to calls of such, to stops, in
 * circles or to where another function begins. A function that is not known is taken to return. Each is looked at when it is first asked
 * for.
 */
#ifndef FATHOM_IMAGE_NO_RETURN_H
#define FATHOM_IMAGE_NO_RETURN_H

#include "image/code/code.h"
#include "image/elf/slots.h"
#include "image/image.h"

struct no_return {
    const struct image *image; /* borrowed */
    uint8_t *functions;        /* enum no_return_is, by index */
    struct stub *stubs;        /* by name */
    uint32_t stub_count, stub_capacity;
    uint32_t *found; /* functions that return, as found */
    uint32_t found_count, found_capacity;
    struct slots *slots; /* words of data, borrowed */
    bool is_listed;      /* the stubs are */
    unsigned depth;      /* functions that are being looked at */
    uint64_t budget;     /* instructions that may still be read */
};

/* slots are borrowed, and built when a call goes by one. 0 or -ENOMEM. */
int no_return_open(const struct image *image, struct slots *slots, struct no_return *out);
void no_return_close(struct no_return *no_return);
/* Whether an instruction calls one of them, also by a word of data, as the GOT has. */
bool no_return_calls(struct no_return *no_return, const struct code_insn *insn);

#endif

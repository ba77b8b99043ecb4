/*
 * no_return.h - which functions do not return: code behind their calls is another's, or not reached. Private to image/.
 *
 * Those of the C and C++ libraries by name, also as stubs of the PLT; and functions all of whose ways lead to calls of such, to stops, in
 * circles or to where another function begins. A function that is not known is taken to return.
 */
#ifndef FATHOM_IMAGE_NO_RETURN_H
#define FATHOM_IMAGE_NO_RETURN_H

#include "image/code/code.h"
#include "image/image.h"

struct no_return {
    const struct image *image; /* borrowed */
    bool *functions;           /* by index */
    struct stub {
        const char *name;
        uint32_t function;
    } * stubs; /* by name */
    uint32_t stub_count, stub_capacity;
};

int no_return_find(const struct image *image, struct no_return *out); /* 0 or -ENOMEM */
void no_return_free(struct no_return *no_return);
/* Whether an instruction calls one of them. */
bool no_return_calls(const struct no_return *no_return, const struct code_insn *insn);

#endif

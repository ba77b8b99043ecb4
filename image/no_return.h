/*
 * no_return.h - which functions do not return: code behind a call of one is another function's, or not reached.
 * Private to image/.
 *
 * Functions of the C and C++ libraries are known by name, also as PLT stubs. Others do not return if all of their
 * paths end in calls of such functions, stops, loops, or where another function begins. Functions are examined on
 * demand; unknown ones are assumed to return.
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
    uint32_t *found; /* functions that return, in the order in which they were found */
    uint32_t found_count, found_capacity;
    struct slots *slots; /* words of data, borrowed */
    bool is_listed;      /* `stubs` has been filled */
    unsigned depth;      /* nesting of functions being examined */
    uint64_t budget;     /* instructions that may still be read */
};

/* slots are borrowed, and built when the first call through one is examined. 0 or -ENOMEM. */
int no_return_open(const struct image *image, struct slots *slots, struct no_return *out);
void no_return_close(struct no_return *no_return);
/* Whether an instruction calls a function that does not return, also through a data word such as a GOT entry. */
bool no_return_calls(struct no_return *no_return, const struct code_insn *insn);

#endif

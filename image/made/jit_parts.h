/* jit_parts.h - what a jitdump says of the parts of code that it loads: lines and unwind rows. Private to image/. */
#ifndef FATHOM_IMAGE_MADE_JIT_PARTS_H
#define FATHOM_IMAGE_MADE_JIT_PARTS_H

#include "base/bytes.h"
#include "image/made/code_namer.h"

struct jit_parts {
    struct code_part *parts; /* malloc'ed, the caller's; file names are in the bytes that were read */
    size_t count, capacity;
};

/* What one runtime writes in another way than the others. */
struct jit_dialect {
    uint64_t added; /* to the addresses of lines, bytes */
    /* The name of the code's own file, of which the first JIT_FREED bytes may have been overwritten where lines have it, as its memory was freed. NULL: that does
     * not happen. */
    const char *file;
    size_t file_length;
};
#define JIT_FREED 16u

/* debug: the body of a JIT_CODE_DEBUG_INFO; unwinding: of a JIT_CODE_UNWINDING_INFO; of no bytes:
 * there is none. What is damaged ends each. 0 or -ENOMEM. */
int jit_parts_read(struct jit_parts *out, uint64_t address, uint64_t size, struct bytes debug,
                   const struct jit_dialect *dialect, struct bytes unwinding);

#endif

/* jit_parts.h - reads the parts of code in a jitdump: lines and unwind rows. Private to image/. */
#ifndef FATHOM_IMAGE_MADE_JIT_PARTS_H
#define FATHOM_IMAGE_MADE_JIT_PARTS_H

#include "base/bytes.h"
#include "image/made/code_namer.h"

struct jit_parts {
    struct code_part *parts; /* malloc'ed, the caller's; file names point into the bytes that were read */
    size_t count, capacity;
};

/* How a runtime's jitdumps differ from others. */
struct jit_dialect {
    uint64_t added; /* excess in the lines' addresses, bytes */
    /* The code's own file, of whose name the first JIT_FREED bytes may have been overwritten in the lines, as the
     * runtime had freed it. NULL: this runtime does not. */
    const char *file;
    size_t file_length;
};
#define JIT_FREED 16u

/* debug: the body of a JIT_CODE_DEBUG_INFO; unwinding: of a JIT_CODE_UNWINDING_INFO; size 0: none. Each is read
 * up to the first damage. 0 or -ENOMEM. */
int jit_parts_read(struct jit_parts *out, uint64_t address, uint64_t size, struct bytes debug,
                   const struct jit_dialect *dialect, struct bytes unwinding);

#endif

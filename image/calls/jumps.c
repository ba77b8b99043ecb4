/* jumps.c - runs only the part of the call graph's reader that resolves jumps; see jumps.h. */
#include "image/calls/jumps.h"

#include <errno.h>
#include <stdlib.h>

#include "image/calls/private.h"

struct calls_jumps {
    struct calls *calls; /* only its relocated words and marks are used */
    struct calls_reader reader;
};

int calls_jumps_new(const struct image *image, struct calls_jumps **out)
{
    struct calls_jumps *jumps = calloc(1, sizeof *jumps);
    struct calls *calls = calloc(1, sizeof *calls);
    if (!jumps || !calls) {
        free(jumps);
        free(calls);
        return -ENOMEM;
    }
    jumps->calls = jumps->reader.calls = calls;
    calls->image = image;
    calls->function_count = image_function_count(image);
    if (slots_build(&image->file, &calls->slots) < 0 || calls_mark_functions(calls) < 0) {
        calls_jumps_free(jumps);
        return -ENOMEM;
    }
    *out = jumps;
    return 0;
}

void calls_jumps_free(struct calls_jumps *jumps)
{
    if (!jumps)
        return;
    calls_free(jumps->calls);
    free(jumps->reader.operands);
    free(jumps);
}

int calls_jumps_follow(struct calls_jumps *jumps, uint32_t function, struct function_code *code)
{
    struct calls_reader *r = &jumps->reader;
    struct calls *calls = jumps->calls;
    /* discards what else the reader notes */
    calls->pair_count = calls->symbol_count = calls->object_count = r->operand_count = 0;
    r->function = function;
    r->code = *code;
    int rc = calls_read_operands(r);
    *code = r->code;
    return rc;
}

/* blocks.c - see blocks.h. */
#include "image/blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "image/function_code.h"
#include "image/function_parts.h"

struct blocks_reader {
    struct function_parts parts;
    struct function_code code;
};

/* Whether a block begins with an instruction. */
static bool begins(const struct function_code *code, uint32_t i)
{
    if (i == 0 || code->ways[i] & (WAY_BRANCH | WAY_ALONE | WAY_POINTED))
        return true;
    const enum code_kind before = code->insns[i - 1].kind;
    return before == CODE_BRANCH || before == CODE_JUMP || before == CODE_JUMP_INDIRECT ||
           before == CODE_RETURN || before == CODE_STOP;
}

struct blocks_reader *blocks_open(const struct image *image)
{
    struct blocks_reader *r = calloc(1, sizeof *r);
    if (r && function_parts_open(image, NULL, &r->parts) < 0) {
        blocks_close(r);
        r = NULL;
    }
    return r;
}

void blocks_close(struct blocks_reader *r)
{
    if (!r)
        return;
    function_parts_close(&r->parts);
    function_code_free(&r->code);
    free(r);
}

int blocks_read(struct blocks_reader *r, uint32_t function, struct blocks *out)
{
    const struct function_code *code = &r->code;
    *out = (struct blocks){0};
    int rc = function_parts_all(&r->parts, function);
    if (rc == 0)
        rc = function_code_read(&r->code, r->parts.image, r->parts.items, r->parts.count);
    if (rc < 0)
        return rc;
    out->addresses = calloc((size_t)code->count + 1, sizeof *out->addresses);
    out->blocks = calloc((size_t)code->count + 1, sizeof *out->blocks);
    if (!out->addresses || !out->blocks)
        return -ENOMEM;
    for (out->count = 0; out->count < code->count; out->count++) {
        out->block_count += begins(code, out->count);
        out->addresses[out->count] = code->insns[out->count].address;
        out->blocks[out->count] = out->block_count - 1;
    }
    return 0;
}

void blocks_free(struct blocks *blocks)
{
    free(blocks->addresses);
    free(blocks->blocks);
    *blocks = (struct blocks){0};
}

uint32_t blocks_find(const struct blocks *b, uint64_t address)
{
    const size_t n = lower_bound(i, 0, b->count, b->addresses[i] <= address);
    return n ? (uint32_t)n - 1 : UINT32_MAX;
}

/* blocks.c - see blocks.h. */
#include "image/blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "image/function_code.h"
#include "image/function_parts.h"

/* Whether a block begins with an instruction. */
static bool begins(const struct function_code *code, uint32_t i)
{
    if (i == 0 || code->ways[i] & (WAY_BRANCH | WAY_ALONE | WAY_POINTED))
        return true;
    const enum code_kind before = code->insns[i - 1].kind;
    return before == CODE_BRANCH || before == CODE_JUMP || before == CODE_JUMP_INDIRECT ||
           before == CODE_RETURN || before == CODE_STOP;
}

int blocks_read(const struct image *image, uint32_t function, struct blocks *out)
{
    struct function_code code = {0};
    struct function_parts parts;
    *out = (struct blocks){0};
    int rc = function_parts_open(image, NULL, &parts);
    if (rc == 0)
        rc = function_parts_all(&parts, function);
    if (rc == 0)
        rc = function_code_read(&code, image, parts.items, parts.count);
    out->addresses = calloc((size_t)code.count + 1, sizeof *out->addresses);
    out->blocks = calloc((size_t)code.count + 1, sizeof *out->blocks);
    if (!out->addresses || !out->blocks)
        rc = -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < code.count; i++) {
        out->block_count += begins(&code, i);
        out->addresses[i] = code.insns[i].address;
        out->blocks[i] = out->block_count - 1;
    }
    out->count = rc == 0 ? code.count : 0;
    function_code_free(&code);
    function_parts_close(&parts);
    return rc;
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

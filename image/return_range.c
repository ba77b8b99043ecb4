/* return_range.c - see return_range.h. */
#include "image/return_range.h"

#include <string.h>

#include "image/cfi/cfi.h"
#include "image/code/code.h"

void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end)
{
    const struct cfi *cfi = image_cfi(image);
    const struct cfi_row row = cfi_lookup(cfi, address);
    uint32_t index = image_function_at(image, address);
    *start = address;
    *end = address + 1;
    if (index == IMAGE_NO_FUNCTION)
        return;
    const struct image_function *function = image_function(image, index);
    uint64_t at = function->address, limit = at + function->size, low = at, high = limit;
    size_t size;
    const uint8_t *code = image_bytes(image, at, &size);
    if (address < at || address >= limit || !code || size < function->size)
        return;
    for (struct code_insn insn; at < limit && high == limit; at += insn.length) {
        if (!code_read(code + (at - function->address), (size_t)(limit - at), at, &insn))
            return;
        uint64_t last = at + insn.length - 1;
        if (insn.kind != CODE_CALL && insn.kind != CODE_CALL_INDIRECT)
            continue;
        const struct cfi_row other = cfi_lookup(cfi, last);
        if (cfi_row_same(&other, &row))
            continue;
        if (last < address)
            low = last + 1;
        else
            high = last;
    }
    *start = low;
    *end = high;
}

/* return_range.c - see return_range.h. */
#include "image/return_range.h"

#include "image/cfi/cfi.h"
#include "image/code/code.h"

bool image_calls_between(const struct image *image, uint64_t at, uint64_t end, uint64_t *first,
                         uint64_t *last)
{
    size_t size;
    const uint8_t *code = image_bytes(image, at, &size);
    *first = UINT64_MAX;
    *last = 0;
    if (!code || size < end - at)
        return false;
    for (struct code_insn insn; at < end; at += insn.length, code += insn.length) {
        if (!code_read(code, (size_t)(end - at), at, &insn))
            return false;
        if (insn.kind != CODE_CALL && insn.kind != CODE_CALL_INDIRECT)
            continue;
        *last = at + insn.length - 1;
        *first = *first == UINT64_MAX ? *last : *first;
    }
    return true;
}

void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end)
{
    const struct cfi *cfi = image_cfi(image);
    const struct cfi_row row = cfi_lookup(cfi, address);
    const struct image_function *function = image_function(image, image_function_at(image, address));
    *start = address;
    *end = address + 1;
    if (!function || address < function->address || address >= function->address + function->size)
        return;
    uint64_t low = function->address, high = low + function->size;
    unsigned rows = 0;
    for (uint64_t at = low, next, limit = high; at < limit && high == limit; at = next) {
        const struct cfi_row other = cfi_lookup(cfi, at);
        uint64_t first, last, row_end = cfi_row_end(cfi, at);
        next = row_end < limit ? row_end : limit;
        if (rows++ == RETURN_RANGE_ROWS)
            return;
        if (cfi_row_same(&other, &row))
            continue;
        if (!image_calls_between(image, at, next, &first, &last))
            return;
        if (first > last)
            continue;
        if (last < address)
            low = last + 1;
        else
            high = first;
    }
    *start = low;
    *end = high;
}

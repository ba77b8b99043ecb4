/* return_range.c - see return_range.h. */
#include "image/return_range.h"

#include "image/code/code.h"
#include "image/image_private.h"

struct cfi_span image_row_span(const struct image *image, uint32_t function, uint64_t address)
{
    const struct image_function *f = image_function(image, function);
    struct cfi_span span;
    cfi_lookup_span(image_cfi(image), address, &span);
    return (struct cfi_span){span.start > f->address ? span.start : f->address,
                             span.end < f->address + f->size ? span.end : f->address + f->size};
}

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

/* Finds the calls in a row, if that is not the same as this row. false: its code cannot be decoded. */
static bool other_calls(const struct image *image, const struct cfi_row *row, const uint64_t starts[2],
                        uint64_t *first, uint64_t *last)
{
    const struct cfi_row other = cfi_lookup(image_cfi(image), starts[0]);
    *first = UINT64_MAX;
    *last = 0;
    return cfi_row_same(&other, row) || image_calls_between(image, starts[0], starts[1], first, last);
}

/* Lists where the rows of a function begin and, last, where the function ends. Returns their number; 0: too many.
 * *own: the address's row. */
static size_t list_rows(const struct cfi *cfi, const struct image_function *function, uint64_t address,
                        uint64_t starts[RETURN_RANGE_ROWS + 1], size_t *own)
{
    const uint64_t limit = function->address + function->size;
    size_t count = 0;
    for (uint64_t at = function->address, end; at < limit; at = end) {
        if (count == RETURN_RANGE_ROWS)
            return 0;
        if (at <= address)
            *own = count;
        starts[count++] = at;
        end = cfi_row_end(cfi, at);
        if (end > limit)
            end = limit;
    }
    starts[count] = limit;
    return count;
}

#define STEPS_MOST 65536u /* limit of ranges read in a function's table */

/* Narrows the range to the inlined call of an address. */
static void narrow_to_call(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end)
{
    const struct go_table *go = &image->go;
    struct go_function f;
    struct go_delta range;
    uint32_t steps = STEPS_MOST;
    if (!go->data || !go_table_find(go, address, &f) ||
        !go_range_at(go, &f, f.calls, address, &steps, &range))
        return;
    *start = range.start > *start ? range.start : *start;
    *end = range.end < *end ? range.end : *end;
}

/* On each side, the nearest row with a call decides; what is beyond it is not looked at. */
void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end)
{
    const struct cfi *cfi = image_cfi(image);
    const struct cfi_row row = cfi_lookup(cfi, address);
    const struct image_function *function = image_function(image, image_function_at(image, address));
    uint64_t starts[RETURN_RANGE_ROWS + 1], first = UINT64_MAX, last = 0;
    *start = address;
    *end = address + 1;
    if (!function || address < function->address || address >= function->address + function->size)
        return;
    uint64_t low = function->address, high = low + function->size;
    size_t own = 0, count = list_rows(cfi, function, address, starts, &own);
    bool readable = count > 0;
    for (size_t i = own; readable && i-- > 0 && first > last;) {
        readable = other_calls(image, &row, starts + i, &first, &last);
        if (first <= last)
            low = last + 1;
    }
    first = UINT64_MAX;
    last = 0;
    for (size_t i = own + 1; readable && i < count && first > last; i++) {
        readable = other_calls(image, &row, starts + i, &first, &last);
        if (first <= last)
            high = first;
    }
    if (!readable)
        return;
    *start = low;
    *end = high;
    narrow_to_call(image, address, start, end);
}

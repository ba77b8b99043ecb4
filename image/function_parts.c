/* function_parts.c - see function_parts.h. */
#include "image/function_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/image_private.h"

#define SIZE_MOST  (1u << 20) /* bytes of a function: a larger one is code that no symbol divides */
#define PART_MOST  (1u << 14) /* bytes */
#define PARTS_MOST 1024u      /* per function */
#define AHEAD      512u /* bytes that a branch within a part leads ahead: a longer one leads to another part */

/* any: even if its rows are known. */
static int add_whole(struct function_parts *parts, uint32_t function, bool any)
{
    const struct image_function *f = &parts->image->functions.items[function];
    const struct function_part part = {f->address, f->size};
    size_t size;
    const uint8_t *bytes = image_bytes(parts->image, f->address, &size);
    if (!bytes || size < f->size || f->size > SIZE_MOST || (!any && cfi_tells(parts->image->cfi, f->address)))
        return 0;
    return vec_push(parts->items, parts->count, parts->capacity, part) ? 0 : -ENOMEM;
}

static int find_parts(struct function_parts *parts, uint32_t function, bool any)
{
    const struct cold_part *cold = parts->cold;
    const struct image_function *f = &parts->image->functions.items[function];
    parts->whole = (struct function_part){f->address, f->size};
    parts->count = 0;
    int rc = add_whole(parts, function, any);
    uint32_t i = lower_bound(k, 0, parts->cold_count, cold[k].owner < function);
    for (; rc == 0 && i < parts->cold_count && cold[i].owner == function; i++)
        rc = add_whole(parts, cold[i].function, any);
    sort_by(parts->items, parts->count, address);
    return rc;
}

int function_parts_find(struct function_parts *parts, uint32_t function)
{
    return find_parts(parts, function, false);
}

int function_parts_all(struct function_parts *parts, uint32_t function)
{
    return find_parts(parts, function, true);
}

bool function_parts_followed(const struct function_parts *parts, uint64_t address)
{
    const struct functions *functions = &parts->image->functions;
    const uint32_t f = functions_find(functions, address);
    return address - parts->whole.address >= parts->whole.size &&
           (f == IMAGE_NO_FUNCTION || !functions->items[f].name);
}

bool function_parts_leads(const struct function_parts *parts, uint64_t address)
{
    return parts->count < PARTS_MOST && function_parts_followed(parts, address) &&
           functions_start(&parts->image->functions, address) < START_POINTED &&
           elf_file_is_code(&parts->image->file, address, 1) && !cfi_tells(parts->image->cfi, address);
}

/* The end of the part that begins at an address, at most `stop`. */
static uint64_t part_end(const struct function_parts *parts, uint64_t address, uint64_t stop)
{
    size_t size;
    const uint8_t *bytes = image_bytes(parts->image, address, &size);
    uint64_t at = address, reached = address;
    struct code_insn insn;
    size = !bytes ? 0 : size < stop - address ? size : stop - address;
    while (at - address < size && code_read(bytes + (at - address), size - (at - address), at, &insn)) {
        at += insn.length;
        const bool branch = insn.kind == CODE_BRANCH || insn.kind == CODE_JUMP;
        if (branch && insn.target > reached && insn.target - at < AHEAD)
            reached = insn.target;
        if (((!code_goes_on(&insn) || no_return_calls(parts->no_return, &insn)) && at > reached) ||
            functions_start(&parts->image->functions, at) >= START_POINTED)
            break;
    }
    return at;
}

int function_parts_add(struct function_parts *parts, uint64_t address)
{
    struct function_part *items = parts->items;
    const uint32_t i = lower_bound(k, 0u, parts->count, items[k].address <= address);
    if (i && address - items[i - 1].address < items[i - 1].size)
        return 0;
    uint64_t stop = address + PART_MOST;
    if (i < parts->count && items[i].address < stop)
        stop = items[i].address;
    const uint64_t end = part_end(parts, address, stop);
    if (end == address)
        return 0;
    if (!vec_reserve(parts->items, parts->count, parts->capacity, 1))
        return -ENOMEM;
    memmove(parts->items + i + 1, parts->items + i, (parts->count++ - i) * sizeof *items);
    parts->items[i] = (struct function_part){address, (uint32_t)(end - address)};
    return 0;
}

int function_parts_open(const struct image *image, struct no_return *no_return, struct function_parts *out)
{
    const struct functions *functions = &image->functions;
    *out = (struct function_parts){.image = image, .no_return = no_return};
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct cold_part cold = {functions_owner(functions, i), i};
        if (cold.owner != i && !vec_push(out->cold, out->cold_count, out->cold_capacity, cold))
            return -ENOMEM;
    }
    sort_by(out->cold, out->cold_count, owner);
    return 0;
}

void function_parts_close(struct function_parts *parts)
{
    free(parts->items);
    free(parts->cold);
}

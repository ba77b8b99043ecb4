/* functions.c - merges FDE ranges, symbols and PLT stubs; see functions.h. */
#include "image/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/extent.h"
#include "image/function_starts.h"

int functions_add(struct functions *functions, uint64_t address, uint64_t size, const char *name)
{
    struct image_function added = {address, (uint32_t)size, 0, name};
    return vec_push(functions->items, functions->count, functions->capacity, added) ? 0 : -ENOMEM;
}

void functions_sort(struct functions *functions)
{
    sort_by(functions->items, functions->count, address);
}

/* Whether [address, address + size) overlaps one of the first `count` items, which are sorted. */
static bool overlaps_item(const struct functions *functions, uint32_t count, uint64_t address, uint64_t size)
{
    uint32_t beyond = lower_bound(i, 0, count, functions->items[i].address < address + size);
    if (beyond == 0)
        return false;
    const struct image_function *f = &functions->items[beyond - 1];
    return f->address + f->size > address;
}

static int add_ranges(struct functions *functions, const struct cfi *cfi)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(cfi, &ranges);
    uint32_t stubs = functions->count;
    for (size_t i = 0; i < count; i++)
        if (!overlaps_item(functions, stubs, ranges[i].address, ranges[i].size) &&
            functions_add(functions, ranges[i].address, ranges[i].size, NULL) < 0)
            return -ENOMEM;
    functions_sort(functions);
    return 0;
}

/* The best symbol at exactly this address, or NULL. */
static const struct symbol *symbol_at(const struct symbols *symbols, uint64_t address)
{
    size_t first = lower_bound(i, 0, symbols->count, symbols->items[i].address < address);
    return first < symbols->count && symbols->items[first].address == address ? &symbols->items[first] : NULL;
}

static void name_ranges(struct functions *functions, const struct symbols *symbols)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        struct image_function *f = &functions->items[i];
        const struct symbol *s = f->name ? NULL : symbol_at(symbols, f->address);
        /* the FDE of a signal trampoline starts one byte early, for unwinders that look up PC - 1 */
        if (!f->name && !s && f->size > 1)
            s = symbol_at(symbols, f->address + 1);
        if (s)
            f->name = s->name;
    }
}

/* Upper bound for the end of code of unknown size: its section's or segment's end. */
static uint64_t code_end(const struct elf_file *file, uint64_t address)
{
    uint64_t end = file->code_high;
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        if (address - s->address < s->memory_size)
            end = s->address + s->memory_size;
    }
    for (size_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if ((s->flags & SHF_EXECINSTR) && address - s->address < s->size && s->size < end - s->address)
            end = s->address + s->size;
    }
    return end;
}

/* Adds functions without an FDE. One without a size extends as far as its own code does (extent.h), so a label
 * within another function is part of that one's extent. */
static int add_uncovered(const struct elf_file *file, struct functions *functions,
                         const struct symbols *symbols)
{
    uint32_t covered = functions->count, next = 0;
    uint64_t end = 0; /* of the last function added */
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *s = &symbols->items[i];
        while (next < covered && functions->items[next].address <= s->address)
            next++;
        if (next) {
            const struct image_function *before = &functions->items[next - 1];
            if (s->address - before->address < before->size)
                continue;
        }
        if (s->address < end)
            continue;
        uint64_t stop = code_end(file, s->address);
        if (next < covered && functions->items[next].address < stop)
            stop = functions->items[next].address;
        if (s->size && s->size < stop - s->address)
            stop = s->address + s->size;
        for (size_t j = i + 1; s->size == 0 && j < symbols->count; j++) {
            const struct symbol *t = &symbols->items[j];
            if (t->address == s->address)
                continue;
            if (t->address < stop && (t->typed || t->size))
                stop = t->address;
            break;
        }
        if (s->size == 0)
            stop = extent_end(file, s->address, stop);
        if (stop > s->address && functions_add(functions, s->address, stop - s->address, s->name) < 0)
            return -ENOMEM;
        end = stop;
    }
    functions_sort(functions);
    return 0;
}

static int build_index(struct functions *functions)
{
    functions->base = functions->count ? functions->items[0].address : 0;
    functions->starts = malloc((functions->count + (size_t)1) * sizeof *functions->starts);
    if (!functions->starts)
        return -ENOMEM;
    for (uint32_t i = 0; i < functions->count; i++) {
        functions->items[i].owner = i;
        functions->starts[i] = (uint32_t)(functions->items[i].address - functions->base);
    }
    return address_index_build(&functions->index, functions->starts, functions->count);
}

int functions_build(const struct elf_file *file, const struct cfi *cfi, const struct symbols *symbols,
                    struct arena *names, struct functions *out)
{
    struct functions functions = {0};
    if (plt_add(file, names, &functions) < 0)
        goto no_memory;
    functions_sort(&functions);
    if (add_ranges(&functions, cfi) < 0)
        goto no_memory;
    name_ranges(&functions, symbols);
    if (add_uncovered(file, &functions, symbols) < 0 || function_starts_add(file, cfi, &functions) < 0 ||
        build_index(&functions) < 0)
        goto no_memory;
    *out = functions;
    return 0;
no_memory:
    functions_free(&functions);
    return -ENOMEM;
}

void functions_free(struct functions *functions)
{
    address_index_free(&functions->index);
    free(functions->items);
    free(functions->starts);
    free(functions->guessed);
    free(functions->branched);
    *functions = (struct functions){0};
}

uint32_t functions_find(const struct functions *functions, uint64_t address)
{
    uint64_t offset = address - functions->base;
    if (offset > UINT32_MAX)
        return IMAGE_NO_FUNCTION;
    uint32_t i = address_index_find(&functions->index, (uint32_t)offset);
    if (i == ADDRESS_INDEX_NONE || address - functions->items[i].address >= functions->items[i].size)
        return IMAGE_NO_FUNCTION;
    return i;
}

uint64_t functions_bytes(const struct functions *functions, uint32_t first, uint32_t last)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; i < last; i++)
        bytes += functions->items[i].size;
    return bytes;
}

enum function_start functions_start(const struct functions *functions, uint64_t address)
{
    const struct guessed_start *guessed = functions->guessed;
    const uint32_t i = functions_find(functions, address);
    if (i == IMAGE_NO_FUNCTION || functions->items[i].address != address)
        return START_NONE;
    const size_t guess = lower_bound(k, (size_t)0, functions->guessed_count, guessed[k].address < address);
    return guess < functions->guessed_count && guessed[guess].address == address ? guessed[guess].start
                                                                                 : START_SURE;
}

bool functions_branched(const struct functions *functions, uint64_t address)
{
    const uint64_t *to = functions->branched;
    const size_t i = lower_bound(k, (size_t)0, functions->branched_count, to[k] < address);
    return i < functions->branched_count && to[i] == address;
}

uint32_t functions_owner(const struct functions *functions, uint32_t index)
{
    while (functions->items[index].owner != index)
        index = functions->items[index].owner;
    return index;
}

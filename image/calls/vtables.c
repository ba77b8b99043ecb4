/*
 * vtables.c - finds C++ vtables by their layout (Itanium C++ ABI, section 2.5.2); see calls.h.
 *
 * Two words precede the functions: the offset to the object's top, a small number that needs no relocation,
 * and a pointer to the type information, which is data. Vtables without type information (-fno-rtti) cannot
 * be told from other function tables and are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/calls/private.h"

static uint64_t word_at(const struct calls *calls, uint64_t address)
{
    size_t size;
    uint64_t word = 0;
    const uint8_t *bytes = image_bytes(calls->image, address, &size);
    if (bytes && size >= sizeof word)
        memcpy(&word, bytes, sizeof word);
    return word;
}

/* Whether the word holds a function's address; *function: which one of this image. */
static bool holds_function(const struct calls *calls, const struct relocation *word, uint32_t *function)
{
    *function = image_function_entry(calls->image, word->value);
    if (word->kind != RELOCATION_SYMBOL)
        return word->kind == RELOCATION_VALUE && *function != IMAGE_NO_FUNCTION;
    if (word->value)
        return *function != IMAGE_NO_FUNCTION;
    /* of an import only the name is known: type information and tables are not functions */
    return strncmp(word->symbol, "_ZT", 3) != 0;
}

static bool is_data(const struct calls *calls, uint64_t address)
{
    return address && image_extent(calls->image, address) &&
           !elf_file_is_code(&calls->image->file, address, 1);
}

/* Whether objects may point here. */
static bool is_start(const struct calls *calls, uint64_t address)
{
    const struct relocation *type = slots_find(&calls->slots, address - 8);
    if (slots_find(&calls->slots, address - 16))
        return false;
    int64_t to_top = (int64_t)word_at(calls, address - 16);
    if (to_top > 0 || to_top < -(1 << 30))
        return false;
    if (!type) /* not relocated */
        return calls->image->file.type == ET_EXEC && is_data(calls, word_at(calls, address - 8));
    if (type->kind == RELOCATION_SYMBOL && !type->value)
        return strncmp(type->symbol, "_ZTI", 4) == 0;
    return is_data(calls, type->value);
}

int calls_build_tables(struct calls *calls)
{
    const struct slots *slots = &calls->slots;
    size_t capacity = 0, used = 0;
    calls->table_functions = malloc((slots->count + 1) * sizeof *calls->table_functions);
    if (!calls->table_functions)
        return -ENOMEM;
    for (size_t i = 0, next; i < slots->count; i = next) {
        uint32_t function;
        uint64_t address = slots->items[i].address;
        next = i + 1;
        if (address % 8 || address < 16 || !holds_function(calls, &slots->items[i], &function) ||
            !is_start(calls, address))
            continue;
        if (!vec_reserve(calls->tables, calls->table_count, capacity, 1))
            return -ENOMEM;
        struct call_table *table = &calls->tables[calls->table_count++];
        *table = (struct call_table){.address = address, .functions = calls->table_functions + used};
        for (next = i; next < slots->count && slots->items[next].address == address + 8 * (next - i) &&
                       holds_function(calls, &slots->items[next], &function);
             next++)
            calls->table_functions[used++] = function;
        table->count = (uint32_t)(next - i);
    }
    return 0;
}

size_t calls_tables(const struct calls *calls, const struct call_table **out)
{
    *out = calls->tables;
    return calls->table_count;
}

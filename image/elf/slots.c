/* slots.c - see slots.h. */
#include "image/elf/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

struct builder {
    struct slots *slots;
    bool no_memory;
};

static void add_slot(void *context, const struct relocation *word)
{
    struct builder *b = context;
    struct slots *slots = b->slots;
    if (!vec_push(slots->items, slots->count, slots->capacity, *word))
        b->no_memory = true;
}

static void add_word(void *builder, uint64_t address, uint64_t value)
{
    struct builder *b = builder;
    const struct relocation word = {.address = address, .value = value};
    if (elf_file_is_code(b->slots->file, value, 1))
        add_slot(b, &word);
}

/* By address; relocations come before words that only look like addresses. */
static int by_address(const void *a, const void *b)
{
    const struct relocation *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->kind == RELOCATION_VALUE) - (y->kind == RELOCATION_VALUE);
}

int slots_build(const struct elf_file *file, struct slots *out)
{
    struct slots slots = {.file = file};
    struct builder b = {.slots = &slots};
    relocations_see(file, add_slot, &b);
    if (file->type == ET_EXEC)
        elf_file_see_words(file, add_word, &b);
    if (b.no_memory) {
        slots_free(&slots);
        return -ENOMEM;
    }
    if (slots.count)
        qsort(slots.items, slots.count, sizeof *slots.items, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < slots.count; i++)
        if (kept == 0 || slots.items[kept - 1].address != slots.items[i].address)
            slots.items[kept++] = slots.items[i];
    slots.count = kept;
    *out = slots;
    return 0;
}

void slots_free(struct slots *slots)
{
    free(slots->items);
    *slots = (struct slots){0};
}

const struct relocation *slots_find(const struct slots *slots, uint64_t address)
{
    size_t first = lower_bound(i, 0, slots->count, slots->items[i].address < address);
    return first < slots->count && slots->items[first].address == address ? &slots->items[first] : NULL;
}

uint64_t slots_value(struct slots *slots, const struct elf_file *file, uint64_t address)
{
    if (!slots->file && slots_build(file, slots) < 0)
        return 0;
    const struct relocation *word = slots_find(slots, address);
    return word ? word->value : 0;
}

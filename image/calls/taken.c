/* taken.c - the functions whose addresses are taken; see calls.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/calls/private.h"

int calls_note_taken(struct calls *calls, uint32_t by, uint32_t function)
{
    if (function == IMAGE_NO_FUNCTION || calls->marks[function] & MARK_STUB)
        return 0;
    calls->marks[function] |= MARK_TAKEN;
    if (calls->pair_count && calls->pairs[calls->pair_count - 1].by == by &&
        calls->pairs[calls->pair_count - 1].function == function)
        return 0;
    return vec_push(calls->pairs, calls->pair_count, calls->pair_capacity, (struct taken){by, function})
               ? 0
               : -ENOMEM;
}

int calls_note_symbol(struct calls *calls, const char *symbol)
{
    if (calls->symbol_count && calls->symbols[calls->symbol_count - 1] == symbol)
        return 0;
    return vec_push(calls->symbols, calls->symbol_count, calls->symbol_capacity, symbol) ? 0 : -ENOMEM;
}

static void mark_entry(struct calls *calls, uint64_t address)
{
    uint32_t f = image_function_entry(calls->image, address);
    if (f != IMAGE_NO_FUNCTION && !(calls->marks[f] & MARK_STUB))
        calls->marks[f] |= MARK_TAKEN;
}

static void mark_resolver(struct calls *calls, uint32_t f)
{
    if (f != IMAGE_NO_FUNCTION && !(calls->marks[f] & (MARK_STUB | MARK_TAKEN)))
        calls->marks[f] |= MARK_TAKEN | MARK_RESOLVER;
}

/* Call when everything else is marked. */
static void mark_resolvers(struct calls *calls)
{
    for (size_t i = 0; i < calls->slots.count; i++) {
        const struct relocation *word = &calls->slots.items[i];
        if (word->kind == RELOCATION_RESOLVER)
            mark_resolver(calls, image_function_entry(calls->image, word->value));
    }
    for (size_t i = 0; i < calls->export_count; i++)
        if (calls->exports[i].resolver)
            mark_resolver(calls, calls->exports[i].function);
}

/* Slots of the GOT count only if code reads them for something other than a call. */
static int mark_data(struct calls *calls)
{
    for (size_t i = 0; i < calls->slots.count; i++) {
        const struct relocation *word = &calls->slots.items[i];
        if (word->kind != RELOCATION_RESOLVER && !word->got && word->value)
            mark_entry(calls, word->value);
        if (word->kind == RELOCATION_SYMBOL && !word->got && calls_note_symbol(calls, word->symbol) < 0)
            return -ENOMEM;
    }
    uint64_t address;
    if (elf_file_dynamic(&calls->image->file, DT_INIT, &address))
        mark_entry(calls, address);
    if (elf_file_dynamic(&calls->image->file, DT_FINI, &address))
        mark_entry(calls, address);
    mark_resolvers(calls);
    return 0;
}

static int by_pair(const void *a, const void *b)
{
    const struct taken *x = a, *y = b;
    if (x->by != y->by)
        return x->by < y->by ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int calls_build_taken(struct calls *calls)
{
    if (mark_data(calls) < 0)
        return -ENOMEM;
    calls->taken = malloc((calls->function_count + (size_t)1) * sizeof *calls->taken);
    calls->pair_functions = malloc((calls->pair_count + 1) * sizeof *calls->pair_functions);
    if (!calls->taken || !calls->pair_functions)
        return -ENOMEM;
    for (uint32_t f = 0; f < calls->function_count; f++)
        if (calls->marks[f] & MARK_TAKEN)
            calls->taken[calls->taken_count++] = f;
    if (calls->pair_count)
        qsort(calls->pairs, calls->pair_count, sizeof *calls->pairs, by_pair);
    size_t kept = 0;
    for (size_t i = 0; i < calls->pair_count; i++)
        if (kept == 0 || by_pair(&calls->pairs[kept - 1], &calls->pairs[i]) != 0)
            calls->pairs[kept++] = calls->pairs[i];
    calls->pair_count = kept;
    for (size_t i = 0; i < kept; i++)
        calls->pair_functions[i] = calls->pairs[i].function;
    if (calls->symbol_count)
        qsort(calls->symbols, calls->symbol_count, sizeof *calls->symbols, by_name);
    kept = 0;
    for (size_t i = 0; i < calls->symbol_count; i++)
        if (kept == 0 || strcmp(calls->symbols[kept - 1], calls->symbols[i]) != 0)
            calls->symbols[kept++] = calls->symbols[i];
    calls->symbol_count = kept;
    return 0;
}

bool calls_is_resolver(const struct calls *calls, uint32_t function)
{
    return function < calls->function_count && calls->marks[function] & MARK_RESOLVER;
}

size_t calls_taken(const struct calls *calls, const uint32_t **out)
{
    *out = calls->taken;
    return calls->taken_count;
}

/* Index of the first pair whose taking function is `by` or a later one. */
static size_t first_pair(const struct calls *calls, uint32_t by)
{
    return lower_bound(i, 0, calls->pair_count, calls->pairs[i].by < by);
}

size_t calls_taken_by(const struct calls *calls, uint32_t function, const uint32_t **out)
{
    *out = NULL;
    if (function >= calls->function_count)
        return 0;
    size_t first = first_pair(calls, function);
    *out = calls->pair_functions + first;
    return first_pair(calls, function + 1) - first;
}

size_t calls_taken_symbols(const struct calls *calls, const char *const **out)
{
    *out = calls->symbols;
    return calls->symbol_count;
}

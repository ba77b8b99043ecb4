/*
 * fields.c - the functions in objects of constant data, by their offset in the object; see calls.h.
 *
 * An object starts where code or data points to, and ends at the next such place: a stripped binary has no other
 * sign of it. Offsets in all but the first element of an array are counted from the array's start, so their
 * fields do not match; as taken functions they remain possible targets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/sort.h"
#include "image/calls/private.h"

#define OBJECT_BYTES 4096 /* a function further than this from the last start is in no known object */

static int add_start(struct calls *calls, uint64_t address)
{
    return vec_push(calls->objects, calls->object_count, calls->object_capacity, address) ? 0 : -ENOMEM;
}

int calls_note_object(struct calls *calls, uint64_t address)
{
    if (calls->object_count && calls->objects[calls->object_count - 1] == address)
        return 0;
    return elf_file_is_code(&calls->image->file, address, 1) ? 0 : add_start(calls, address);
}

/* Collects the targets of pointers in data, vtables, and addresses noted from code. */
static int collect_starts(struct calls *calls)
{
    for (size_t i = 0; i < calls->slots.count; i++) {
        const struct relocation *word = &calls->slots.items[i];
        if (word->kind != RELOCATION_RESOLVER && word->value && calls_note_object(calls, word->value) < 0)
            return -ENOMEM;
    }
    for (size_t i = 0; i < calls->table_count; i++)
        if (add_start(calls, calls->tables[i].address) < 0)
            return -ENOMEM;
    sort_numbers(calls->objects, calls->object_count);
    return 0;
}

static int compare_names(const char *x, const char *y)
{
    if (!x || !y)
        return (x != NULL) - (y != NULL);
    return strcmp(x, y);
}

static int by_field(const void *a, const void *b)
{
    const struct call_field *x = a, *y = b;
    if (x->field != y->field)
        return x->field < y->field ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return compare_names(x->symbol, y->symbol);
}

/* Whether the word points to a function; sets the function or symbol. */
static bool holds_function(const struct calls *calls, const struct relocation *word, struct call_field *out)
{
    if (word->got || word->kind == RELOCATION_RESOLVER)
        return false;
    out->function =
        word->value ? image_function_entry(calls->image, word->value) : (uint32_t)IMAGE_NO_FUNCTION;
    out->symbol = word->kind == RELOCATION_SYMBOL && !word->value ? word->symbol : NULL;
    return out->symbol || out->function != IMAGE_NO_FUNCTION;
}

int calls_build_fields(struct calls *calls)
{
    size_t start = 0, kept = 0;
    if (collect_starts(calls) < 0)
        return -ENOMEM;
    calls->fields = malloc((calls->slots.count + 1) * sizeof *calls->fields);
    if (!calls->fields)
        return -ENOMEM;
    for (size_t i = 0; i < calls->slots.count; i++) {
        const struct relocation *word = &calls->slots.items[i];
        struct call_field field;
        while (start + 1 < calls->object_count && calls->objects[start + 1] <= word->address)
            start++;
        if (start == calls->object_count || calls->objects[start] > word->address ||
            word->address - calls->objects[start] >= OBJECT_BYTES || !holds_function(calls, word, &field))
            continue;
        field.field = (int32_t)(word->address - calls->objects[start]);
        calls->fields[calls->field_count++] = field;
    }
    if (calls->field_count)
        qsort(calls->fields, calls->field_count, sizeof *calls->fields, by_field);
    for (size_t i = 0; i < calls->field_count; i++)
        if (kept == 0 || by_field(&calls->fields[kept - 1], &calls->fields[i]) != 0)
            calls->fields[kept++] = calls->fields[i];
    calls->field_count = kept;
    return 0;
}

size_t calls_fields(const struct calls *calls, const struct call_field **out)
{
    *out = calls->fields;
    return calls->field_count;
}

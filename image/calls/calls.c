/* calls.c - builds the call graph by reading all functions; see calls.h. */
#include "base/search.h"
#include "base/vec.h"
#include "image/calls/private.h"

#include <errno.h>
#include <stdlib.h>

static int by_owner(const void *a, const void *b, void *context)
{
    const struct image *image = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t of_x = image_function(image, x)->owner, of_y = image_function(image, y)->owner;
    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    return (x > y) - (x < y);
}

int calls_read_function(struct calls_reader *r, const struct function_part *parts, uint32_t count)
{
    r->operand_count = 0;
    if (function_code_read(&r->code, r->calls->image, parts, count) < 0 || calls_read_operands(r) < 0)
        return -ENOMEM;
    return calls_add_sites(r);
}

/* Reads every function with its parts, in the order of the owners' numbers. */
static int read_functions(struct calls *calls)
{
    const struct image *image = calls->image;
    struct calls_reader r = {.calls = calls};
    uint32_t count = calls->function_count, capacity = 0;
    uint32_t *order = malloc((count + (size_t)1) * sizeof *order);
    struct function_part *parts = NULL;
    int rc = order ? 0 : -ENOMEM;
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_owner, (void *)(uintptr_t)image);
    for (uint32_t i = 0, next; i < count && rc == 0; i = next) {
        uint32_t owner = image_function(image, order[i])->owner;
        for (next = i; next < count && image_function(image, order[next])->owner == owner; next++)
            ;
        if (!vec_reserve(parts, 0, capacity, next - i)) {
            rc = -ENOMEM;
            break;
        }
        for (uint32_t k = i; k < next; k++) {
            const struct image_function *f = image_function(image, order[k]);
            parts[k - i] = (struct function_part){f->address, f->size};
        }
        r.function = owner;
        rc = calls_read_function(&r, parts, next - i);
    }
    function_code_free(&r.code);
    frame_flow_free(&r.flow);
    free(r.operands);
    free(parts);
    free(order);
    return rc;
}

/* Indexes the sites, which are sorted by function. */
static int index_sites(struct calls *calls)
{
    calls->first = malloc((calls->function_count + (size_t)1) * sizeof *calls->first);
    if (!calls->first)
        return -ENOMEM;
    size_t site = 0;
    for (uint32_t f = 0; f < calls->function_count; f++) {
        calls->first[f] = site;
        while (site < calls->site_count && calls->sites[site].function == f)
            site++;
    }
    calls->first[calls->function_count] = calls->site_count;
    return 0;
}

int calls_mark_functions(struct calls *calls)
{
    calls->marks = calloc(calls->function_count + (size_t)1, 1);
    if (!calls->marks)
        return -ENOMEM;
    for (uint32_t f = 0; f < calls->function_count; f++)
        if (image_function_is_stub(calls->image, f))
            calls->marks[f] |= MARK_STUB;
    for (size_t i = 0; i < calls->slots.count; i++) {
        const struct relocation *word = &calls->slots.items[i];
        uint32_t f = word->kind == RELOCATION_VALUE && word->value
                         ? image_function_at(calls->image, word->value)
                         : IMAGE_NO_FUNCTION;
        if (f != IMAGE_NO_FUNCTION && image_function(calls->image, f)->address != word->value)
            calls->marks[f] |= MARK_LABELS;
    }
    return 0;
}

/* Marks binders. PLTs push two words before they reach one, which its CFI counts as its own (glibc,
 * sysdeps/x86_64/dl-trampoline.h). */
static int mark_binders(struct calls *calls)
{
    const struct cfi *cfi = image_cfi(calls->image);
    for (uint32_t f = 0; f < calls->function_count; f++) {
        const struct image_function *function = image_function(calls->image, f);
        if (calls->marks[f] & MARK_STUB || function->size <= 16)
            continue;
        struct cfi_row row = cfi_lookup(cfi, function->address);
        if (row.cfa != CFI_SP || row.cfa_offset != 24)
            continue;
        calls->marks[f] |= MARK_BINDER;
        if (!vec_push(calls->binders, calls->binder_count, calls->binder_capacity, f))
            return -ENOMEM;
    }
    return 0;
}

int calls_build(const struct image *image, struct calls **out, struct fathom_error *err)
{
    struct calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return error_memory(err);
    calls->image = image;
    calls->function_count = image_function_count(image);
    if (slots_build(&image->file, &calls->slots) < 0 || calls_mark_functions(calls) < 0 ||
        mark_binders(calls) < 0 || read_functions(calls) < 0 || index_sites(calls) < 0 ||
        calls_build_exports(calls) < 0 || calls_build_taken(calls) < 0 || calls_build_tables(calls) < 0 ||
        calls_build_fields(calls) < 0) {
        calls_free(calls);
        return error_memory(err);
    }
    *out = calls;
    return 0;
}

void calls_free(struct calls *calls)
{
    if (!calls)
        return;
    slots_free(&calls->slots);
    free(calls->sites);
    free(calls->first);
    free(calls->marks);
    free(calls->binders);
    free(calls->taken);
    free(calls->pairs);
    free(calls->pair_functions);
    free(calls->symbols);
    free(calls->tables);
    free(calls->table_functions);
    free(calls->exports);
    free(calls->objects);
    free(calls->fields);
    free(calls);
}

size_t calls_all(const struct calls *calls, const struct call_site **out)
{
    *out = calls->sites;
    return calls->site_count;
}

size_t calls_of(const struct calls *calls, uint32_t function, const struct call_site **out)
{
    *out = NULL;
    if (function >= calls->function_count || calls->first[function] == calls->first[function + 1])
        return 0;
    *out = calls->sites + calls->first[function];
    return calls->first[function + 1] - calls->first[function];
}

bool calls_is_binder(const struct calls *calls, uint32_t function)
{
    return calls->marks[function] & MARK_BINDER;
}

size_t calls_binders(const struct calls *calls, const uint32_t **out)
{
    *out = calls->binders;
    return calls->binder_count;
}

bool calls_returns(const struct calls *calls, uint32_t function)
{
    return function < calls->function_count && calls->marks[function] & MARK_RETURNS;
}

const struct call_site *calls_before(const struct calls *calls, uint64_t return_address)
{
    const struct call_site *sites;
    size_t count = calls_of(calls, image_function_at(calls->image, return_address - 1), &sites);
    /* a call is the last one that starts below its return address */
    size_t beyond = lower_bound(i, 0, count, sites[i].address < return_address);
    return beyond && return_address && sites[beyond - 1].next == return_address ? &sites[beyond - 1] : NULL;
}

/* derive.c - see derive.h. */
#include "image/derive.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "image/cfi/thread_return.h"
#include "image/code/code.h"
#include "image/cold.h"
#include "image/derive_flow.h"
#include "image/extent.h"
#include "image/go_table.h"
#include "image/image_private.h"

#define FRAME_MOST   (1 << 30)   /* bytes */
#define PLT_STUB     16u         /* bytes */
#define PADDING_MOST 11u         /* bytes of one instruction */
#define NEARBY       (32u << 10) /* bytes before and behind a part: functions there are derived with it */

/* Derives the rows of a PLT's stubs (x86-64 psABI, section 5.2). Each begins as a function does, except the first
 * one of .plt, to which the others jump after they have pushed a number. */
static int derive_stubs(const struct image *image, const struct image_function *f)
{
    static const uint8_t push_slot[] = {0xff, 0x35};
    struct cfi_row row = {.cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_SAME, .derived = true};
    struct code_insn insn;
    size_t size;
    int rc = 0;
    const uint8_t *bytes = image_bytes(image, f->address, &size);
    size = bytes ? size < f->size ? size : f->size : 0;
    for (size_t at = 0; rc == 0 && at < size && code_read(bytes + at, size - at, f->address + at, &insn);
         at += insn.length) {
        if (at % PLT_STUB == 0)
            row.cfa_offset = 8;
        if (at == 0 && size >= sizeof push_slot && memcmp(bytes, push_slot, sizeof push_slot) == 0)
            row.cfa_offset = 16;
        rc = cfi_table_derive(image->cfi, f->address + at, row);
        if (insn.stack == CODE_SP_MOVED && insn.amount == 8)
            row.cfa_offset += 8;
    }
    return rc == 0 ? cfi_table_derive(image->cfi, f->address + f->size, (struct cfi_row){.cfa = CFI_NONE})
                   : rc;
}

/* Whether this is mov $15,%rax or %eax; syscall: where a signal handler returns to (rt_sigreturn), in a frame
 * that the kernel made. */
static bool is_restorer(const struct image *image, uint64_t address)
{
    static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
                         narrow[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
    size_t size;
    const uint8_t *bytes = image_bytes(image, address, &size);
    return bytes && ((size >= sizeof wide && memcmp(bytes, wide, sizeof wide) == 0) ||
                     (size >= sizeof narrow && memcmp(bytes, narrow, sizeof narrow) == 0));
}

/* Whether a nop ends at an address. */
static bool is_padded(const struct image *image, uint64_t address)
{
    for (size_t length = 1; length <= PADDING_MOST && length < address; length++) {
        size_t size;
        struct code_insn insn;
        const uint8_t *bytes = image_bytes(image, address - length, &size);
        if (bytes && size >= length && code_read(bytes, length, address - length, &insn) &&
            insn.kind == CODE_NOP && insn.length == length)
            return true;
    }
    return false;
}

/* The row begins at the byte before, if that is padding: unwinders look up PC - 1, and this code is returned to
 * without a call. */
static int derive_restorer(const struct image *image, const struct image_function *f)
{
    const uint64_t start = f->address - is_padded(image, f->address);
    const struct cfi_row row = {.cfa = CFI_SIGNAL_FRAME, .bp = CFI_BP_UNKNOWN, .derived = true};
    int rc = cfi_table_derive(image->cfi, start, row);
    return rc == 0 ? cfi_table_derive(image->cfi, f->address + (f->size ? f->size : 1),
                                      (struct cfi_row){.cfa = CFI_NONE})
                   : rc;
}

/* Code that the kernel or the loader starts has no caller (x86-64 psABI, section 3.4.1). The row ends at its last
 * call, which does not return. */
static int derive_entry(const struct image *image, const struct image_function *f)
{
    const struct cfi_row row = {
        .cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_UNKNOWN, .root = true, .derived = true};
    const uint64_t end = extent_end(&image->file, f->address, f->address + f->size);
    int rc = cfi_table_derive(image->cfi, f->address, row);
    return rc == 0 ? cfi_table_derive(image->cfi, end, (struct cfi_row){.cfa = CFI_NONE}) : rc;
}

/* The call of a new thread's first function, in code without rows: its caller is outermost (thread_return.h). */
static int derive_thread(const struct image *image)
{
    const struct cfi_row row = {
        .cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_UNKNOWN, .root = true, .derived = true};
    uint64_t address;
    if (!image_thread_return(image, &address) || cfi_covers(image->cfi, address - 1))
        return 0;
    int rc = cfi_table_derive(image->cfi, address - THREAD_CALL, row);
    return rc == 0 ? cfi_table_derive(image->cfi, address, (struct cfi_row){.cfa = CFI_NONE}) : rc;
}

/* Adds the rows of Go's table. At a function that changes to another stack the walk ends, as at a goroutine's
 * first function. The table does not say whether BP is saved, but frames of Go do not need it. */
static int derive_go(const struct image *image, const struct go_table *table, struct go_function *f)
{
    struct go_delta delta = {0};
    const bool root = f->outermost || f->writes_sp;
    int rc = 0;
    while (rc == 0 && go_delta_next(table, f, &delta)) {
        const bool fits =
            delta.value >= 0 && delta.value < FRAME_MOST && !cfi_covers(image->cfi, delta.start);
        const struct cfi_row row = {.cfa = fits ? CFI_SP : CFI_NONE,
                                    .cfa_offset = fits ? (int32_t)delta.value + 8 : 0,
                                    .bp = delta.value == 0 ? CFI_BP_SAME : CFI_BP_UNKNOWN,
                                    .root = root,
                                    .derived = true};
        rc = cfi_table_derive(image->cfi, delta.start, row);
    }
    return rc == 0 ? cfi_table_derive(image->cfi, f->address + f->size, (struct cfi_row){.cfa = CFI_NONE})
                   : rc;
}

static int derive_all_go(const struct image *image, struct covered *out)
{
    const struct go_table *table = &image->go;
    struct go_function f;
    int rc = 0;
    *out = (struct covered){0};
    for (uint32_t i = 0; rc == 0 && table->data && i < table->count; i++) {
        if (!go_table_function(table, i, &f) || f.address < out->high ||
            !elf_file_is_code(&image->file, f.address, f.size))
            continue;
        if (!is_restorer(image, f.address))
            rc = derive_go(image, table, &f);
        out->low = out->high ? out->low : f.address;
        out->high = f.address + f.size;
    }
    return rc;
}

static bool lacks_rows(const struct image *image, uint32_t function)
{
    const struct image_function *f = &image->functions.items[function];
    return f->owner == function && !cfi_covers(image->cfi, f->address) && !cold_is_name(f->name);
}

/* Tables in the file with rows of many functions. Each adds its rows, and sets which code it has them of. */
static int (*const tables[])(const struct image *image, struct covered *out) = {derive_all_go};
#define TABLES (sizeof tables / sizeof *tables)

/* An image whose rows are derived, and the state of that. */
struct deriving {
    struct image *image;
    struct derivation *derivation;
    struct covered tables[TABLES];
    pthread_mutex_t lock; /* of the derivation */
};

static bool is_stub(const struct deriving *d, const struct image_function *f)
{
    return plt_holds(&d->image->file, f->address);
}

static bool restores(const struct deriving *d, const struct image_function *f)
{
    return is_restorer(d->image, f->address);
}

static bool is_in_table(const struct deriving *d, const struct image_function *f)
{
    bool is = false;
    for (size_t i = 0; i < TABLES; i++)
        is |= f->address - d->tables[i].low < d->tables[i].high - d->tables[i].low;
    return is;
}

static bool is_entry(const struct deriving *d, const struct image_function *f)
{
    return f->address == d->image->file.entry;
}

/* Where the rows of a function come from: the first of these that it is of, or else the dataflow over its code. */
static const struct source {
    bool (*is_of)(const struct deriving *d, const struct image_function *f);
    int (*derive)(const struct image *image, const struct image_function *f); /* NULL: it has them */
} sources[] = {
    {is_stub, derive_stubs},
    {restores, derive_restorer},
    {is_in_table, NULL},
    {is_entry, derive_entry},
};

/* NULL: the dataflow (derive_flow.h). */
static const struct source *source_of(const struct deriving *d, const struct image_function *f)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].is_of(d, f))
            return &sources[i];
    return NULL;
}

/* Derives the rows of functions with a source. *bytes: size of the others, which the dataflow must follow. */
static int derive_specials(const struct deriving *d, uint64_t *bytes)
{
    const struct functions *functions = &d->image->functions;
    int rc = 0;
    *bytes = 0;
    for (uint32_t i = 0; rc == 0 && i < functions->count; i++) {
        const struct image_function *f = &functions->items[i];
        if (!lacks_rows(d->image, i))
            continue;
        const struct source *source = source_of(d, f);
        if (source && source->derive)
            rc = source->derive(d->image, f);
        *bytes += source ? 0 : f->size;
    }
    return rc;
}

/* Derives the functions of one degree of certainty among [first, last). */
static int derive_these(const struct deriving *d, uint32_t first, uint32_t last, unsigned sure)
{
    const struct functions *functions = &d->image->functions;
    int rc = 0;
    for (uint32_t i = first; rc == 0 && i < last; i++) {
        const struct image_function *f = &functions->items[i];
        if (lacks_rows(d->image, i) && functions_start(functions, f->address) == sure && !source_of(d, f))
            rc = derivation_function(d->derivation, i);
    }
    return rc;
}

/* Starts with the most certain functions, which the others must not contradict. */
static int derive_functions(const struct deriving *d, uint32_t first, uint32_t last)
{
    int rc = 0;
    do
        rc = derive_these(d, first, last, START_SURE);
    while (rc == 0 && derivation_again(d->derivation));
    derivation_settle(d->derivation);
    for (unsigned sure = START_SURE - 1; rc == 0 && sure > START_NONE; sure--) {
        rc = derive_these(d, first, last, sure);
        derivation_settle(d->derivation);
    }
    return rc;
}

/* A claims_sink. */
static int add_row(void *cfi, uint64_t address, struct cfi_row row)
{
    return cfi_table_derive(cfi, address, row);
}

/* A claims_sink. */
static int add_to_part(void *part, uint64_t address, struct cfi_row row)
{
    return cfi_part_add(part, address, row);
}

/* The first function that ends behind the address. */
static uint32_t function_behind(const struct functions *functions, uint64_t address)
{
    const struct image_function *items = functions->items;
    return lower_bound(i, 0u, functions->count, items[i].address + items[i].size <= address);
}

/* A cfi_part_derive. Claims of nearby functions count, as when the whole file is derived; those of functions that jump into the
 * part from far away do not. */
static int derive_part(void *context, uint64_t from, uint64_t to, struct cfi_part *out)
{
    struct deriving *d = context;
    const struct functions *functions = &d->image->functions;
    const uint32_t first = function_behind(functions, from > NEARBY ? from - NEARBY : 0),
                   last = function_behind(functions, to + NEARBY);
    pthread_mutex_lock(&d->lock);
    derivation_forget(d->derivation, first, last);
    int rc = derive_functions(d, first, last);
    if (rc == 0)
        rc = derivation_rows(d->derivation, from, to, add_to_part, out);
    pthread_mutex_unlock(&d->lock);
    return rc;
}

void image_derived_free(struct deriving *d)
{
    if (!d)
        return;
    derivation_free(d->derivation);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int image_derive_rows(struct image *image, uint64_t whole_most)
{
    struct deriving *d = calloc(1, sizeof *d);
    uint64_t bytes;
    if (!d)
        return -ENOMEM;
    d->image = image;
    pthread_mutex_init(&d->lock, NULL);
    d->derivation = derivation_new(image);
    int rc = d->derivation ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < TABLES; i++)
        rc = tables[i](image, &d->tables[i]);
    if (rc == 0)
        rc = derive_specials(d, &bytes);
    const bool whole = rc == 0 && bytes <= whole_most;
    if (whole)
        rc = derive_functions(d, 0, image->functions.count);
    if (whole && rc == 0)
        rc = derivation_rows(d->derivation, 0, UINT64_MAX, add_row, image->cfi);
    if (rc == 0)
        rc = derive_thread(image);
    cfi_table_derived(image->cfi);
    if (rc == 0 && !whole)
        rc = cfi_table_derive_parts(image->cfi, image->file.code_high, derive_part, d);
    if (rc == 0 && !whole)
        image->deriving = d;
    else
        image_derived_free(d);
    return rc;
}

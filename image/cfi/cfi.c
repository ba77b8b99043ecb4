/*
 * cfi.c - the CFI rows of an image, by address; see cfi.h.
 *
 * The FDEs are in a table; an FDE's rows are computed when one of its addresses is first looked up, as few
 * functions of a large library are ever on a stack. A row has its start (bytes from the first code address) and
 * its rule, and applies up to the next row's start. Several threads may compute the same rows: all use those that
 * were published first.
 */
#include "image/cfi/cfi.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/cfi/frames.h"
#include "image/cfi/table.h"
#include "image/elf/address_index.h"

struct rule {
    int32_t cfa_offset;
    int16_t bp_offset;   /* CFI_PLT: the limit */
    uint8_t cfa;         /* enum cfi_cfa, and cfa_add / 8 in the bits from CFA_BITS on */
    uint8_t bp_and_root; /* enum cfi_bp, ROOT_FLAG */
};

#define ROOT_FLAG 0x80
#define CFA_BITS  3u

_Static_assert(sizeof(struct rule) == 8, "a rule is compared and kept as 8 bytes without padding");
_Static_assert(CFI_PLT < 1u << CFA_BITS, "all kinds have room");
_Static_assert(CFI_ADD_MAX / 8 < 1u << (8 - CFA_BITS), "so has what is added");

struct row {
    uint32_t start;
    struct rule rule;
};

/* Rows are ascending; neighbours differ. */
struct rows {
    uint32_t count;
    struct row at[];
};

/* Derived rows in the order in which they were added. */
struct cfi_part {
    uint64_t base;
    struct row *at;
    uint32_t count, capacity;
};

/* Rows derived by parts of PART_BYTES of code, each at the first look-up of one of its addresses. */
struct parts {
    cfi_part_derive *derive;
    void *context;
    uint32_t count;
    _Atomic(struct rows *) rows[]; /* NULL: not derived yet */
};
#define PART_BYTES (128u << 10)

struct cfi {
    uint64_t base;
    struct cfi_frames frames;
    uint32_t *starts; /* of the FDEs */
    struct address_index index;
    struct cfi_range *ranges;     /* also of the FDEs */
    _Atomic(struct rows *) *rows; /* by FDE; rows without items: damaged. NULL: not computed yet */
    struct cfi_part derived;      /* where there are no FDEs */
    uint32_t derived_count;       /* those of `derived` that look-ups see: sorted */
    struct parts *parts;          /* where `derived` has no row either; NULL: it has all */
};

static const struct rule rule_none = {.cfa = CFI_NONE, .bp_and_root = CFI_BP_UNKNOWN};
static const struct rule rule_unsupported = {.cfa = CFI_UNSUPPORTED, .bp_and_root = CFI_BP_UNKNOWN};

static struct cfi_row row_of(struct rule rule, uint64_t address)
{
    struct cfi_row row = {.cfa = rule.cfa & ((1u << CFA_BITS) - 1),
                          .cfa_add = (uint8_t)((rule.cfa >> CFA_BITS) * 8),
                          .bp = rule.bp_and_root & (uint8_t)~ROOT_FLAG,
                          .root = rule.bp_and_root & ROOT_FLAG,
                          .cfa_offset = rule.cfa_offset,
                          .bp_offset = rule.bp_offset};
    if (rule.cfa == CFI_PLT) {
        row.cfa = CFI_SP;
        row.cfa_offset += (int)(address & 15) >= rule.bp_offset ? 8 : 0;
        row.bp_offset = 0;
    }
    return row;
}

static struct rule rule_of(const struct cfi_rules *r)
{
    if (r->cfa == CFI_SIGNAL_FRAME)
        return (struct rule){.cfa = CFI_SIGNAL_FRAME, .bp_and_root = CFI_BP_UNKNOWN};
    bool root = r->return_rule == CFI_RETURN_NONE;
    bool fits = r->cfa_offset >= INT32_MIN && r->cfa_offset <= INT32_MAX - 8;
    bool known = r->cfa != CFI_UNSUPPORTED && fits && (root || r->return_rule == CFI_RETURN_AT_CFA) &&
                 (r->cfa != CFI_PLT || r->bp == CFI_BP_SAME);
    if (!known) { /* the root of a stack is marked even if its CFA is unknown */
        struct rule rule = rule_unsupported;
        rule.bp_and_root |= root ? ROOT_FLAG : 0;
        return rule;
    }
    struct rule rule = {.cfa_offset = (int32_t)r->cfa_offset, .bp_and_root = r->bp};
    rule.cfa = (uint8_t)(r->cfa | (r->cfa_add / 8u) << CFA_BITS);
    if (r->cfa == CFI_PLT)
        rule.bp_offset = r->plt_limit;
    else if (r->bp_offset >= INT16_MIN && r->bp_offset <= INT16_MAX)
        rule.bp_offset = (int16_t)r->bp_offset;
    else
        rule.bp_and_root = CFI_BP_UNKNOWN;
    rule.bp_and_root |= root ? ROOT_FLAG : 0;
    return rule;
}

/* Adds a row, or replaces the last one if it is at the same place. The array is large enough. */
static void add_row(struct row *rows, uint32_t *count, struct row row)
{
    if (*count && rows[*count - 1].start == row.start)
        --*count;
    if (!*count || memcmp(&rows[*count - 1].rule, &row.rule, sizeof row.rule) != 0)
        rows[(*count)++] = row;
}

#define ROWS_FEW 64u /* nearly all FDEs have fewer */

/* NULL: out of memory. */
static struct rows *make_rows(const struct cfi *cfi, const struct cfi_fde *fde)
{
    struct cfi_machine m = cfi_machine_at(&cfi->frames, fde);
    struct bytes code = fde->code;
    struct row few[ROWS_FEW], *made = few;
    const size_t most = bytes_left(&code) + 1; /* an advance takes a byte */
    uint32_t count = 0;
    enum cfi_progress progress;
    if (most > ROWS_FEW && !(made = malloc(most * sizeof *made)))
        return NULL;
    do {
        const uint32_t from = (uint32_t)(m.location - cfi->base);
        progress = cfi_machine_run(&m, &code);
        add_row(made, &count, (struct row){from, rule_of(&m.now)});
    } while (progress == CFI_MOVED && m.location < fde->address + fde->size);
    count = progress == CFI_BAD ? 0 : count;
    struct rows *rows = malloc(sizeof *rows + count * sizeof *rows->at);
    if (rows) {
        rows->count = count;
        memcpy(rows->at, made, count * sizeof *made);
    }
    if (made != few)
        free(made);
    return rows;
}

static const struct rows *rows_of(const struct cfi *cfi, uint32_t fde)
{
    struct rows *there = atomic_load_explicit(&cfi->rows[fde], memory_order_acquire);
    if (there)
        return there;
    struct rows *rows = make_rows(cfi, &cfi->frames.fdes[fde]);
    if (rows && !atomic_compare_exchange_strong(&cfi->rows[fde], &there, rows)) {
        free(rows);
        rows = there;
    }
    return rows;
}

/* The range in which a rule applies: [start, end). */
struct span {
    uint64_t start, end;
    struct rule rule;
};

/* The row of an FDE at an address. */
static struct span span_in(const struct cfi *cfi, uint32_t fde, uint64_t address)
{
    const struct rows *rows = rows_of(cfi, fde);
    const struct cfi_fde *f = &cfi->frames.fdes[fde];
    const uint32_t offset = (uint32_t)(address - cfi->base), count = rows ? rows->count : 0;
    if (!count) /* out of memory: must not pass for "no row" */
        return (struct span){f->address, f->address + f->size, rows ? rule_none : rule_unsupported};
    const uint32_t next = lower_bound(i, 0u, count, rows->at[i].start <= offset);
    return (struct span){cfi->base + rows->at[next - 1].start,
                         next < count ? cfi->base + rows->at[next].start : f->address + f->size,
                         rows->at[next - 1].rule};
}

/* The last FDE that begins at or before the address; ADDRESS_INDEX_NONE: none. */
static uint32_t fde_before(const struct cfi *cfi, uint64_t address)
{
    const uint64_t offset = address - cfi->base;
    if (address < cfi->base || !cfi->frames.fde_count)
        return ADDRESS_INDEX_NONE;
    return offset > UINT32_MAX ? (uint32_t)cfi->frames.fde_count - 1
                               : address_index_find(&cfi->index, (uint32_t)offset);
}

static bool has_address(const struct cfi *cfi, uint32_t fde, uint64_t address)
{
    return fde != ADDRESS_INDEX_NONE && address - cfi->frames.fdes[fde].address < cfi->frames.fdes[fde].size;
}

bool cfi_covers(const struct cfi *cfi, uint64_t address)
{
    return has_address(cfi, fde_before(cfi, address), address);
}

static struct span span_at(const struct cfi *cfi, uint64_t address)
{
    const struct cfi_fde *fdes = cfi->frames.fdes;
    const uint32_t at = fde_before(cfi, address), next = at == ADDRESS_INDEX_NONE ? 0 : at + 1;
    if (has_address(cfi, at, address))
        return span_in(cfi, at, address);
    return (struct span){next ? fdes[at].address + fdes[at].size : 0,
                         next < cfi->frames.fde_count ? fdes[next].address : UINT64_MAX, rule_none};
}

bool cfi_tells(const struct cfi *cfi, uint64_t address)
{
    return span_at(cfi, address).rule.cfa != CFI_NONE;
}

/* The same among derived rows of [start, end). */
static struct span span_of(const struct cfi *cfi, const struct row *rows, uint32_t count, uint64_t start,
                           uint64_t end, uint64_t address)
{
    const uint64_t offset = address - cfi->base;
    const uint32_t next = address < cfi->base || offset > UINT32_MAX
                              ? 0
                              : lower_bound(i, 0u, count, rows[i].start <= (uint32_t)offset);
    return (struct span){next ? cfi->base + rows[next - 1].start : start,
                         next < count ? cfi->base + rows[next].start : end,
                         next ? rows[next - 1].rule : rule_none};
}

/* By address. If one function ends where another begins, the latter's row comes last. */
static int compare_derived(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->rule.cfa != CFI_NONE) - (y->rule.cfa != CFI_NONE);
}

/* Sorts and merges the rows in place. Returns the number of rows that are left. */
static uint32_t sort_derived(struct cfi_part *derived)
{
    uint32_t count = 0;
    if (derived->count)
        qsort(derived->at, derived->count, sizeof *derived->at, compare_derived);
    for (uint32_t i = 0; i < derived->count; i++)
        add_row(derived->at, &count, derived->at[i]);
    return count;
}

/* NULL: out of memory. */
static struct rows *derive_part(const struct cfi *cfi, uint64_t from)
{
    struct cfi_part part = {.base = cfi->base};
    struct rows *rows = NULL;
    if (cfi->parts->derive(cfi->parts->context, from, from + PART_BYTES, &part) == 0) {
        const uint32_t count = sort_derived(&part);
        rows = malloc(sizeof *rows + count * sizeof *rows->at);
        if (rows) {
            rows->count = count;
            if (count)
                memcpy(rows->at, part.at, count * sizeof *rows->at);
        }
    }
    free(part.at);
    return rows;
}

static struct span part_at(const struct cfi *cfi, uint64_t address)
{
    const uint64_t number = (address - cfi->base) / PART_BYTES, start = cfi->base + number * PART_BYTES;
    if (address < cfi->base || number >= cfi->parts->count)
        return (struct span){0, UINT64_MAX, rule_none};
    struct rows *there = atomic_load_explicit(&cfi->parts->rows[number], memory_order_acquire);
    if (!there) {
        struct rows *rows = derive_part(cfi, start);
        if (!rows)
            return (struct span){start, start + PART_BYTES, rule_unsupported};
        if (atomic_compare_exchange_strong(&cfi->parts->rows[number], &there, rows))
            there = rows;
        else
            free(rows);
    }
    return span_of(cfi, there->at, there->count, start, start + PART_BYTES, address);
}

/* The row of a derived span; *out, the range in which no other source has a row, is narrowed to it. */
static struct cfi_row derived_row(const struct span *derived, uint64_t address, struct cfi_span *out)
{
    struct cfi_row row = row_of(derived->rule, address);
    row.derived = row.cfa != CFI_NONE;
    out->start = out->start > derived->start ? out->start : derived->start;
    out->end = out->end < derived->end ? out->end : derived->end;
    return row;
}

struct cfi_row cfi_lookup_span(const struct cfi *cfi, uint64_t address, struct cfi_span *out)
{
    const struct span span = span_at(cfi, address);
    struct cfi_row row = row_of(span.rule, address);
    *out = (struct cfi_span){span.start, span.end};
    if (row.cfa == CFI_NONE && cfi->derived_count) {
        const struct span derived = span_of(cfi, cfi->derived.at, cfi->derived_count, 0, UINT64_MAX, address);
        row = derived_row(&derived, address, out);
    }
    if (row.cfa == CFI_NONE && cfi->parts) {
        const struct span derived = part_at(cfi, address);
        row = derived_row(&derived, address, out);
    }
    return row;
}

struct cfi_row cfi_lookup(const struct cfi *cfi, uint64_t address)
{
    struct cfi_span span;
    return cfi_lookup_span(cfi, address, &span);
}

uint64_t cfi_row_end(const struct cfi *cfi, uint64_t address)
{
    struct cfi_span span;
    cfi_lookup_span(cfi, address, &span);
    return span.end;
}

void cfi_each_row(const struct cfi *cfi, uint64_t from, uint64_t to, cfi_row_sink *see, void *context)
{
    const uint32_t before = fde_before(cfi, from);
    uint64_t end = from;
    for (uint32_t f = before == ADDRESS_INDEX_NONE ? 0 : before; f < cfi->frames.fde_count && end < to; f++) {
        const struct cfi_fde *fde = &cfi->frames.fdes[f];
        const struct rows *rows =
            fde->address < to && fde->address + fde->size > from ? rows_of(cfi, f) : NULL;
        if (fde->address > end)
            see(context, end, row_of(rule_none, end));
        for (uint32_t i = 0; rows && i < rows->count && cfi->base + rows->at[i].start < to; i++) {
            const uint64_t start = cfi->base + rows->at[i].start;
            const struct rule *rule = &rows->at[i].rule;
            if (i + 1 == rows->count || cfi->base + rows->at[i + 1].start > from)
                see(context, start < from ? from : start,
                    row_of(rule->cfa == CFI_PLT ? rule_unsupported : *rule, start));
        }
        if (rows && !rows->count)
            see(context, fde->address < from ? from : fde->address, row_of(rule_none, from));
        end = fde->address + fde->size > from ? fde->address + fde->size : from;
    }
    if (end < to)
        see(context, end, row_of(rule_none, end));
}

static bool is_entry_state(const struct cfi_rules *r)
{
    return r->cfa == CFI_SP && r->cfa_offset == 8 && r->bp == CFI_BP_SAME &&
           r->return_rule == CFI_RETURN_AT_CFA;
}

/* Whether the FDE's first row is that of a function's entry: CFA = SP + 8. */
static bool begins_in_entry_state(const struct cfi *cfi, const struct cfi_fde *fde)
{
    struct bytes code = fde->code;
    struct cfi_machine m = cfi_machine_at(&cfi->frames, fde);
    return cfi_machine_run(&m, &code) != CFI_BAD && is_entry_state(&m.now);
}

int cfi_table_build(const struct elf_file *file, struct cfi **out, struct fathom_error *err)
{
    struct cfi *cfi = calloc(1, sizeof *cfi);
    if (!cfi || cfi_frames_read(file, &cfi->frames) < 0)
        goto no_memory;
    const size_t count = cfi->frames.fde_count;
    cfi->base = file->code_low;
    cfi->starts = malloc((count + 1) * sizeof *cfi->starts);
    cfi->ranges = malloc((count + 1) * sizeof *cfi->ranges);
    cfi->rows = calloc(count + 1, sizeof *cfi->rows);
    if (!cfi->starts || !cfi->ranges || !cfi->rows)
        goto no_memory;
    for (size_t i = 0; i < count; i++) {
        const struct cfi_fde *fde = &cfi->frames.fdes[i];
        cfi->starts[i] = (uint32_t)(fde->address - cfi->base);
        cfi->ranges[i] =
            (struct cfi_range){fde->address, fde->size, begins_in_entry_state(cfi, fde), fde->lsda};
    }
    if (address_index_build(&cfi->index, cfi->starts, (uint32_t)count) < 0)
        goto no_memory;
    *out = cfi;
    return 0;
no_memory:
    cfi_table_free(cfi);
    return error_memory(err);
}

const struct cfi_frames *cfi_table_frames(const struct cfi *cfi)
{
    return &cfi->frames;
}

int cfi_part_add(struct cfi_part *part, uint64_t address, struct cfi_row row)
{
    struct rule rule = rule_none;
    if (address < part->base || address - part->base > UINT32_MAX)
        return 0;
    if (row.cfa != CFI_NONE)
        rule = (struct rule){row.cfa_offset, (int16_t)row.bp_offset,
                             (uint8_t)(row.cfa | (row.cfa_add / 8u) << CFA_BITS), row.bp};
    if (row.bp_offset < INT16_MIN || row.bp_offset > INT16_MAX)
        rule.bp_and_root = CFI_BP_UNKNOWN;
    rule.bp_and_root |= row.root ? ROOT_FLAG : 0;
    const struct row derived = {(uint32_t)(address - part->base), rule};
    return vec_push(part->at, part->count, part->capacity, derived) ? 0 : -ENOMEM;
}

int cfi_table_derive(struct cfi *cfi, uint64_t address, struct cfi_row row)
{
    cfi->derived.base = cfi->base;
    return cfi_part_add(&cfi->derived, address, row);
}

void cfi_table_derived(struct cfi *cfi)
{
    cfi->derived_count = sort_derived(&cfi->derived);
}

int cfi_table_derive_parts(struct cfi *cfi, uint64_t end, cfi_part_derive *derive, void *context)
{
    const uint64_t bytes = end > cfi->base ? end - cfi->base : 0;
    const uint32_t count = (uint32_t)((bytes < UINT32_MAX ? bytes : UINT32_MAX) / PART_BYTES + 1);
    cfi->parts = calloc(1, sizeof *cfi->parts + count * sizeof cfi->parts->rows[0]);
    if (!cfi->parts)
        return -ENOMEM;
    cfi->parts->derive = derive;
    cfi->parts->context = context;
    cfi->parts->count = count;
    return 0;
}

void cfi_table_free(struct cfi *cfi)
{
    if (!cfi)
        return;
    for (size_t i = 0; cfi->rows && i < cfi->frames.fde_count; i++)
        free(cfi->rows[i]);
    cfi_frames_free(&cfi->frames);
    address_index_free(&cfi->index);
    free(cfi->rows);
    free(cfi->starts);
    free(cfi->ranges);
    for (uint32_t i = 0; cfi->parts && i < cfi->parts->count; i++)
        free(cfi->parts->rows[i]);
    free(cfi->parts);
    free(cfi->derived.at);
    free(cfi);
}

void cfi_statistics(const struct cfi *cfi, struct cfi_statistics *out)
{
    const size_t count = cfi->frames.fde_count;
    struct cfi_statistics s = {.fdes = (uint32_t)count,
                               .bad_fdes = cfi->frames.bad,
                               .bytes = sizeof *cfi +
                                        (cfi->index.bucket_count + (size_t)1) * sizeof *cfi->index.buckets +
                                        count * (sizeof *cfi->frames.fdes + sizeof *cfi->starts +
                                                 sizeof *cfi->ranges + sizeof *cfi->rows)};
    for (uint32_t i = 0; i < count; i++) {
        const struct rows *rows = rows_of(cfi, i);
        s.bad_fdes += rows && !rows->count;
        s.bytes += rows ? sizeof *rows + rows->count * sizeof *rows->at : 0;
        for (uint32_t k = 0; rows && k < rows->count; k++) {
            s.rows++;
            s.unsupported_rows += rows->at[k].rule.cfa == CFI_UNSUPPORTED;
        }
    }
    *out = s;
}

size_t cfi_ranges(const struct cfi *cfi, const struct cfi_range **out)
{
    *out = cfi->ranges;
    return cfi->frames.fde_count;
}

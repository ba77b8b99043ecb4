/*
 * cfi.c - the flat table of CFI rows: built from .eh_frame, looked up by address; see cfi.h.
 *
 * A row is 12 bytes in two arrays: its start (bytes from the first code address) and its rule. It applies up
 * to the next row's start; adjacent rows are never equal, and a gap between FDEs is a row of CFI_NONE.
 */
#include "image/cfi/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/cfi/frames.h"
#include "image/cfi/table.h"
#include "image/elf/address_index.h"

struct rule {
    int32_t cfa_offset;
    int16_t bp_offset; /* for CFI_PLT: the limit */
    uint8_t cfa;
    uint8_t bp_and_root; /* enum cfi_bp, ROOT_FLAG */
};

#define ROOT_FLAG 0x80

struct derived_row {
    uint32_t start;
    struct rule rule;
};

_Static_assert(sizeof(struct rule) == 8, "a rule is compared and kept as 8 bytes without padding");

struct cfi {
    uint64_t base;
    uint32_t *starts;
    struct rule *rules;
    uint32_t row_count;
    uint32_t row_capacity;
    struct address_index index;
    struct cfi_range *ranges;
    size_t range_count;
    uint32_t bad_fdes;
    struct cfi *derived;          /* rows for where these have none; NULL: there are none */
    struct derived_row *new_rows; /* which it is made of */
    size_t new_count, new_capacity;
};

static struct cfi_row row_of(struct rule rule, uint64_t address)
{
    struct cfi_row row = {.cfa = rule.cfa,
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

/* ADDRESS_INDEX_NONE: it is before the first row, or too far. */
static uint32_t index_of(const struct cfi *cfi, uint64_t address)
{
    const uint64_t offset = address - cfi->base;
    return offset > UINT32_MAX ? ADDRESS_INDEX_NONE : address_index_find(&cfi->index, (uint32_t)offset);
}

static struct cfi_row look_up(const struct cfi *cfi, uint64_t address)
{
    const uint32_t at = index_of(cfi, address);
    return at == ADDRESS_INDEX_NONE ? (struct cfi_row){.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN}
                                    : row_of(cfi->rules[at], address);
}

uint32_t cfi_row_index(const struct cfi *cfi, uint64_t address)
{
    const uint32_t at = index_of(cfi, address);
    return at != ADDRESS_INDEX_NONE ? at : address < cfi->base ? 0 : cfi->row_count;
}

bool cfi_row_at(const struct cfi *cfi, uint32_t index, uint64_t *start, struct cfi_row *row)
{
    if (index >= cfi->row_count)
        return false;
    *start = cfi->base + cfi->starts[index];
    *row = row_of(cfi->rules[index], *start);
    if (cfi->rules[index].cfa == CFI_PLT) /* it depends on the address */
        row->cfa = CFI_UNSUPPORTED;
    return true;
}

struct cfi_row cfi_lookup(const struct cfi *cfi, uint64_t address)
{
    struct cfi_row row = look_up(cfi, address);
    if (row.cfa != CFI_NONE || !cfi->derived)
        return row;
    row = look_up(cfi->derived, address);
    row.derived = row.cfa != CFI_NONE;
    return row;
}

static uint64_t row_end(const struct cfi *cfi, uint64_t address)
{
    if (address < cfi->base)
        return cfi->row_count ? cfi->base : UINT64_MAX;
    if (address - cfi->base > UINT32_MAX)
        return UINT64_MAX;
    uint32_t at = address_index_find(&cfi->index, (uint32_t)(address - cfi->base));
    uint32_t next = at == ADDRESS_INDEX_NONE ? 0 : at + 1;
    return next < cfi->row_count ? cfi->base + cfi->starts[next] : UINT64_MAX;
}

uint64_t cfi_row_end(const struct cfi *cfi, uint64_t address)
{
    uint64_t end = row_end(cfi, address), derived = UINT64_MAX;
    if (cfi->derived && look_up(cfi, address).cfa == CFI_NONE)
        derived = row_end(cfi->derived, address);
    return end < derived ? end : derived;
}

static const struct rule rule_none = {.cfa = CFI_NONE, .bp_and_root = CFI_BP_UNKNOWN};
static const struct rule rule_unsupported = {.cfa = CFI_UNSUPPORTED, .bp_and_root = CFI_BP_UNKNOWN};

static struct rule rule_of(const struct cfi_rules *r)
{
    if (r->cfa == CFI_SIGNAL_FRAME)
        return (struct rule){.cfa = CFI_SIGNAL_FRAME, .bp_and_root = CFI_BP_UNKNOWN};
    bool root = r->return_rule == CFI_RETURN_NONE;
    bool fits = r->cfa_offset >= INT32_MIN && r->cfa_offset <= INT32_MAX - 8;
    bool known = r->cfa != CFI_UNSUPPORTED && fits && (root || r->return_rule == CFI_RETURN_AT_CFA) &&
                 (r->cfa != CFI_PLT || r->bp == CFI_BP_SAME);
    if (!known) { /* a stack's root is known even if its CFA is not */
        struct rule rule = rule_unsupported;
        rule.bp_and_root |= root ? ROOT_FLAG : 0;
        return rule;
    }
    struct rule rule = {.cfa_offset = (int32_t)r->cfa_offset, .cfa = r->cfa, .bp_and_root = r->bp};
    if (r->cfa == CFI_PLT)
        rule.bp_offset = r->plt_limit;
    else if (r->bp_offset >= INT16_MIN && r->bp_offset <= INT16_MAX)
        rule.bp_offset = (int16_t)r->bp_offset;
    else
        rule.bp_and_root = CFI_BP_UNKNOWN;
    rule.bp_and_root |= root ? ROOT_FLAG : 0;
    return rule;
}

static bool is_entry_state(const struct cfi_rules *r)
{
    return r->cfa == CFI_SP && r->cfa_offset == 8 && r->bp == CFI_BP_SAME &&
           r->return_rule == CFI_RETURN_AT_CFA;
}

static int add_row(struct cfi *cfi, uint32_t start, struct rule rule)
{
    uint32_t n = cfi->row_count;
    if (n && cfi->starts[n - 1] == start)
        n--;
    if (n && memcmp(&cfi->rules[n - 1], &rule, sizeof rule) == 0) {
        cfi->row_count = n;
        return 0;
    }
    uint32_t capacity = cfi->row_capacity; /* of both arrays, though the first alone may have grown */
    if (!vec_reserve(cfi->starts, n, capacity, 1) || !vec_reserve(cfi->rules, n, cfi->row_capacity, 1))
        return -ENOMEM;
    cfi->starts[n] = start;
    cfi->rules[n] = rule;
    cfi->row_count = n + 1;
    return 0;
}

/* The rows of one FDE; a damaged one becomes a gap. */
static int add_fde(struct cfi *cfi, const struct cfi_frames *frames, const struct cfi_fde *fde)
{
    struct cfi_machine m = cfi_machine_at(frames, fde);
    struct bytes code = fde->code;
    uint64_t end = fde->address + fde->size;
    uint32_t first = (uint32_t)(fde->address - cfi->base);
    enum cfi_progress progress;
    bool entry_state = false;
    do {
        uint64_t from = m.location;
        progress = cfi_machine_run(&m, &code);
        if (progress == CFI_BAD)
            break;
        if (from == fde->address)
            entry_state = is_entry_state(&m.now);
        if (add_row(cfi, (uint32_t)(from - cfi->base), rule_of(&m.now)) < 0)
            return -ENOMEM;
    } while (progress == CFI_MOVED && m.location < end);
    if (progress == CFI_BAD) {
        cfi->bad_fdes++;
        while (cfi->row_count && cfi->starts[cfi->row_count - 1] >= first)
            cfi->row_count--;
        return add_row(cfi, first, rule_none);
    }
    cfi->ranges[cfi->range_count++] = (struct cfi_range){fde->address, fde->size, entry_state, fde->lsda};
    return add_row(cfi, (uint32_t)(end - cfi->base), rule_none);
}

/* Makes room for the rows of these, once: but for an FDE's first and its end, nearly each takes an advance of one byte, and two at least
 * that change a rule. What is not used is never touched. */
static bool make_room(struct cfi *cfi, const struct cfi_frames *frames)
{
    size_t most = 1;
    for (size_t i = 0; i < frames->fde_count; i++)
        most += 2 + bytes_left(&frames->fdes[i].code) / 3;
    uint32_t capacity = cfi->row_capacity;
    return vec_reserve(cfi->starts, 0, capacity, most) && vec_reserve(cfi->rules, 0, cfi->row_capacity, most);
}

/* Frees unused capacity. */
static void fit(struct cfi *cfi)
{
    size_t capacity = cfi->row_count ? cfi->row_count : 1;
    uint32_t *starts = realloc(cfi->starts, capacity * sizeof *starts);
    if (starts)
        cfi->starts = starts;
    struct rule *rules = realloc(cfi->rules, capacity * sizeof *rules);
    if (rules)
        cfi->rules = rules;
    cfi->row_capacity = (uint32_t)capacity;
}

int cfi_table_build(const struct elf_file *file, struct cfi **out, struct fathom_error *err)
{
    struct cfi_frames frames = {0};
    struct cfi *cfi = calloc(1, sizeof *cfi);
    if (!cfi || cfi_frames_read(file, &frames) < 0)
        goto no_memory;
    cfi->base = file->code_low;
    cfi->bad_fdes = frames.bad;
    cfi->ranges = malloc((frames.fde_count + 1) * sizeof *cfi->ranges);
    if (!cfi->ranges || !make_room(cfi, &frames))
        goto no_memory;
    for (size_t i = 0; i < frames.fde_count; i++)
        if (add_fde(cfi, &frames, &frames.fdes[i]) < 0)
            goto no_memory;
    fit(cfi);
    if (address_index_build(&cfi->index, cfi->starts, cfi->row_count) < 0)
        goto no_memory;
    cfi_frames_free(&frames);
    *out = cfi;
    return 0;
no_memory:
    cfi_frames_free(&frames);
    cfi_table_free(cfi);
    return error_memory(err);
}

int cfi_table_derive(struct cfi *cfi, uint64_t address, struct cfi_row row)
{
    struct rule rule = rule_none;
    if (address < cfi->base || address - cfi->base > UINT32_MAX)
        return 0;
    if (row.cfa != CFI_NONE)
        rule = (struct rule){row.cfa_offset, (int16_t)row.bp_offset, row.cfa, row.bp};
    if (row.bp_offset < INT16_MIN)
        rule.bp_and_root = CFI_BP_UNKNOWN;
    rule.bp_and_root |= row.root ? ROOT_FLAG : 0;
    struct derived_row derived = {(uint32_t)(address - cfi->base), rule};
    return vec_push(cfi->new_rows, cfi->new_count, cfi->new_capacity, derived) ? 0 : -ENOMEM;
}

/* By address. Where a function begins that another ends at, its row is the last. */
static int compare_derived(const void *a, const void *b)
{
    const struct derived_row *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->rule.cfa != CFI_NONE) - (y->rule.cfa != CFI_NONE);
}

int cfi_table_derived(struct cfi *cfi)
{
    struct cfi *derived = cfi->new_count ? calloc(1, sizeof *derived) : NULL;
    int rc = derived || !cfi->new_count ? 0 : -ENOMEM;
    if (derived) {
        cfi->derived = derived;
        derived->base = cfi->base;
        qsort(cfi->new_rows, cfi->new_count, sizeof *cfi->new_rows, compare_derived);
    }
    for (size_t i = 0; rc == 0 && i < cfi->new_count; i++)
        rc = add_row(derived, cfi->new_rows[i].start, cfi->new_rows[i].rule);
    free(cfi->new_rows);
    cfi->new_rows = NULL;
    cfi->new_count = cfi->new_capacity = 0;
    if (rc < 0 || !derived)
        return rc;
    fit(derived);
    return address_index_build(&derived->index, derived->starts, derived->row_count);
}

void cfi_table_free(struct cfi *cfi)
{
    if (!cfi)
        return;
    cfi_table_free(cfi->derived);
    free(cfi->new_rows);
    address_index_free(&cfi->index);
    free(cfi->starts);
    free(cfi->rules);
    free(cfi->ranges);
    free(cfi);
}

void cfi_statistics(const struct cfi *cfi, struct cfi_statistics *out)
{
    struct cfi_statistics s = {.fdes = (uint32_t)cfi->range_count, .bad_fdes = cfi->bad_fdes};
    for (uint32_t i = 0; i < cfi->row_count; i++) {
        s.rows += cfi->rules[i].cfa != CFI_NONE;
        s.unsupported_rows += cfi->rules[i].cfa == CFI_UNSUPPORTED;
    }
    s.bytes = sizeof *cfi + cfi->row_capacity * (sizeof *cfi->starts + sizeof *cfi->rules) +
              (cfi->index.bucket_count + (size_t)1) * sizeof *cfi->index.buckets +
              cfi->range_count * sizeof *cfi->ranges;
    *out = s;
}

size_t cfi_ranges(const struct cfi *cfi, const struct cfi_range **out)
{
    *out = cfi->ranges;
    return cfi->range_count;
}

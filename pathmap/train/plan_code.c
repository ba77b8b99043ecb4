/* plan_code.c - decodes an image's functions and the gaps between them; see plan_code.h. */
#include "pathmap/train/plan_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "image/cfi/cfi.h"

struct scan {
    struct plan_code *code;
    uint64_t *tables; /* addresses that lea took */
    size_t table_count, table_capacity;
    bool no_memory;
    bool fixed; /* immediates may be addresses */
};

static void set_bit(uint8_t *bits, uint64_t at, bool value)
{
    uint8_t mask = (uint8_t)(1u << at % 8);
    bits[at / 8] = (uint8_t)(value ? bits[at / 8] | mask : bits[at / 8] & ~mask);
}

static bool get_bit(const struct plan_code *code, const uint8_t *bits, uint64_t address)
{
    uint64_t at = address - code->low;
    return at < code->high - code->low && bits[at / 8] >> at % 8 & 1;
}

bool plan_code_is_target(const struct plan_code *code, uint64_t address)
{
    return get_bit(code, code->targets, address);
}

bool plan_code_is_dead(const struct plan_code *code, uint64_t address)
{
    return get_bit(code, code->dead, address);
}

void plan_code_use(struct plan_code *code, uint64_t address, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (address + i - code->low < code->high - code->low)
            set_bit(code->dead, address + i - code->low, false);
}

static void see_target(void *context, uint64_t address)
{
    struct plan_code *code = context;
    if (address - code->low < code->high - code->low)
        set_bit(code->targets, address - code->low, true);
}

static void set_dead(struct plan_code *code, uint64_t address, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        set_bit(code->dead, address + i - code->low, true);
}

static void add_table(struct scan *s, uint64_t address)
{
    if (!vec_reserve(s->tables, s->table_count, s->table_capacity, 1)) {
        s->no_memory = true;
        return;
    }
    s->tables[s->table_count++] = address;
}

/* Decodes a range; returns its flags. */
static unsigned scan_range(struct scan *s, const uint8_t *bytes, size_t size, uint64_t address)
{
    struct plan_code *code = s->code;
    bool whole = true, closed = false; /* closed: nothing but padding since the last jump or return */
    bool loops = false;
    for (size_t at = 0; at < size;) {
        struct insn insn;
        if (!insn_read(code->reader, bytes + at, size - at, address + at, &insn)) {
            whole = closed = false;
            at++;
            continue;
        }
        if (insn.direct)
            see_target(code, insn.target);
        loops |= insn.direct && insn.flow != INSN_CALL && insn.target - address <= 4 /* endbr64 */;
        if (insn.rip_relative && insn.lea) {
            see_target(code, insn.memory);
            add_table(s, insn.memory);
        }
        if (s->fixed)
            see_target(code, insn.immediate);
        if (closed && (insn.nop || insn.bytes[0] == 0xcc))
            set_dead(code, insn.address, insn.length);
        else
            closed = insn.flow == INSN_JUMP || insn.flow == INSN_RETURN;
        at += insn.length;
    }
    return (whole ? PLAN_CODE_WHOLE : 0) | (closed ? PLAN_CODE_ENDS : 0) | (loops ? PLAN_CODE_LOOPS : 0);
}

/* Whether there is only padding, which is nops or int3 from ld and lld. Zeros do not count: they may be
 * constants. */
static bool is_padding(const struct plan_code *code, const uint8_t *bytes, size_t size, uint64_t address)
{
    for (size_t at = 0; at < size;) {
        struct insn insn;
        if (!insn_read(code->reader, bytes + at, size - at, address + at, &insn) ||
            (!insn.nop && insn.bytes[0] != 0xcc))
            return false;
        at += insn.length;
    }
    return true;
}

/* Decodes what is between two functions: padding, or unknown code, whose branches count all the same. */
static void scan_gap(struct scan *s, uint64_t start, uint64_t end, bool closed)
{
    size_t size;
    const uint8_t *bytes = start < end ? image_bytes(s->code->image, start, &size) : NULL;
    if (!bytes)
        return;
    bool cut = size < end - start;
    if (!cut)
        size = end - start;
    if (!is_padding(s->code, bytes, size, start))
        scan_range(s, bytes, size, start);
    else if (closed && !cut)
        for (size_t i = 0; i < size; i++)
            set_dead(s->code, start + i, 1);
}

static void scan_functions(struct scan *s)
{
    struct plan_code *code = s->code;
    uint32_t count = image_function_count(code->image);
    uint64_t end = code->low;
    bool closed = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct image_function *f = image_function(code->image, i);
        if (image_function_is_found(code->image, i))
            continue; /* it may be data */
        scan_gap(s, end, f->address, closed);
        size_t size;
        const uint8_t *bytes = image_bytes(code->image, f->address, &size);
        if (bytes && size >= f->size)
            code->flags[i] = (uint8_t)scan_range(s, bytes, f->size, f->address);
        closed = code->flags[i] & PLAN_CODE_ENDS;
        end = f->address + f->size;
    }
}

/* A table extends as long as its entries lead to code, up to the next one. */
static void follow_tables(struct scan *s)
{
    struct plan_code *code = s->code;
    sort_numbers(s->tables, s->table_count);
    for (size_t i = 0; i < s->table_count; i++) {
        uint64_t table = s->tables[i], next = i + 1 < s->table_count ? s->tables[i + 1] : UINT64_MAX;
        size_t size;
        const uint8_t *bytes = table != next ? image_bytes(code->image, table, &size) : NULL;
        if (!bytes)
            continue;
        for (size_t at = 0; at + 4 <= size && table + at < next; at += 4) {
            int32_t distance;
            memcpy(&distance, bytes + at, sizeof distance);
            uint64_t target = table + (uint64_t)(int64_t)distance;
            if (target - code->low >= code->high - code->low)
                break;
            see_target(code, target);
        }
    }
}

/* If control arrives at padding, the rest of that padding is reached too. */
static void revive_padding(struct plan_code *code)
{
    bool live = false;
    for (uint64_t a = code->low; a < code->high; a++) {
        if (code->dead[(a - code->low) / 8] == 0 && (a - code->low) % 8 == 0) {
            a += 7;
            live = false;
        } else if (!plan_code_is_dead(code, a)) {
            live = false;
        } else {
            live |= plan_code_is_target(code, a);
            if (live)
                set_bit(code->dead, a - code->low, false);
        }
    }
}

static void find_parts(struct plan_code *code)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image_cfi(code->image), &ranges), r = 0;
    for (uint32_t i = 0; i < image_function_count(code->image); i++) {
        uint64_t address = image_function(code->image, i)->address;
        while (r < count && ranges[r].address < address)
            r++;
        if (r < count && ranges[r].address == address && !ranges[r].entry_state)
            code->flags[i] |= PLAN_CODE_PART;
    }
}

int plan_code_read(const struct image *image, struct plan_code *out)
{
    struct plan_code code = {.image = image};
    uint32_t count = image_function_count(image);
    if (count) {
        const struct image_function *last = image_function(image, count - 1);
        code.low = image_function(image, 0)->address;
        code.high = last->address + last->size;
    }
    size_t bytes = (code.high - code.low) / 8 + 1;
    code.reader = insn_reader_new();
    code.targets = calloc(bytes, 1);
    code.dead = calloc(bytes, 1);
    code.flags = calloc(count + (size_t)1, 1);
    struct scan s = {.code = &code, .fixed = image_is_fixed(image)};
    int rc = -ENOMEM;
    if (code.reader && code.targets && code.dead && code.flags) {
        scan_functions(&s);
        find_parts(&code);
        rc = s.no_memory ? -ENOMEM : image_targets(image, see_target, &code);
    }
    if (rc == 0) {
        follow_tables(&s);
        revive_padding(&code);
        *out = code;
    } else {
        plan_code_free(&code);
    }
    free(s.tables);
    return rc;
}

void plan_code_free(struct plan_code *code)
{
    insn_reader_free(code->reader);
    free(code->targets);
    free(code->dead);
    free(code->flags);
    *code = (struct plan_code){0};
}

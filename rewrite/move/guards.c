/*
 * guards.c - guards of calls through pointers: they call a copy directly if the pointer is the function that was
 * copied; see move.h.
 *
 * Before "call *OPERAND", for each function:
 *
 *          lea   FUNCTION(%rip), %r11
 *          cmp   OPERAND, %r11
 *          jne   next
 *          call  COPY
 *          jmp   end
 *    next:
 *
 * r11 and the flags are free at a call (System V ABI, AMD64, section 3.2.1); r10 may be the static chain. SP does
 * not change, so the operand is the same for the comparison, and the call's CFI is valid for all of it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "rewrite/move/checker.h"
#include "image/code/fields.h"

#define SCRATCH     11 /* r11 */
#define LEA_SIZE    7
#define BRANCH_SIZE 2
#define CALL_SIZE   5
#define GROUP_CALL  2 /* ff /2 */
#define NOTRACK     0x3e

static const uint8_t lea_bytes[LEA_SIZE] = {0x4c, 0x8d, 0x1d};

static int by_target(const void *a, const void *b)
{
    const struct move_guard *x = a, *y = b;
    return order_of(x->site, y->site) ?: order_of(x->in, y->in) ?: order_of(x->target, y->target);
}

int move_guards_sort(const struct move_plan *plan, struct move_guards *out)
{
    struct move_guard *items = malloc((plan->guard_count + 1) * sizeof *items);
    if (!items)
        return -ENOMEM;
    if (plan->guard_count) {
        memcpy(items, plan->guards, plan->guard_count * sizeof *items);
        qsort(items, plan->guard_count, sizeof *items, by_target);
    }
    for (size_t i = 1; i < plan->guard_count; i++)
        if (by_target(&items[i - 1], &items[i]) == 0) {
            free(items);
            return -EINVAL;
        }
    *out = (struct move_guards){items, plan->guard_count};
    return 0;
}

size_t move_guards_of(const struct move_guards *guards, uint64_t site, uint32_t in,
                      const struct move_guard **first)
{
    const struct move_guard key = {.site = site, .in = in};
    size_t start = lower_bound(i, 0, guards->count, by_target(&guards->items[i], &key) < 0), end = start;
    while (end < guards->count && guards->items[end].site == site && guards->items[end].in == in)
        end++;
    *first = guards->items + start;
    return end - start;
}

/* Encodes cmp OPERAND, %r11 for the operand of a call; 0: there is no such instruction. */
static unsigned encode_compare(const uint8_t *call, unsigned length, uint8_t out[16])
{
    unsigned at = 0, rex = 0;
    if (at < length && call[at] == NOTRACK)
        at++;
    if (at < length && (call[at] & 0xf0) == 0x40)
        rex = call[at++];
    if (length - at < 2 || call[at] != 0xff || (call[at + 1] >> 3 & 7) != GROUP_CALL)
        return 0;
    out[0] = (uint8_t)(0x4c | (rex & 3)); /* REX.W and R, for r11 */
    out[1] = 0x3b;
    out[2] = (uint8_t)((call[at + 1] & 0xc7) | (SCRATCH & 7) << 3);
    memcpy(out + 3, call + at + 2, length - at - 2);
    return length - at + 1;
}

bool move_guardable(const struct image *image, uint64_t site)
{
    size_t size;
    struct code_insn insn;
    uint8_t out[16];
    const uint8_t *bytes = image_bytes(image, site, &size);
    return bytes && code_read(bytes, size, site, &insn) && insn.kind == CODE_CALL_INDIRECT &&
           insn.base != SCRATCH && insn.index != SCRATCH && encode_compare(bytes, insn.length, out);
}

unsigned move_guards_size(const struct move_layout *layout, uint32_t i, const uint8_t *call, unsigned length)
{
    const struct code_insn *insn = &layout->unit->code.insns[i];
    const struct move_guard *guards;
    uint8_t out[16];
    size_t count =
        layout->guards ? move_guards_of(layout->guards, insn->address, layout->number, &guards) : 0;
    if (count == 0)
        return 0;
    if (count > MOVE_GUARDS_MOST || !move_guardable(layout->unit->survey->image, insn->address))
        return UINT_MAX;
    return (unsigned)count *
           (LEA_SIZE + encode_compare(call, length, out) + BRANCH_SIZE + CALL_SIZE + BRANCH_SIZE);
}

/* Appends a guard. after: bytes from its end to the end of the call. */
static bool put_guard(struct move_work *work, const struct move_layout *layout,
                      const struct move_guard *guard, const struct code_insn *insn, const uint8_t *call,
                      unsigned length, unsigned after, uint32_t buffer)
{
    struct move_buffer *to = &work->buffers[buffer];
    uint8_t bytes[LEA_SIZE + 16 + 2 * BRANCH_SIZE + CALL_SIZE] = {0};
    uint32_t start = (uint32_t)to->size;
    memcpy(bytes, lea_bytes, LEA_SIZE);
    unsigned n = LEA_SIZE;
    struct move_fix lea = {
        .at = {buffer, start + n - 4}, .from = 4, .kind = FIX_FAR, .target = guard->target};
    if (survey_follows(work->survey, guard->target))
        lea.kind = FIX_FUNCTION;
    n += encode_compare(call, length, bytes + n);
    struct move_fix operand = {
        .at = {buffer, start + n - 4}, .from = 4, .kind = FIX_FAR, .target = insn->memory};
    bytes[n++] = 0x75;
    bytes[n++] = CALL_SIZE + BRANCH_SIZE;
    bytes[n] = 0xe8;
    n += CALL_SIZE;
    struct move_fix callee = {.at = {buffer, start + n - 4},
                              .to = {.offset = guard->copy},
                              .from = 4,
                              .kind = FIX_FUNCTION,
                              .target = guard->target};
    struct move_return back = {.from = insn->address + insn->length,
                               .target = guard->target,
                               .to = start + n,
                               .copy = layout->number};
    bytes[n++] = 0xeb;
    bytes[n++] = (uint8_t)after;
    return move_append(to, bytes, n) != SIZE_MAX && move_fix(work, &lea) && move_fix(work, &callee) &&
           (!insn->rip_relative || move_fix(work, &operand)) && move_note_return(work, &back, buffer);
}

bool move_guards_put(struct move_work *work, const struct move_layout *layout, uint32_t i,
                     const uint8_t *call, unsigned length, uint32_t buffer)
{
    const struct code_insn *insn = &layout->unit->code.insns[i];
    const struct move_guard *guards;
    unsigned size = move_guards_size(layout, i, call, length);
    size_t count = size ? move_guards_of(layout->guards, insn->address, layout->number, &guards) : 0;
    for (size_t k = 0; k < count; k++) {
        unsigned after = size - size / (unsigned)count * (unsigned)(k + 1) + length;
        if (!put_guard(work, layout, &guards[k], insn, call, length, after, buffer))
            return false;
    }
    return true;
}

static const uint8_t *read_insn(const struct image *image, uint64_t address, struct code_insn *insn)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, address, &size);
    return bytes && code_read(bytes, size, address, insn) ? bytes : NULL;
}

/* A guard in a new file. */
struct guard {
    uint64_t target;  /* the pointer is compared with this */
    uint64_t callee;  /* the function called if equal */
    uint64_t back;    /* the return address of that call */
    uint64_t differs; /* where it continues if the pointer differs */
    uint64_t end;     /* where it continues after the call */
};

/* Reads the guard at an address, before the call `call`. false: there is none for that call's pointer. */
static bool read_guard(const struct image *image, uint64_t address, const struct code_insn *call,
                       struct guard *out)
{
    struct code_insn insn;
    size_t size;
    uint8_t wanted[16];
    const uint8_t *bytes = read_insn(image, address, &insn), *of = image_bytes(image, call->address, &size);
    if (!bytes || !of || insn.length != LEA_SIZE || memcmp(bytes, lea_bytes, 3) != 0)
        return false;
    out->target = insn.memory;
    unsigned length = encode_compare(of, call->length, wanted);
    bytes = read_insn(image, address += LEA_SIZE, &insn);
    unsigned same = call->rip_relative && length >= 4 ? length - 4 : length;
    if (!bytes || length == 0 || insn.length != length || memcmp(bytes, wanted, same) != 0 ||
        insn.memory != call->memory)
        return false;
    bytes = read_insn(image, address += length, &insn);
    if (!bytes || insn.kind != CODE_BRANCH || bytes[0] != 0x75)
        return false;
    out->differs = insn.target;
    if (!read_insn(image, address += insn.length, &insn) || insn.kind != CODE_CALL)
        return false;
    out->callee = insn.target;
    out->back = address + insn.length;
    if (!read_insn(image, out->back, &insn) || insn.kind != CODE_JUMP)
        return false;
    out->end = insn.target;
    return true;
}

const char *move_guards_check(const struct move_guards_check *c, uint64_t start)
{
    const struct move_guard *guards;
    size_t count = move_guards_of(c->guards, c->old->address, c->copy, &guards);
    uint64_t at = start, to, back, end = c->new->address + c->new->length;
    for (size_t k = 0; k < count; k++) {
        struct guard guard;
        if (!read_guard(c->after, at, c->new, &guard) ||
            guard.target != checker_address(c->survey, c->result, guards[k].target) || guard.end != end ||
            guard.differs <= at || guard.differs > c->new->address)
            return "no guard of a call through a pointer";
        if ((!move_entry(c->result, guards[k].target, guards[k].copy, &to) &&
             !move_entry(c->result, guards[k].target, 0, &to)) ||
            guard.callee != to)
            return "a guard that calls something else";
        if (!move_translate_return(c->result, c->old->address + c->old->length, c->copy, guards[k].target,
                                   &back) ||
            back != guard.back)
            return "another return address of a guard";
        at = guard.differs;
    }
    return at == c->new->address ? NULL : "something else before a call through a pointer";
}

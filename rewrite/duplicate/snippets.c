/* snippets.c - see snippets.h. */
#include "rewrite/duplicate/snippets.h"

#include <string.h>

#include "base/hash.h"
#include "image/code/code.h"
#include "rewrite/duplicate/wire.h"

#define RED_ZONE 128 /* psABI, section 3.2.2 */
#define SAVED    16  /* bytes: two registers */

static void put_bytes(struct snippet *code, const void *bytes, unsigned n)
{
    memcpy(code->bytes + code->size, bytes, n);
    code->size = (uint8_t)(code->size + n);
}

static void put_byte(struct snippet *code, unsigned byte)
{
    code->bytes[code->size++] = (uint8_t)byte;
}

static void put_number(struct snippet *code, int32_t value)
{
    put_bytes(code, &value, sizeof value);
}

/* Appends a distance of four bytes, with which the instruction ends. */
static void put_distance(struct snippet *code, enum move_code_target kind, uint32_t copy, uint64_t target,
                         uint8_t behind)
{
    struct move_code_fix *fix = &code->fixes[code->fix_count++];
    *fix = (struct move_code_fix){.at = code->size,
                                  .from = (uint8_t)(code->size + 4),
                                  .kind = (uint8_t)kind,
                                  .behind = behind,
                                  .copy = copy,
                                  .target = target};
    put_number(code, 0);
}

/* Appends an instruction with an opcode of one byte (or two, as 0x0f..) on a word of the thread's block:
 * %gs:offset. */
static void put_wire(struct snippet *code, unsigned opcode, unsigned reg, bool wide, int32_t offset)
{
    put_byte(code, 0x65);
    if (wide || reg >= 8)
        put_byte(code, 0x40u | (wide ? 8u : 0) | (reg >= 8 ? 4u : 0));
    put_byte(code, opcode);
    put_byte(code, 0x04u | (reg & 7) << 3);
    put_byte(code, 0x25);
    put_number(code, offset);
}

/* Appends lea value(%rsp),%rsp. */
static void put_stack(struct snippet *code, int32_t value)
{
    static const uint8_t lea[] = {0x48, 0x8d, 0xa4, 0x24};
    put_bytes(code, lea, sizeof lea);
    put_number(code, value);
}

/* The counter of the place's group. */
static int32_t counter_of(uint64_t address)
{
    return WIRE_CHECKS_LEFT + (int32_t)(4 * (hash_u64(address) % WIRE_GROUPS));
}

static void put_branch(struct snippet *code, unsigned condition, enum move_code_target kind, uint32_t copy,
                       uint64_t target, uint8_t behind)
{
    put_byte(code, 0x0f);
    put_byte(code, 0x80u | condition);
    put_distance(code, kind, copy, target, behind);
}

enum { EQUAL = 4, NOT_EQUAL = 5 };

/* Appends subl, as decl does not set CF and takes longer. */
static void put_countdown(struct snippet *code, int32_t offset)
{
    put_wire(code, 0x83, 5, false, offset);
    put_byte(code, 1);
}

void snippet_check(struct snippet *code, uint64_t address, uint32_t copy)
{
    *code = (struct snippet){0};
    put_countdown(code, counter_of(address));
    if (copy == COPY_CHECKING) {
        put_branch(code, EQUAL, MOVE_TO_CODE, COPY_INSTRUMENTED, address, (uint8_t)(code->size + 6));
        return;
    }
    put_branch(code, NOT_EQUAL, MOVE_TO_BODY, COPY_CHECKING, address, 0);
    put_countdown(code, WIRE_BURST_LEFT);
    put_byte(code, 0x7f); /* jg, over the call */
    uint8_t jump = code->size;
    put_byte(code, 0);
    put_stack(code, -RED_ZONE);
    code->low_from = code->size;
    put_wire(code, 0xff, 2, false, WIRE_CHANGE); /* call * */
    put_stack(code, RED_ZONE);
    code->low_to = code->size;
    code->low = RED_ZONE;
    put_branch(code, EQUAL, MOVE_TO_BODY, COPY_CHECKING, address, 0);
    code->bytes[jump] = (uint8_t)(code->size - jump - 1);
    put_wire(code, 0xc7, 0, false, counter_of(address)); /* movl $1 */
    put_number(code, 1);
}

/* Appends lea of the reference's address. `lower`: how many bytes SP is below its original value. */
static void put_address(struct snippet *code, unsigned reg, const struct access_ref *ref, int32_t lower)
{
    unsigned rex = 0x48u | (reg >= 8 ? 4u : 0);
    bool base = ref->base != ACCESS_NO_REGISTER, index = ref->index != ACCESS_NO_REGISTER;
    if (!ref->rip_relative)
        rex |= (index && ref->index >= 8 ? 2u : 0) | (base && ref->base >= 8 ? 1u : 0);
    put_byte(code, rex);
    put_byte(code, 0x8d);
    if (ref->rip_relative) {
        put_byte(code, 0x05u | (reg & 7) << 3);
        put_distance(code, MOVE_TO_MEMORY, 0, ref->address, 0);
        return;
    }
    unsigned scale = ref->scale == 8 ? 3 : ref->scale == 4 ? 2 : ref->scale == 2 ? 1 : 0;
    bool sib = index || !base || (ref->base & 7) == CODE_SP;
    put_byte(code, (base ? 0x80u : 0) | (reg & 7) << 3 | (sib ? 4u : ref->base & 7u));
    if (sib)
        put_byte(code, scale << 6 | (index ? ref->index & 7u : 4u) << 3 | (base ? ref->base & 7u : 5u));
    put_number(code, ref->displacement + (ref->base == CODE_SP ? lower : 0));
}

/* Appends mov %reg,offset(%base) in the thread's block, or on the stack. */
static void put_word(struct snippet *code, bool wire, bool store, unsigned reg, unsigned base, int32_t offset)
{
    if (wire)
        put_byte(code, 0x65);
    put_byte(code, 0x48u | (reg >= 8 ? 4u : 0) | (base >= 8 ? 1u : 0));
    put_byte(code, store ? 0x89 : 0x8b);
    put_byte(code, 0x80u | (reg & 7) << 3 | (base & 7));
    if ((base & 7) == CODE_SP)
        put_byte(code, 0x24);
    put_number(code, offset);
}

/* Reserves a record: `reg` becomes its offset in the log, which advances by one record. */
static void put_place(struct snippet *code, unsigned reg)
{
    unsigned both = reg >= 8 ? 0x45 : 0;
    put_wire(code, 0x8b, reg, false, WIRE_LOGGED);
    if (both)
        put_byte(code, both);
    put_byte(code, 0x8d); /* lea 16(%reg),%reg */
    put_byte(code, 0x40u | (reg & 7) << 3 | (reg & 7));
    put_byte(code, WIRE_RECORD);
    put_wire(code, 0x89, reg, false, WIRE_LOGGED);
    if (both)
        put_byte(code, both);
    put_byte(code, 0x0f); /* movzwl */
    put_byte(code, 0xb7);
    put_byte(code, 0xc0u | (reg & 7) << 3 | (reg & 7));
}

/* Chooses two registers that are not live, else rax and rcx. Never rsp, r12: their encoding differs. */
static bool choose_registers(uint32_t live, unsigned out[2])
{
    static const uint8_t order[] = {CODE_AX, CODE_CX, CODE_DX, CODE_SI, CODE_DI, 8, 9, 10, 11};
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof order && count < 2; i++)
        if (!(live & 1u << order[i]))
            out[count++] = order[i];
    if (count == 2)
        return true;
    out[0] = CODE_AX;
    out[1] = CODE_CX;
    return false;
}

void snippet_log(struct snippet *code, uint64_t address, const struct access_ref *ref, uint32_t live,
                 bool *slow)
{
    unsigned regs[2];
    int32_t lower = RED_ZONE + SAVED;
    *code = (struct snippet){0};
    *slow = !choose_registers(live, regs);
    if (*slow) {
        put_stack(code, -lower);
        code->low = (uint32_t)lower;
        code->low_from = code->size;
        put_word(code, false, true, regs[0], CODE_SP, 0);
        put_word(code, false, true, regs[1], CODE_SP, 8);
    }
    if (ref)
        put_address(code, regs[0], ref, *slow ? lower : 0);
    else {
        put_byte(code, 0x40u | (regs[0] >= 8 ? 1u : 0)); /* mov $0,%reg */
        put_byte(code, 0xb8u | (regs[0] & 7));
        put_number(code, 0);
    }
    put_place(code, regs[1]);
    put_word(code, true, true, regs[0], regs[1], WIRE_LOG - WIRE_RECORD);
    put_byte(code, 0x48u | (regs[0] >= 8 ? 4u : 0)); /* lea instruction(%rip),%reg */
    put_byte(code, 0x8d);
    put_byte(code, 0x05u | (regs[0] & 7) << 3);
    put_distance(code, MOVE_TO_BODY, COPY_INSTRUMENTED, address, 0);
    put_word(code, true, true, regs[0], regs[1], WIRE_LOG - WIRE_RECORD + 8);
    if (*slow) {
        put_word(code, false, false, regs[0], CODE_SP, 0);
        put_word(code, false, false, regs[1], CODE_SP, 8);
        put_stack(code, lower);
        code->low_to = code->size;
    }
}

/* plan_displace.c - see plan_displace.h. Encodings: Intel SDM, volume 2, chapter 2 and appendix A. */
#include "pathmap/train/plan_displace.h"

#include <string.h>

#include "base/search.h"

enum { MODRM_RSP = 4, SIB_RSP = 4, REX = 0x40, REX_B = 1 };

static void put_bytes(struct displaced *out, const void *bytes, size_t count)
{
    memcpy(out->code + out->length, bytes, count);
    out->length += (uint32_t)count;
}

static void put_byte(struct displaced *out, unsigned byte)
{
    out->code[out->length++] = (uint8_t)byte;
}

/* A fixup of the field that starts `back` bytes before the current end of the code. */
static void add_fixup(struct displaced *out, enum plan_fixup_kind kind, uint64_t target, unsigned back)
{
    out->fixups[out->fixup_count++] = (struct plan_fixup){
        .target = target,
        .offset = (uint16_t)(out->length - back),
        .kind = (uint8_t)kind,
        .trailing = (uint8_t)(kind == PLAN_REL32 ? back - 4 : 0),
    };
}

/* Ends an instruction with a 32-bit field that is filled in later. */
static void put_field(struct displaced *out, enum plan_fixup_kind kind, uint64_t target)
{
    put_bytes(out, "\0\0\0\0", 4);
    add_fixup(out, kind, target, 4);
}

static void put_jump(struct displaced *out, uint64_t target)
{
    put_byte(out, 0xe9);
    put_field(out, PLAN_REL32, target);
}

static void put_copy(struct displaced *out, const struct insn *insn)
{
    put_bytes(out, insn->bytes, insn->length);
    if (insn->rip_relative) {
        unsigned back = insn->length - insn->displacement;
        memset(out->code + out->length - back, 0, 4);
        add_fixup(out, PLAN_REL32, insn->memory, back);
    }
}

static void put_conditional(struct displaced *out, const struct insn *insn)
{
    /* 7x rel8 or 0f 8x rel32, after prefixes without effect (branch hints) */
    bool near = insn->length >= 6 && insn->bytes[insn->length - 6] == 0x0f;
    unsigned opcode = insn->bytes[insn->length - (near ? 5 : 2)];
    put_byte(out, 0x0f);
    put_byte(out, 0x80 | (opcode & 0x0f));
    put_field(out, PLAN_REL32, insn->target);
}

/* There is no long form: "loop 1f; jmp 2f; 1: jmp target; 2:". */
static void put_loop(struct displaced *out, const struct insn *insn)
{
    put_bytes(out, insn->bytes, insn->length - 1u);
    put_bytes(out, "\x02\xeb\x05", 3);
    put_jump(out, insn->target);
}

/* push $low; movl $high,4(%rsp) */
static void put_push(struct displaced *out, uint64_t address)
{
    put_byte(out, 0x68);
    put_field(out, PLAN_ABS_LOW, address);
    put_bytes(out, "\xc7\x44\x24\x04", 4);
    put_field(out, PLAN_ABS_HIGH, address);
}

/* The rsp-based memory operand of an indirect call. */
struct stack_operand {
    bool is;
    int64_t displacement;
};

static struct stack_operand stack_operand(const struct insn *insn)
{
    struct stack_operand s = {0};
    const uint8_t *modrm = insn->bytes + insn->modrm;
    unsigned before = insn->modrm >= 2 ? insn->bytes[insn->modrm - 2] : 0;
    bool extended = (before & 0xf0) == REX && (before & REX_B); /* then the base is r12 */
    unsigned mod = modrm[0] >> 6;
    if (mod == 3 || (modrm[0] & 7) != MODRM_RSP || (modrm[1] & 7) != SIB_RSP || extended)
        return s;
    s.is = true;
    int32_t wide;
    if (mod == 1) {
        s.displacement = (int8_t)modrm[2];
    } else if (mod == 2) {
        memcpy(&wide, modrm + 2, sizeof wide);
        s.displacement = wide;
    }
    return s;
}

static bool calls_stack_pointer(const struct insn *insn)
{
    unsigned before = insn->modrm >= 2 ? insn->bytes[insn->modrm - 2] : 0;
    bool extended = (before & 0xf0) == REX && (before & REX_B);
    return (insn->bytes[insn->modrm] & 0xc7) == (0xc0 | MODRM_RSP) && !extended;
}

/* ff /2 becomes ff /4; operands addressed by rsp are 8 bytes higher after the push. */
static void put_indirect_call(struct displaced *out, const struct insn *insn)
{
    struct stack_operand stack = stack_operand(insn);
    unsigned modrm = (insn->bytes[insn->modrm] & 0xc7) | 4 << 3;
    put_push(out, insn->address + insn->length);
    if (stack.is) {
        int32_t displacement = (int32_t)(stack.displacement + 8);
        put_bytes(out, insn->bytes, insn->modrm);
        put_byte(out, 2 << 6 | (modrm & 0x3f));
        put_byte(out, insn->bytes[insn->modrm + 1]);
        put_bytes(out, &displacement, sizeof displacement);
    } else {
        uint32_t start = out->length;
        put_copy(out, insn);
        out->code[start + insn->modrm] = (uint8_t)modrm;
    }
}

bool displace_possible(const struct insn *insn)
{
    if (!insn->movable || insn->flow == INSN_SPECIAL)
        return false;
    if (insn->flow != INSN_CALL || insn->direct)
        return true;
    struct stack_operand stack = stack_operand(insn);
    if (stack.is) /* the push overwrites what is below rsp */
        return stack.displacement >= 0 && stack.displacement <= INT32_MAX - 8;
    return !calls_stack_pointer(insn);
}

bool displace_closes(const struct insn *insn)
{
    return insn->flow == INSN_JUMP || insn->flow == INSN_RETURN || insn->flow == INSN_CALL;
}

static void put_insn(struct displaced *out, const struct insn *insn)
{
    switch (insn->flow) {
    case INSN_CONDITIONAL:
        put_conditional(out, insn);
        break;
    case INSN_LOOP:
        put_loop(out, insn);
        break;
    case INSN_CALL:
        if (!insn->direct) {
            put_indirect_call(out, insn);
            break;
        }
        put_push(out, insn->address + insn->length);
        put_jump(out, insn->target);
        break;
    case INSN_JUMP:
        if (insn->direct)
            put_jump(out, insn->target);
        else
            put_copy(out, insn);
        break;
    default:
        put_copy(out, insn);
    }
}

static unsigned find_insn(const struct insn *insns, unsigned count, uint64_t address)
{
    unsigned first = lower_bound(i, 0, count, insns[i].address < address);
    return first < count && insns[first].address == address ? first : count;
}

/* Replaces the fixups of branches from one of the instructions to another by their distance. starts: offsets of the
 * instructions in the code, and of its end. */
static void link_branches(const struct insn *insns, unsigned count, const uint32_t *starts,
                          struct displaced *out)
{
    uint32_t left = 0;
    unsigned i = 0, target;
    for (uint32_t n = 0; n < out->fixup_count; n++) {
        const struct plan_fixup fixup = out->fixups[n];
        while (i < count && starts[i + 1] <= fixup.offset)
            i++;
        bool branches = i < count && insns[i].direct && insns[i].flow != INSN_CALL;
        if (branches && (target = find_insn(insns, count, fixup.target)) < count) {
            int32_t distance = (int32_t)starts[target] - (fixup.offset + 4);
            memcpy(out->code + fixup.offset, &distance, sizeof distance);
        } else {
            out->fixups[left++] = fixup;
        }
    }
    out->fixup_count = left;
}

void displace(const struct insn *insns, unsigned count, uint64_t next, struct displaced *out)
{
    uint32_t starts[DISPLACED_MAX + 1];
    out->length = out->fixup_count = 0;
    for (unsigned i = 0; i < count; i++) {
        starts[i] = out->length;
        put_insn(out, &insns[i]);
    }
    starts[count] = out->length;
    if (count == 0 || !displace_closes(&insns[count - 1]))
        put_jump(out, next);
    link_branches(insns, count, starts, out);
}

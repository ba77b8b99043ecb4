/* insn.c - uses capstone; see insn.h. Offsets inside an instruction are trusted only if the bytes there match
 * the decoded operand. */
#include "image/code/insn.h"

#include <stdlib.h>
#include <string.h>

#include "image/code/decoder.h"
#include "image/code/fields.h"

struct insn_reader *insn_reader_new(void)
{
    struct insn_reader *reader = malloc(sizeof *reader);
    if (reader && !decoder_open(&reader->decoder, CS_OPT_DETAIL, CS_OPT_ON)) {
        free(reader);
        return NULL;
    }
    return reader;
}

void insn_reader_free(struct insn_reader *reader)
{
    if (reader)
        decoder_close(&reader->decoder);
    free(reader);
}

static enum insn_flow flow_of(unsigned id)
{
    switch (id) {
    case X86_INS_JMP:
        return INSN_JUMP;
    case X86_INS_CALL:
        return INSN_CALL;
    case X86_INS_RET:
        return INSN_RETURN;
    case X86_INS_JAE:
    case X86_INS_JA:
    case X86_INS_JBE:
    case X86_INS_JB:
    case X86_INS_JE:
    case X86_INS_JGE:
    case X86_INS_JG:
    case X86_INS_JLE:
    case X86_INS_JL:
    case X86_INS_JNE:
    case X86_INS_JNO:
    case X86_INS_JNP:
    case X86_INS_JNS:
    case X86_INS_JO:
    case X86_INS_JP:
    case X86_INS_JS:
        return INSN_CONDITIONAL;
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
    case X86_INS_JCXZ:
    case X86_INS_JECXZ:
    case X86_INS_JRCXZ:
        return INSN_LOOP;
    case X86_INS_LJMP:
    case X86_INS_LCALL:
    case X86_INS_RETF:
    case X86_INS_RETFQ:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
    case X86_INS_INT:
    case X86_INS_INT1:
    case X86_INS_INT3:
    case X86_INS_INTO:
    case X86_INS_SYSENTER:
    case X86_INS_SYSEXIT:
    case X86_INS_SYSRET:
    case X86_INS_XBEGIN:
        return INSN_SPECIAL;
    default:
        return INSN_PLAIN;
    }
}

static int32_t field(const struct insn *insn, unsigned offset)
{
    int32_t value;
    memcpy(&value, insn->bytes + offset, sizeof value);
    return value;
}

static void read_memory(struct insn *insn, const cs_x86 *x86, const cs_x86_op *op)
{
    if (op->mem.base == X86_REG_EIP)
        insn->movable = false;
    if (op->mem.base != X86_REG_RIP)
        return;
    insn->rip_relative = true;
    insn->displacement = x86->encoding.disp_offset;
    insn->memory = insn->address + insn->length + (uint64_t)op->mem.disp;
    /* (capstone's size of the displacement is wrong under a 66 prefix; the ModRM byte precedes it) */
    if (insn->displacement == 0 || insn->displacement + 4 > insn->length ||
        (insn->bytes[insn->displacement - 1] & 0xc7) != 0x05 ||
        field(insn, insn->displacement) != op->mem.disp)
        insn->movable = false;
}

/* The distance comes last in a direct branch: 1 or 4 bytes. */
static bool distance_agrees(const struct insn *insn)
{
    uint64_t distance = insn->target - insn->address - insn->length;
    bool near = insn->length >= 5 &&
                (insn->bytes[insn->length - 5] == 0xe8 || insn->bytes[insn->length - 5] == 0xe9 ||
                 (insn->bytes[insn->length - 5] & 0xf0) == 0x80);
    if (near)
        return distance == (uint64_t)(int64_t)field(insn, insn->length - 4u);
    return distance == (uint64_t)(int64_t)(int8_t)insn->bytes[insn->length - 1];
}

static void read_branch(struct insn *insn, const cs_x86 *x86)
{
    /* the operand size prefix makes the distance 16 bits wide on some processors and not on others */
    bool odd = memchr(x86->prefix, 0x66, sizeof x86->prefix) || x86->op_count != 1;
    const cs_x86_op *op = &x86->operands[0];
    if (!odd && op->type == X86_OP_IMM) {
        insn->direct = true;
        insn->target = (uint64_t)op->imm;
        odd = !distance_agrees(insn);
    } else if (!odd) {
        insn->modrm = x86->encoding.modrm_offset;
        odd = x86->addr_size != 8 || insn->modrm == 0 || insn->modrm >= insn->length ||
              insn->bytes[insn->modrm - 1] != 0xff;
    } else if (x86->op_count == 1 && op->type == X86_OP_IMM) {
        insn->direct = true;
        insn->target = (uint64_t)op->imm;
    }
    insn->movable &= !odd;
}

/* Capstone does not know all of AVX-512. None of the instructions with a VEX or EVEX prefix is a branch. */
static bool read_vector(const uint8_t *code, size_t size, struct insn *insn)
{
    struct code_fields f;
    if (!code_read_fields(code, size, &f) || !f.vector || f.map > 3 || !memchr("\x62\xc4\xc5", code[0], 3))
        return false;
    memcpy(insn->bytes, code, f.length);
    insn->length = f.length;
    insn->rip_relative = f.mod == 0 && (f.rm & 7) == 5;
    if (insn->rip_relative) {
        insn->displacement = f.displacement_at;
        insn->memory = insn->address + f.length + (uint64_t)(int64_t)field(insn, f.displacement_at);
    }
    return true;
}

/* Nor does capstone know some others on registers: shadow stacks (rdssp, incssp) in libgcc's unwinder, protection
 * keys (rdpkru, wrpkru). [f3] [REX] 0f 1e, 0f ae or 0f 01, and a ModRM byte that names a register; none is a
 * branch. */
static bool read_system(const uint8_t *code, size_t size, struct insn *insn)
{
    unsigned at = size && code[0] == 0xf3;
    at += at < size && (code[at] & 0xf0) == 0x40;
    if (size < at + 3 || code[at] != 0x0f || code[at + 2] < 0xc0)
        return false;
    if (code[at + 1] != 0x1e && code[at + 1] != 0xae && code[at + 1] != 0x01)
        return false;
    insn->length = (uint8_t)(at + 3);
    memcpy(insn->bytes, code, insn->length);
    return true;
}

bool insn_read(struct insn_reader *reader, const uint8_t *code, size_t size, uint64_t address,
               struct insn *out)
{
    cs_insn *decoded = reader->decoder.insn;
    const uint8_t *bytes = code;
    size_t left = size;
    uint64_t at = address;
    if (!cs_disasm_iter(reader->decoder.handle, &bytes, &left, &at, decoded) || decoded->size > INSN_MAX) {
        *out = (struct insn){.address = address, .movable = true};
        return read_vector(code, size, out) || read_system(code, size, out);
    }
    const cs_x86 *x86 = &decoded->detail->x86;
    *out = (struct insn){.address = address,
                         .length = (uint8_t)decoded->size,
                         .flow = (uint8_t)flow_of(decoded->id),
                         .nop = decoded->id == X86_INS_NOP,
                         .lea = decoded->id == X86_INS_LEA,
                         .movable = true};
    memcpy(out->bytes, decoded->bytes, decoded->size);
    for (unsigned i = 0; i < x86->op_count; i++) {
        if (x86->operands[i].type == X86_OP_MEM)
            read_memory(out, x86, &x86->operands[i]);
        else if (x86->operands[i].type == X86_OP_IMM && out->flow == INSN_PLAIN)
            out->immediate = (uint64_t)x86->operands[i].imm;
    }
    if (out->flow != INSN_PLAIN && out->flow != INSN_RETURN && out->flow != INSN_SPECIAL)
        read_branch(out, x86);
    return true;
}

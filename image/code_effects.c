/* code_effects.c - where control goes after an instruction and which registers it changes; see code.h. */
#include "image/code_reader.h"

static void branch(struct code_reader *r, enum code_kind kind)
{
    r->out->kind = (uint8_t)kind;
    r->out->target = (uint64_t)r->immediate; /* the length is added at the end */
}

static void move_sp(struct code_reader *r, int64_t amount)
{
    bool fits = !r->operand16 && amount > -(1 << 30) && amount < 1 << 30;
    r->out->stack = fits ? CODE_SP_MOVED : CODE_SP_OTHER;
    r->out->amount = fits ? (int32_t)amount : 0;
}

static void write_register(struct code_reader *r, unsigned number)
{
    r->out->written |= (uint16_t)(1u << number);
    if (number == CODE_SP && r->out->stack == CODE_SP_SAME)
        r->out->stack = CODE_SP_OTHER;
}

/* The instructions that write to the operand in rm. */
static void write_rm(struct code_reader *r)
{
    if (r->mod == 3)
        write_register(r, r->rm);
}

static void set_effect(struct code_reader *r, enum code_effect effect, unsigned reg)
{
    r->out->effect = (uint8_t)effect;
    r->out->reg = (uint8_t)reg;
}

static void classify_group1(struct code_reader *r) /* 81, 83 */
{
    unsigned operation = r->reg & 7;
    if (r->mod == 3 && r->rm == CODE_SP && r->rex & 8 && (operation == 0 || operation == 5))
        move_sp(r, operation == 0 ? -r->immediate : r->immediate);
    else if (operation != 7)
        write_rm(r);
}

static void classify_group5(struct code_reader *r) /* ff */
{
    switch (r->reg & 7) {
    case 2:
        r->out->kind = CODE_CALL_INDIRECT;
        break;
    case 4:
        r->out->kind = CODE_JUMP_INDIRECT;
        break;
    case 3:
        break;
    case 5:
        r->out->kind = CODE_STOP;
        break;
    case 6:
        move_sp(r, 8);
        break;
    default:
        write_rm(r);
    }
}

static void classify_mov(struct code_reader *r) /* 8b: to a register */
{
    struct code_insn *out = r->out;
    if (r->mod == 3) {
        if (r->reg == CODE_SP && r->rm == CODE_BP && r->rex & 8) {
            out->stack = CODE_SP_FROM_BP;
            out->amount = 0;
        }
    } else if (r->rex & 8) {
        bool indexed = out->index != CODE_NO_REGISTER;
        if (!indexed)
            set_effect(r, CODE_LOAD, r->reg);
        else if (out->scale == 8)
            set_effect(r, CODE_LOAD_INDEXED, r->reg);
    }
    write_register(r, r->reg);
}

static void classify_lea(struct code_reader *r)
{
    struct code_insn *out = r->out;
    if (r->reg == CODE_SP && r->rex & 8 && out->index == CODE_NO_REGISTER && out->base == CODE_BP) {
        out->stack = CODE_SP_FROM_BP;
        out->amount = out->displacement;
    } else if (r->reg == CODE_SP && r->rex & 8 && out->index == CODE_NO_REGISTER && out->base == CODE_SP) {
        move_sp(r, -(int64_t)out->displacement);
    } else if (out->rip_relative && r->rex & 8) {
        set_effect(r, CODE_ADDRESS, r->reg);
    }
    write_register(r, r->reg);
}

/* The arithmetic of 00 to 3f: four forms with ModRM, two with AX. */
static void classify_arithmetic(struct code_reader *r)
{
    unsigned form = r->opcode & 7;
    if ((r->opcode & 0x38) == 0x38) /* cmp */
        return;
    if (form >= 4) {
        write_register(r, CODE_AX);
    } else if (form >= 2) {
        if (r->opcode == 0x03 && r->mod == 3 && r->rex & 8)
            set_effect(r, CODE_ADD, r->reg);
        write_register(r, r->reg);
    } else {
        if (r->opcode == 0x01 && r->mod == 3 && r->rex & 8) {
            set_effect(r, CODE_ADD, r->rm);
            r->out->base = r->reg;
        }
        write_rm(r);
    }
}

/* A constant that is an address: in programs that are not relocated. */
static void classify_constant(struct code_reader *r, unsigned reg)
{
    if (!r->operand16) {
        bool wide = r->opcode == 0xc7 || r->opcode == 0x68 || r->rex & 8;
        set_effect(r, CODE_CONSTANT, reg);
        r->out->target = wide ? (uint64_t)r->immediate : (uint32_t)r->immediate;
    }
    if (reg != CODE_NO_REGISTER)
        write_register(r, reg);
}

void code_effects_one_byte(struct code_reader *r)
{
    struct code_insn *out = r->out;
    unsigned opcode = r->opcode, low = (opcode & 7) | (r->rex & 1 ? 8 : 0);
    if (opcode < 0x40) {
        classify_arithmetic(r);
        return;
    }
    switch (opcode) {
    case 0x50 ... 0x57:
        move_sp(r, 8);
        break;
    case 0x58 ... 0x5f:
        if (low != CODE_SP)
            move_sp(r, -8);
        write_register(r, low);
        break;
    case 0x63: /* movslq */
        if (r->rex & 8 && out->scale == 4 && out->index != CODE_NO_REGISTER)
            set_effect(r, CODE_LOAD_INDEXED, r->reg);
        write_register(r, r->reg);
        break;
    case 0x68:
        classify_constant(r, CODE_NO_REGISTER);
        move_sp(r, 8);
        break;
    case 0x6a:
    case 0x9c:
        move_sp(r, 8);
        break;
    case 0x69:
    case 0x6b:
        write_register(r, r->reg);
        break;
    case 0x70 ... 0x7f:
    case 0xe0 ... 0xe3:
        branch(r, CODE_BRANCH);
        if (opcode >= 0xe0 && opcode <= 0xe2)
            write_register(r, CODE_CX);
        break;
    case 0x81:
    case 0x83:
        classify_group1(r);
        break;
    case 0x80:
    case 0xc0:
    case 0xc1:
    case 0xd0 ... 0xd3:
    case 0x88:
    case 0xc6:
        write_rm(r);
        break;
    case 0x86:
    case 0x87:
        write_rm(r);
        write_register(r, r->reg);
        break;
    case 0x89: /* from a register */
        if (r->mod == 3 && r->rm == CODE_SP && r->reg == CODE_BP && r->rex & 8) {
            out->stack = CODE_SP_FROM_BP;
            out->amount = 0;
        }
        write_rm(r);
        break;
    case 0x8a:
        write_register(r, r->reg);
        break;
    case 0x8b:
        classify_mov(r);
        break;
    case 0x8d:
        classify_lea(r);
        break;
    case 0x8f:
        move_sp(r, -8);
        write_rm(r);
        break;
    case 0x90:
        out->kind = r->rex & 1 ? CODE_PLAIN : CODE_NOP;
        if (r->rex & 1)
            out->written |= 1u << CODE_AX | 1u << 8;
        break;
    case 0x91 ... 0x97:
        write_register(r, CODE_AX);
        write_register(r, low);
        break;
    case 0x9d:
        move_sp(r, -8);
        break;
    case 0x98 ... 0x99:
    case 0xa0 ... 0xa1:
        out->written |= 1u << CODE_AX | 1u << CODE_DX;
        break;
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xaf:
    case 0x6c ... 0x6f:
        out->written |= 1u << CODE_AX | 1u << CODE_CX | 1u << CODE_SI | 1u << CODE_DI;
        break;
    case 0xb8 ... 0xbf:
        classify_constant(r, low);
        break;
    case 0xb0 ... 0xb7:
    case 0xd7:
        out->written |= (uint16_t)(1u << CODE_AX | 1u << low);
        break;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcf:
        out->kind = CODE_RETURN;
        break;
    case 0xc7:
        if ((r->reg & 7) == 7) { /* xbegin */
            branch(r, CODE_BRANCH);
            out->written |= 1u << CODE_AX;
        } else if (r->mod == 3) {
            classify_constant(r, r->rm);
        } else {
            classify_constant(r, CODE_NO_REGISTER);
        }
        break;
    case 0xc8:
        out->stack = CODE_SP_OTHER;
        break;
    case 0xc9: /* leave */
        out->stack = CODE_SP_FROM_BP;
        out->amount = 8;
        write_register(r, CODE_BP);
        break;
    case 0xcc:
    case 0xf4:
        out->kind = CODE_STOP;
        break;
    case 0xe8:
        branch(r, CODE_CALL);
        break;
    case 0xe9:
    case 0xeb:
        branch(r, CODE_JUMP);
        break;
    case 0xf6:
    case 0xf7:
        if ((r->reg & 7) >= 4)
            out->written |= 1u << CODE_AX | 1u << CODE_DX;
        else if ((r->reg & 7) >= 2)
            write_rm(r);
        break;
    case 0xfe:
        write_rm(r);
        break;
    case 0xff:
        classify_group5(r);
        break;
    default:
        break;
    }
}

void code_effects_two_bytes(struct code_reader *r)
{
    struct code_insn *out = r->out;
    switch (r->opcode) {
    case 0x0b:
    case 0xb9:
    case 0xff: /* ud2, ud1, ud0 */
        out->kind = CODE_STOP;
        break;
    case 0x18 ... 0x1f:
        out->kind = CODE_NOP;
        break;
    case 0x05:
    case 0x31:
    case 0x01:
    case 0xa2:
    case 0xc7:
        out->written |= 1u << CODE_AX | 1u << CODE_CX | 1u << CODE_DX | 1u << 3 | 1u << 11;
        break;
    case 0x40 ... 0x4f: /* cmov */
    case 0x02:
    case 0x03:
    case 0x50:
    case 0x2c:
    case 0x2d:
    case 0xaf:
    case 0xb6 ... 0xb8:
    case 0xbc ... 0xbf:
    case 0xc5:
    case 0xd7:
        write_register(r, r->reg);
        break;
    case 0x80 ... 0x8f:
        branch(r, CODE_BRANCH);
        break;
    case 0x90 ... 0x9f:
    case 0xa4:
    case 0xa5:
    case 0xac:
    case 0xad:
    case 0xb3:
    case 0xba:
    case 0xbb:
    case 0xab:
        write_rm(r);
        break;
    case 0xa0:
    case 0xa8:
        move_sp(r, 8);
        break;
    case 0xa1:
    case 0xa9:
        move_sp(r, -8);
        break;
    case 0x7e:
        if (!r->repeat)
            write_rm(r);
        break;
    case 0xae: /* rdfsbase and its kin */
        if (r->repeat)
            write_rm(r);
        break;
    case 0xb0:
    case 0xb1:
    case 0xc0:
    case 0xc1:
        out->written |= 1u << CODE_AX;
        write_rm(r);
        write_register(r, r->reg);
        break;
    case 0xc8 ... 0xcf:
        write_register(r, (r->opcode & 7) | (r->rex & 1 ? 8 : 0));
        break;
    default:
        break;
    }
}

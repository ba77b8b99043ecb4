/* effects.c - where control goes after an instruction, and which registers it changes; see code.h. */
#include "image/code/reader.h"

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

/* Whether the operands are bytes: then, without REX, the numbers 4 to 7 are AH, CH, DH and BH. */
static bool is_of_bytes(const struct code_reader *r)
{
    if (r->map == 1)
        return (r->opcode & 0xf0) == 0x90 || r->opcode == 0xb0 || r->opcode == 0xc0;
    switch (r->opcode) {
    case 0x80:
    case 0x86:
    case 0x88:
    case 0x8a:
    case 0xc0:
    case 0xc6:
    case 0xd0:
    case 0xd2:
    case 0xf6:
    case 0xfe:
        return true;
    default:
        return r->opcode < 0x40 && !(r->opcode & 1);
    }
}

static void write_operand(struct code_reader *r, unsigned number)
{
    bool high = number >= 4 && number < 8 && !r->rex && is_of_bytes(r);
    write_register(r, high ? number - 4 : number);
}

/* For instructions that write to the operand in rm. */
static void write_rm(struct code_reader *r)
{
    if (r->mod == 3)
        write_operand(r, r->rm);
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
    } else if (!r->operand16 && out->scale == 1 && out->index != CODE_NO_REGISTER &&
               out->base != CODE_NO_REGISTER) {
        set_effect(r, CODE_LOAD_SUM, r->reg);
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
    } else if (r->rex & 8 && out->base != CODE_NO_REGISTER && out->index != CODE_NO_REGISTER &&
               out->scale == 1 && out->displacement == 0) {
        set_effect(r, CODE_SUM, r->reg);
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
        write_operand(r, r->reg);
    } else {
        if (r->opcode == 0x01 && r->mod == 3 && r->rex & 8) {
            set_effect(r, CODE_ADD, r->rm);
            r->out->base = r->reg;
        }
        write_rm(r);
    }
}

/* A constant that is an address: only in programs that are not relocated. */
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

/* The register in the opcode's low bits. */
static unsigned low_register(const struct code_reader *r)
{
    return (r->opcode & 7) | (r->rex & 1 ? 8 : 0);
}

#define BIT(number) (1u << (number))

static void write_reg(struct code_reader *r)
{
    write_operand(r, r->reg);
}

static void write_both(struct code_reader *r)
{
    write_rm(r);
    write_operand(r, r->reg);
}

static void write_low(struct code_reader *r)
{
    write_register(r, low_register(r));
}

static void write_ax_dx(struct code_reader *r)
{
    r->out->written |= BIT(CODE_AX) | BIT(CODE_DX);
}

static void extend_ax(struct code_reader *r) /* 98 */
{
    if (r->rex & 8)
        set_effect(r, CODE_EXTEND, CODE_AX);
    write_register(r, CODE_AX);
}

static void write_ax_low(struct code_reader *r) /* b0 to b7: bytes, four of them high bytes */
{
    r->out->written |= (uint16_t)(BIT(CODE_AX) | BIT(low_register(r)));
}

static void write_string(struct code_reader *r)
{
    r->out->written |= BIT(CODE_AX) | BIT(CODE_CX) | BIT(CODE_SI) | BIT(CODE_DI);
}

static void push(struct code_reader *r)
{
    move_sp(r, 8);
}

static void pop(struct code_reader *r)
{
    move_sp(r, -8);
}

static void pop_register(struct code_reader *r)
{
    if (low_register(r) != CODE_SP)
        pop(r);
    write_low(r);
}

static void pop_rm(struct code_reader *r)
{
    pop(r);
    write_rm(r);
}

static void push_constant(struct code_reader *r)
{
    classify_constant(r, CODE_NO_REGISTER);
    push(r);
}

static void load_constant(struct code_reader *r)
{
    classify_constant(r, low_register(r));
}

static void store_constant(struct code_reader *r) /* c7 */
{
    if ((r->reg & 7) == 7) { /* xbegin */
        branch(r, CODE_BRANCH);
        r->out->written |= BIT(CODE_AX);
    } else {
        classify_constant(r, r->mod == 3 ? r->rm : CODE_NO_REGISTER);
    }
}

static void load_signed(struct code_reader *r) /* movslq */
{
    if (r->rex & 8 && r->out->scale == 4 && r->out->index != CODE_NO_REGISTER)
        set_effect(r, CODE_LOAD_INDEXED, r->reg);
    write_reg(r);
}

static void store(struct code_reader *r) /* 89: from a register */
{
    if (r->mod == 3 && r->rm == CODE_SP && r->reg == CODE_BP && r->rex & 8) {
        r->out->stack = CODE_SP_FROM_BP;
        r->out->amount = 0;
    }
    write_rm(r);
}

static void exchange_ax(struct code_reader *r)
{
    write_register(r, CODE_AX);
    write_low(r);
}

static void nop(struct code_reader *r) /* 90: an exchange with REX.B */
{
    r->out->kind = r->rex & 1 ? CODE_PLAIN : CODE_NOP;
    if (r->rex & 1)
        r->out->written |= BIT(CODE_AX) | BIT(8);
}

static void branch_if(struct code_reader *r)
{
    branch(r, CODE_BRANCH);
}

static void branch_loop(struct code_reader *r)
{
    branch(r, CODE_BRANCH);
    write_register(r, CODE_CX);
}

static void call(struct code_reader *r)
{
    branch(r, CODE_CALL);
}

static void jump(struct code_reader *r)
{
    branch(r, CODE_JUMP);
}

static void go_back(struct code_reader *r)
{
    r->out->kind = CODE_RETURN;
}

static void stop_effect(struct code_reader *r)
{
    r->out->kind = CODE_STOP;
}

static void enter_effect(struct code_reader *r)
{
    r->out->stack = CODE_SP_OTHER;
}

static void leave_effect(struct code_reader *r)
{
    r->out->stack = CODE_SP_FROM_BP;
    r->out->amount = 8;
    write_register(r, CODE_BP);
}

static void classify_group3(struct code_reader *r) /* f6, f7 */
{
    unsigned operation = r->reg & 7;
    if (operation >= 4) /* mul, div */
        write_ax_dx(r);
    else if (operation >= 2) /* not, neg */
        write_rm(r);
}

typedef void effect(struct code_reader *r);

/* Opcodes not listed change no register and do not branch. */
static effect *const one_byte[256] = {
    [0x00 ... 0x3f] = classify_arithmetic,
    [0x50 ... 0x57] = push,
    [0x58 ... 0x5f] = pop_register,
    [0x63] = load_signed,
    [0x68] = push_constant,
    [0x69] = write_reg, /* imul */
    [0x6a] = push,
    [0x6b] = write_reg,
    [0x6c ... 0x6f] = write_string, /* in and out */
    [0x70 ... 0x7f] = branch_if,
    [0x80] = write_rm,
    [0x81] = classify_group1,
    [0x83] = classify_group1,
    [0x86 ... 0x87] = write_both, /* xchg */
    [0x88] = write_rm,
    [0x89] = store,
    [0x8a] = write_reg,
    [0x8b] = classify_mov,
    [0x8d] = classify_lea,
    [0x8f] = pop_rm,
    [0x90] = nop,
    [0x91 ... 0x97] = exchange_ax,
    [0x98] = extend_ax,
    [0x99] = write_ax_dx,
    [0x9c] = push,
    [0x9d] = pop,
    [0xa0 ... 0xa1] = write_ax_dx,
    [0xa4 ... 0xa7] = write_string,
    [0xaa ... 0xaf] = write_string,
    [0xb0 ... 0xb7] = write_ax_low,
    [0xb8 ... 0xbf] = load_constant,
    [0xc0 ... 0xc1] = write_rm, /* shifts */
    [0xc2 ... 0xc3] = go_back,
    [0xc6] = write_rm,
    [0xc7] = store_constant,
    [0xc8] = enter_effect,
    [0xc9] = leave_effect,
    [0xca ... 0xcb] = go_back,
    [0xcc] = stop_effect,
    [0xcf] = go_back,
    [0xd0 ... 0xd3] = write_rm, /* shifts */
    [0xd7] = write_ax_low,      /* xlat */
    [0xe0 ... 0xe2] = branch_loop,
    [0xe3] = branch_if,
    [0xe8] = call,
    [0xe9] = jump,
    [0xeb] = jump,
    [0xf4] = stop_effect,
    [0xf6 ... 0xf7] = classify_group3,
    [0xfe] = write_rm,
    [0xff] = classify_group5,
};

static void pass_over(struct code_reader *r)
{
    r->out->kind = CODE_NOP;
}

static void write_many(struct code_reader *r) /* syscall, cpuid and the like */
{
    r->out->written |= BIT(CODE_AX) | BIT(CODE_CX) | BIT(CODE_DX) | BIT(3) | BIT(11);
}

static void exchange_compared(struct code_reader *r)
{
    r->out->written |= BIT(CODE_AX);
    write_both(r);
}

static void write_rm_repeat(struct code_reader *r) /* rdfsbase and the like */
{
    if (r->repeat)
        write_rm(r);
}

static void write_rm_no_repeat(struct code_reader *r) /* movd; with f3 it writes a vector register */
{
    if (!r->repeat)
        write_rm(r);
}

static effect *const two_bytes[256] = {
    [0x01] = write_many,
    [0x02 ... 0x03] = write_reg, /* lar, lsl */
    [0x05] = write_many,
    [0x0b] = stop_effect, /* ud2 */
    [0x18 ... 0x1f] = pass_over,
    [0x2c ... 0x2d] = write_reg,
    [0x31] = write_many,
    [0x40 ... 0x4f] = write_reg, /* cmov */
    [0x50] = write_reg,
    [0x7e] = write_rm_no_repeat,
    [0x80 ... 0x8f] = branch_if,
    [0x90 ... 0x9f] = write_rm, /* set */
    [0xa0] = push,
    [0xa1] = pop,
    [0xa2] = write_many,
    [0xa4 ... 0xa5] = write_rm, /* shld */
    [0xa8] = push,
    [0xa9] = pop,
    [0xab ... 0xad] = write_rm,
    [0xae] = write_rm_repeat,
    [0xaf] = write_reg, /* imul */
    [0xb0 ... 0xb1] = exchange_compared,
    [0xb3] = write_rm,
    [0xb6 ... 0xb8] = write_reg, /* movzx, popcnt */
    [0xb9] = stop_effect,        /* ud1 */
    [0xba ... 0xbb] = write_rm,
    [0xbc ... 0xbf] = write_reg, /* bsf, bsr, movsx */
    [0xc0 ... 0xc1] = exchange_compared,
    [0xc5] = write_reg,
    [0xc7] = write_many,
    [0xc8 ... 0xcf] = write_low, /* bswap */
    [0xd7] = write_reg,
    [0xff] = stop_effect, /* ud0 */
};

/* Of the opcodes after 0f 38 and 0f 3a, and of VEX and EVEX, those that write a general register. All others write vectors, masks
 * or memory (Intel SDM, volume 2). */
enum written_operand {
    WRITES_REG = 1,
    WRITES_RM = 2,
    WRITES_VVVV = 4,
    WRITES_CX = 8,
};

static unsigned written_operands(unsigned map, unsigned opcode, bool vector)
{
    if (map == 7) /* rdmsr and the like */
        return WRITES_REG | WRITES_RM;
    switch (map << 8 | opcode) {
    case 0x12c: /* conversions to integers */
    case 0x12d:
    case 0x178:
    case 0x179:
    case 0x52c:
    case 0x52d:
    case 0x578:
    case 0x579:
    case 0x150: /* movmsk, pextrw, pmovmskb, kmov */
    case 0x1c5:
    case 0x1d7:
    case 0x193:
    case 0x3f0: /* rorx */
        return WRITES_REG;
    case 0x17e: /* movd, movw, pextr, extractps */
    case 0x57e:
    case 0x314:
    case 0x315:
    case 0x316:
    case 0x317:
        return WRITES_RM;
    case 0x361: /* pcmpestri, pcmpistri */
    case 0x363:
        return WRITES_CX;
    case 0x2f3: /* blsr, blsmsk, blsi */
        return WRITES_VVVV;
    case 0x2f6: /* mulx; adcx, adox */
        return vector ? WRITES_REG | WRITES_VVVV : WRITES_REG;
    default: /* andn, bzhi, pdep, pext, bextr, shlx; movbe, crc32; cmpccxadd */
        return map == 2 && (opcode >= 0xf0 || (opcode & 0xf0) == 0xe0) ? WRITES_REG : 0;
    }
}

void code_effects_extended(struct code_reader *r, unsigned map, unsigned vvvv)
{
    const unsigned written = written_operands(map, r->opcode, r->vector);
    unsigned bits = written & WRITES_CX ? BIT(CODE_CX) : 0;
    bits |= written & WRITES_REG ? BIT(r->reg & 15) : 0;
    bits |= written & WRITES_RM && r->mod == 3 ? BIT(r->rm & 15) : 0;
    bits |= written & WRITES_VVVV ? BIT(vvvv) : 0;
    r->out->written |= (uint16_t)(bits & ~BIT(CODE_SP)); /* no compiler writes SP in this way */
}

void code_effects_one_byte(struct code_reader *r)
{
    if (one_byte[r->opcode])
        one_byte[r->opcode](r);
}

void code_effects_two_bytes(struct code_reader *r)
{
    if (two_bytes[r->opcode])
        two_bytes[r->opcode](r);
}

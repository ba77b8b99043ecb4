/* operands.c - see operands.h. */
#include "image/code/operands.h"

#define REGISTER_SP   4
#define CALL_CLOBBERS 0x0fc7 /* AX CX DX SI DI R8 to R11 (psABI, section 3.2.1) */

static const struct operand unknown = {OPERAND_UNKNOWN, 0};

void operands_forget(struct operands *operands)
{
    *operands = (struct operands){0};
}

/* Where an indexed table starts; 0: unknown. */
static uint64_t table_of(const struct operands *operands, const struct code_insn *insn)
{
    if (insn->base == CODE_NO_REGISTER)
        return (uint64_t)(int64_t)insn->displacement;
    const struct operand *base = &operands->registers[insn->base];
    return base->kind == OPERAND_ADDRESS ? base->value + (uint64_t)(int64_t)insn->displacement : 0;
}

static struct operand add_operands(struct operand a, struct operand b)
{
    if (b.kind == OPERAND_DISTANCE) {
        struct operand other = a;
        a = b;
        b = other;
    }
    if (a.kind != OPERAND_DISTANCE) {
        struct operand from = a.kind == OPERAND_ADDRESS || a.kind == OPERAND_BEYOND ? a : b;
        bool known = from.kind == OPERAND_ADDRESS || from.kind == OPERAND_BEYOND;
        return known ? (struct operand){OPERAND_BEYOND, from.value} : unknown;
    }
    uint64_t table = b.kind == OPERAND_ADDRESS ? b.value : a.value;
    return (struct operand){OPERAND_DISTANCED, table};
}

/* The operand of a 4-byte entry whose offset in the table was computed before. */
static struct operand entry_at_sum(const struct operands *operands, const struct code_insn *insn)
{
    const struct operand *base = &operands->registers[insn->base], *index = &operands->registers[insn->index];
    const struct operand *table = base->kind == OPERAND_ADDRESS ? base : index;
    return table->kind == OPERAND_ADDRESS
               ? (struct operand){OPERAND_DISTANCE, table->value + (uint64_t)(int64_t)insn->displacement}
               : unknown;
}

static struct operand result_operand(const struct operands *operands, const struct code_insn *insn)
{
    switch (insn->effect) {
    case CODE_ADDRESS:
        return (struct operand){OPERAND_ADDRESS, insn->memory};
    case CODE_CONSTANT:
        return (struct operand){OPERAND_ADDRESS, insn->target};
    case CODE_LOAD:
        return operands_target(operands, insn);
    case CODE_LOAD_INDEXED:
        return (struct operand){insn->scale == 4 ? OPERAND_DISTANCE : OPERAND_ENTRY,
                                table_of(operands, insn)};
    case CODE_LOAD_SUM:
        return entry_at_sum(operands, insn);
    case CODE_EXTEND:
        return operands->registers[insn->reg].kind == OPERAND_DISTANCE ? operands->registers[insn->reg]
                                                                       : unknown;
    case CODE_ADD:
        return add_operands(operands->registers[insn->reg], operands->registers[insn->base]);
    case CODE_SUM:
        return add_operands(operands->registers[insn->base], operands->registers[insn->index]);
    default:
        return unknown;
    }
}

void operands_step(struct operands *operands, const struct code_insn *insn)
{
    struct operand value = result_operand(operands, insn);
    unsigned written = insn->written;
    if (insn->kind == CODE_CALL || insn->kind == CODE_CALL_INDIRECT)
        written |= CALL_CLOBBERS;
    for (unsigned i = 0; written; i++, written >>= 1)
        if (written & 1)
            operands->registers[i] = unknown;
    if (insn->effect != CODE_NO_EFFECT && insn->reg != CODE_NO_REGISTER)
        operands->registers[insn->reg] = value;
}

struct operand operands_target(const struct operands *operands, const struct code_insn *insn)
{
    if (!insn->memory_operand)
        return insn->base == CODE_NO_REGISTER ? unknown : operands->registers[insn->base];
    if (insn->rip_relative)
        return (struct operand){OPERAND_SLOT, insn->memory};
    if (insn->index != CODE_NO_REGISTER)
        return insn->scale == 8 ? (struct operand){OPERAND_ENTRY, table_of(operands, insn)} : unknown;
    if (insn->base == REGISTER_SP)
        return unknown;
    uint64_t address = table_of(operands, insn);
    if (address)
        return (struct operand){OPERAND_SLOT, address};
    return (struct operand){OPERAND_FIELD, (uint64_t)(int64_t)insn->displacement};
}

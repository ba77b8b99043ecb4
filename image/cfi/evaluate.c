/* evaluate.c - see registers.h. */
#include "image/cfi/registers.h"

#include <libdwarf/dwarf.h>

#include "base/bytes.h"

#define STACK_MOST      32u
#define OPERATIONS_MOST 256u /* bounds loops in expressions */

struct evaluation {
    const struct cfi_machine_state *state;
    const uint8_t *start;
    struct bytes code;
    uint64_t stack[STACK_MOST];
    unsigned depth;
    bool failed;
};

static void push_value(struct evaluation *e, uint64_t value)
{
    if (e->depth == STACK_MOST)
        e->failed = true;
    else
        e->stack[e->depth++] = value;
}

/* The n-th value from the top. If there is none, returns 0 and sets the failure. */
static uint64_t top(struct evaluation *e, unsigned n)
{
    e->failed |= n >= e->depth;
    return e->failed ? 0 : e->stack[e->depth - 1 - n];
}

static uint64_t pop(struct evaluation *e)
{
    const uint64_t value = top(e, 0);
    e->depth -= !e->failed;
    return value;
}

static bool push_constant(struct evaluation *e, uint8_t op)
{
    struct bytes *b = &e->code;
    if (op >= DW_OP_lit0 && op < DW_OP_lit0 + 32)
        return push_value(e, op - DW_OP_lit0), true;
    switch (op) {
    case DW_OP_addr:
    case DW_OP_const8u:
    case DW_OP_const8s:
        return push_value(e, bytes_u64(b)), true;
    case DW_OP_const1u:
        return push_value(e, bytes_u8(b)), true;
    case DW_OP_const1s:
        return push_value(e, (uint64_t)(int64_t)(int8_t)bytes_u8(b)), true;
    case DW_OP_const2u:
        return push_value(e, bytes_u16(b)), true;
    case DW_OP_const2s:
        return push_value(e, (uint64_t)(int64_t)(int16_t)bytes_u16(b)), true;
    case DW_OP_const4u:
        return push_value(e, bytes_u32(b)), true;
    case DW_OP_const4s:
        return push_value(e, (uint64_t)(int64_t)(int32_t)bytes_u32(b)), true;
    case DW_OP_constu:
        return push_value(e, bytes_uleb(b)), true;
    case DW_OP_consts:
        return push_value(e, (uint64_t)bytes_sleb(b)), true;
    default:
        return false;
    }
}

static void push_register(struct evaluation *e, uint64_t number)
{
    uint64_t value = 0;
    const int64_t offset = bytes_sleb(&e->code);
    if (number >= CFI_REGISTERS || !e->state->get(e->state->context, (unsigned)number, &value))
        e->failed = true;
    push_value(e, value + (uint64_t)offset);
}

static void dereference_top(struct evaluation *e, unsigned size)
{
    const uint64_t address = pop(e);
    uint64_t value = 0;
    if (e->failed || size == 0 || size > 8 || !e->state->read(e->state->context, address, &value))
        e->failed = true;
    push_value(e, size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value);
}

static bool arrange_stack(struct evaluation *e, uint8_t op)
{
    uint64_t a, b, c;
    switch (op) {
    case DW_OP_dup:
        return push_value(e, top(e, 0)), true;
    case DW_OP_drop:
        return pop(e), true;
    case DW_OP_over:
        return push_value(e, top(e, 1)), true;
    case DW_OP_pick:
        return push_value(e, top(e, bytes_u8(&e->code))), true;
    case DW_OP_swap:
        a = pop(e), b = pop(e);
        return push_value(e, a), push_value(e, b), true;
    case DW_OP_rot:
        a = pop(e), b = pop(e), c = pop(e);
        return push_value(e, a), push_value(e, c), push_value(e, b), true;
    default:
        return false;
    }
}

static bool calculate_one(struct evaluation *e, uint8_t op)
{
    uint64_t a;
    switch (op) {
    case DW_OP_abs:
        a = pop(e);
        return push_value(e, (int64_t)a < 0 ? 0 - a : a), true;
    case DW_OP_neg:
        return push_value(e, 0 - pop(e)), true;
    case DW_OP_not:
        return push_value(e, ~pop(e)), true;
    case DW_OP_plus_uconst:
        a = pop(e);
        return push_value(e, a + bytes_uleb(&e->code)), true;
    default:
        return false;
    }
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t by)
{
    const int64_t s = (int64_t)a;
    if (op == DW_OP_shra)
        return (uint64_t)(by < 64 ? s >> by : s >> 63);
    return by >= 64 ? 0 : op == DW_OP_shl ? a << by : a >> by;
}

static bool compare_values(uint8_t op, int64_t a, int64_t b)
{
    return op == DW_OP_eq   ? a == b
           : op == DW_OP_ge ? a >= b
           : op == DW_OP_gt ? a > b
           : op == DW_OP_le ? a <= b
           : op == DW_OP_lt ? a < b
                            : a != b;
}

/* Combines the two values on top; the upper one is the second operand. */
static void calculate_two(struct evaluation *e, uint8_t op)
{
    const uint64_t b = pop(e), a = pop(e);
    switch (op) {
    case DW_OP_and:
        push_value(e, a & b);
        break;
    case DW_OP_or:
        push_value(e, a | b);
        break;
    case DW_OP_xor:
        push_value(e, a ^ b);
        break;
    case DW_OP_plus:
        push_value(e, a + b);
        break;
    case DW_OP_minus:
        push_value(e, a - b);
        break;
    case DW_OP_mul:
        push_value(e, a * b);
        break;
    case DW_OP_div:
    case DW_OP_mod: /* mod is unsigned, div is not */
        e->failed |= b == 0 || (op == DW_OP_div && (int64_t)b == -1);
        if (!e->failed)
            push_value(e, op == DW_OP_mod ? a % b : (uint64_t)((int64_t)a / (int64_t)b));
        break;
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
        push_value(e, shift(op, a, b));
        break;
    case DW_OP_eq:
    case DW_OP_ge:
    case DW_OP_gt:
    case DW_OP_le:
    case DW_OP_lt:
    case DW_OP_ne:
        push_value(e, compare_values(op, (int64_t)a, (int64_t)b));
        break;
    default:
        e->failed = true;
    }
}

/* Jumps to another operation of the expression. */
static void take_jump(struct evaluation *e, bool taken)
{
    const int16_t distance = (int16_t)bytes_u16(&e->code);
    const uint8_t *end = e->code.at + bytes_left(&e->code);
    if (!taken || e->code.failed)
        return;
    if (distance < e->start - e->code.at || distance > end - e->code.at) {
        e->failed = true;
        return;
    }
    const uint8_t *to = e->code.at + distance;
    e->code = bytes_of(to, (size_t)(end - to));
}

static void run_operation(struct evaluation *e, uint8_t op)
{
    if (op >= DW_OP_breg0 && op < DW_OP_breg0 + 32)
        push_register(e, op - DW_OP_breg0);
    else if (op == DW_OP_bregx)
        push_register(e, bytes_uleb(&e->code));
    else if (op == DW_OP_deref)
        dereference_top(e, 8);
    else if (op == DW_OP_deref_size)
        dereference_top(e, bytes_u8(&e->code));
    else if (op == DW_OP_skip)
        take_jump(e, true);
    else if (op == DW_OP_bra)
        take_jump(e, pop(e) != 0);
    else if (op != DW_OP_nop && !push_constant(e, op) && !arrange_stack(e, op) && !calculate_one(e, op))
        calculate_two(e, op);
}

bool cfi_evaluate(const uint8_t *expression, size_t size, const uint64_t *initial,
                  const struct cfi_machine_state *state, uint64_t *value)
{
    struct evaluation e = {.state = state, .start = expression, .code = bytes_of(expression, size)};
    if (initial)
        push_value(&e, *initial);
    for (unsigned i = 0; bytes_left(&e.code) && !e.failed && !e.code.failed; i++) {
        run_operation(&e, bytes_u8(&e.code));
        e.failed |= i == OPERATIONS_MOST;
    }
    *value = pop(&e);
    return !e.failed && !e.code.failed;
}

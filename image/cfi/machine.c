/* machine.c - the instructions of DWARF 5, section 7.24, and the GNU ones; see machine.h. */
#include "image/cfi/machine.h"

#include <libdwarf/dwarf.h>
#include <string.h>

/* The few expressions that compilers and linkers use (of rbp, breg6, and rsp, breg7) are recognised by pattern, never evaluated.
 * GNU ld's lazy PLT: the stub's second half has pushed the relocation index.
 *   breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus */
static bool is_plt(struct bytes b, struct cfi_rules *rules)
{
    static const uint8_t middle[] = {DW_OP_breg16, 0, DW_OP_lit0 + 15, DW_OP_and};
    static const uint8_t end[] = {DW_OP_ge, DW_OP_lit0 + 3, DW_OP_shl, DW_OP_plus};
    if (bytes_u8(&b) != DW_OP_breg7)
        return false;
    int64_t offset = bytes_sleb(&b);
    const uint8_t *m = bytes_take(&b, sizeof middle);
    uint8_t literal = bytes_u8(&b);
    const uint8_t *e = bytes_take(&b, sizeof end);
    if (b.failed || bytes_left(&b) || memcmp(m, middle, sizeof middle) != 0 ||
        memcmp(e, end, sizeof end) != 0 || literal < DW_OP_lit0 || literal > DW_OP_lit31)
        return false;
    rules->cfa = CFI_PLT;
    rules->cfa_offset = offset;
    rules->plt_limit = (uint8_t)(literal - DW_OP_lit0);
    return true;
}

/* Reads the end of the expression: the constant that is added to the loaded word, at most CFI_ADD_MAX. */
static bool take_add(struct bytes *b, uint8_t *add)
{
    const uint64_t value = bytes_left(b) && bytes_u8(b) == DW_OP_plus_uconst ? bytes_uleb(b) : UINT64_MAX;
    *add = (uint8_t)value;
    return !b->failed && !bytes_left(b) && value <= CFI_ADD_MAX && value % 8 == 0;
}

/* An expression for the CFA: sets the cfa fields of the rules (CFI_UNSUPPORTED if unknown). */
static void read_cfa_expression(const uint8_t *code, size_t size, struct cfi_rules *rules)
{
    struct bytes b = bytes_of(code, size);
    rules->cfa_expression = true;
    rules->cfa = CFI_UNSUPPORTED;
    rules->cfa_offset = 0;
    rules->cfa_add = 0;
    if (is_plt(b, rules))
        return;
    uint8_t op = bytes_u8(&b);
    int64_t offset = bytes_sleb(&b);
    if (b.failed || (op != DW_OP_breg6 && op != DW_OP_breg7))
        return;
    uint8_t add = 0;
    const bool memory = bytes_left(&b);
    if ((memory && bytes_u8(&b) != DW_OP_deref) || (bytes_left(&b) && !take_add(&b, &add)))
        return;
    rules->cfa_offset = offset;
    rules->cfa_add = add;
    if (op == DW_OP_breg6)
        rules->cfa = memory ? CFI_BP_MEMORY : CFI_BP;
    else if (!memory)
        rules->cfa = CFI_SP;
    else if (offset == 160 &&
             !add) /* uc_mcontext.gregs[REG_RSP] of the ucontext at SP: glibc's __restore_rt */
        rules->cfa = CFI_SIGNAL_FRAME;
    else if (add)
        rules->cfa = CFI_SP_MEMORY;
}

/* An expression for where the caller's rbp was saved: sets the bp fields. */
static void read_bp_expression(const uint8_t *code, size_t size, struct cfi_rules *rules)
{
    struct bytes b = bytes_of(code, size);
    uint8_t op = bytes_u8(&b);
    int64_t offset = bytes_sleb(&b);
    bool known = !b.failed && bytes_left(&b) == 0 && (op == DW_OP_breg6 || op == DW_OP_breg7);
    rules->bp = !known ? CFI_BP_UNKNOWN : op == DW_OP_breg6 ? CFI_BP_AT_BP : CFI_BP_AT_SP;
    rules->bp_offset = known ? offset : 0;
}

/* Products of hostile factors may wrap; a wrapped offset is as meaningless as the factors. */
static int64_t factored(const struct cfi_machine *m, uint64_t n)
{
    return (int64_t)(n * (uint64_t)m->data_alignment);
}

static void set_cfa_register(struct cfi_machine *m, uint64_t number)
{
    struct cfi_rules *r = &m->now;
    r->cfa_expression = false;
    r->cfa_add = 0;
    r->cfa = number == REGISTER_SP ? CFI_SP : number == REGISTER_BP ? CFI_BP : CFI_UNSUPPORTED;
    if (!m->all)
        return;
    m->all->now.cfa.where = number < CFI_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED;
    m->all->now.cfa.number = (uint8_t)number;
}

static void set_cfa_offset(struct cfi_machine *m, int64_t offset)
{
    m->now.cfa_offset = offset;
    if (m->all)
        m->all->now.cfa.offset = offset;
}

/* Sets the full rule of a register. */
static void set_rule(struct cfi_machine *m, uint64_t number, struct cfi_register rule)
{
    if (m->all && number < CFI_REGISTERS)
        m->all->now.of[number] = rule;
}

/* Records that the register is saved at CFA + offset. */
static void save_at(struct cfi_machine *m, uint64_t number, int64_t offset)
{
    struct cfi_rules *r = &m->now;
    set_rule(m, number, (struct cfi_register){.where = CFI_AT_CFA, .offset = offset});
    if (number == REGISTER_BP) {
        r->bp = CFI_BP_AT_CFA;
        r->bp_offset = offset;
    } else if (number == REGISTER_RETURN) {
        r->return_rule = offset == -8 ? CFI_RETURN_AT_CFA : CFI_RETURN_OTHER;
    }
}

/* Sets an unsupported rule, "undefined" or "same value". */
static void set_other(struct cfi_rules *r, uint64_t number, enum cfi_bp bp, enum cfi_return return_rule)
{
    if (number == REGISTER_BP) {
        r->bp = (uint8_t)bp;
        r->bp_offset = 0;
    } else if (number == REGISTER_RETURN) {
        r->return_rule = (uint8_t)return_rule;
    }
}

static void restore_register(struct cfi_machine *m, uint64_t number)
{
    if (number == REGISTER_BP) {
        m->now.bp = m->initial.bp;
        m->now.bp_offset = m->initial.bp_offset;
    } else if (number == REGISTER_RETURN) {
        m->now.return_rule = m->initial.return_rule;
    }
    if (m->all && number < CFI_REGISTERS)
        m->all->now.of[number] = m->all->initial.of[number];
}

static void run_expression(struct cfi_machine *m, struct bytes *code, uint8_t op)
{
    uint64_t number = op == DW_CFA_def_cfa_expression ? 0 : bytes_uleb(code);
    uint64_t size = bytes_uleb(code);
    const uint8_t *expression = bytes_take(code, size);
    if (!expression)
        return;
    const struct cfi_register rule = {.where = op == DW_CFA_expression ? CFI_AT_VALUE : CFI_VALUE,
                                      .expression = expression,
                                      .size = size < UINT32_MAX ? (uint32_t)size : 0};
    if (op != DW_CFA_def_cfa_expression)
        set_rule(m, number, rule);
    else if (m->all)
        m->all->now.cfa = rule;
    if (op == DW_CFA_def_cfa_expression)
        read_cfa_expression(expression, size, &m->now);
    else if (op == DW_CFA_expression && number == REGISTER_BP)
        read_bp_expression(expression, size, &m->now);
    else
        set_other(&m->now, number, CFI_BP_UNKNOWN, CFI_RETURN_OTHER);
}

/* After an expression there is no offset to apply the register to. libgcrypt's assembler code does this one
 * instruction before its end: the CFA is unknown there. */
static void change_cfa_register(struct cfi_machine *m, uint64_t number)
{
    const bool expression = m->now.cfa_expression;
    set_cfa_register(m, expression ? CFI_REGISTERS : number);
    m->now.cfa_expression = expression;
}

/* DWARF 5, 6.4.2.2: CFA instructions. Returns whether this is one of them. */
static bool run_cfa(struct cfi_machine *m, struct bytes *code, uint8_t op)
{
    switch (op) {
    case DW_CFA_def_cfa:
        set_cfa_register(m, bytes_uleb(code));
        set_cfa_offset(m, (int64_t)bytes_uleb(code));
        return true;
    case DW_CFA_def_cfa_sf:
        set_cfa_register(m, bytes_uleb(code));
        set_cfa_offset(m, factored(m, (uint64_t)bytes_sleb(code)));
        return true;
    case DW_CFA_def_cfa_register:
        change_cfa_register(m, bytes_uleb(code));
        return true;
    case DW_CFA_def_cfa_offset:
        code->failed |= m->now.cfa_expression; /* only after a register rule */
        set_cfa_offset(m, (int64_t)bytes_uleb(code));
        return true;
    case DW_CFA_def_cfa_offset_sf:
        code->failed |= m->now.cfa_expression;
        set_cfa_offset(m, factored(m, (uint64_t)bytes_sleb(code)));
        return true;
    case DW_CFA_def_cfa_expression:
        run_expression(m, code, op);
        return true;
    default:
        return false;
    }
}

/* 6.4.2.3: register rules. Returns whether this is one of them. */
static bool run_register(struct cfi_machine *m, struct bytes *code, uint8_t op)
{
    uint64_t number, other;
    switch (op) {
    case DW_CFA_offset_extended:
        number = bytes_uleb(code);
        save_at(m, number, factored(m, bytes_uleb(code)));
        return true;
    case DW_CFA_offset_extended_sf:
        number = bytes_uleb(code);
        save_at(m, number, factored(m, (uint64_t)bytes_sleb(code)));
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        number = bytes_uleb(code);
        save_at(m, number, factored(m, -bytes_uleb(code)));
        return true;
    case DW_CFA_restore_extended:
        restore_register(m, bytes_uleb(code));
        return true;
    case DW_CFA_undefined:
        number = bytes_uleb(code);
        set_rule(m, number, (struct cfi_register){.where = CFI_UNDEFINED});
        set_other(&m->now, number, CFI_BP_UNKNOWN, CFI_RETURN_NONE);
        return true;
    case DW_CFA_same_value:
        number = bytes_uleb(code);
        set_rule(m, number, (struct cfi_register){.where = CFI_SAME});
        set_other(&m->now, number, CFI_BP_SAME, CFI_RETURN_OTHER);
        return true;
    case DW_CFA_register:
        number = bytes_uleb(code);
        other = bytes_uleb(code);
        set_rule(m, number,
                 other < CFI_REGISTERS
                     ? (struct cfi_register){.where = CFI_REGISTER, .number = (uint8_t)other}
                     : (struct cfi_register){.where = CFI_UNDEFINED});
        set_other(&m->now, number, CFI_BP_UNKNOWN, CFI_RETURN_OTHER);
        return true;
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
        number = bytes_uleb(code);
        other = op == DW_CFA_val_offset ? bytes_uleb(code) : (uint64_t)bytes_sleb(code);
        set_rule(m, number, (struct cfi_register){.where = CFI_CFA_PLUS, .offset = factored(m, other)});
        set_other(&m->now, number, CFI_BP_UNKNOWN, CFI_RETURN_OTHER);
        return true;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        run_expression(m, code, op);
        return true;
    default:
        return false;
    }
}

/* 6.4.2.4 and 6.4.2.5: instructions on the whole row, and padding. */
static void run_row(struct cfi_machine *m, struct bytes *code, uint8_t op)
{
    if (op == DW_CFA_remember_state && m->depth < CFI_REMEMBER_DEPTH) {
        if (m->all)
            m->all->remembered[m->depth] = m->all->now;
        m->remembered[m->depth++] = m->now;
    } else if (op == DW_CFA_restore_state && m->depth > 0) {
        m->now = m->remembered[--m->depth];
        if (m->all)
            m->all->now = m->all->remembered[m->depth];
    } else if (op == DW_CFA_GNU_args_size)
        bytes_uleb(code);
    else if (op != DW_CFA_nop)
        code->failed = true;
}

/* Whether the instruction advances the location; *moved: by how much. */
static bool run_move(struct cfi_machine *m, struct bytes *code, uint8_t op, uint64_t *moved)
{
    if ((op & 0xc0) == DW_CFA_advance_loc)
        *moved = op & 0x3f;
    else if (op == DW_CFA_advance_loc1)
        *moved = bytes_u8(code);
    else if (op == DW_CFA_advance_loc2)
        *moved = bytes_u16(code);
    else if (op == DW_CFA_advance_loc4)
        *moved = bytes_u32(code);
    else if (op == DW_CFA_set_loc) {
        uint64_t to = pointer_read(code, m->encoding, m->bases);
        code->failed |= to < m->location;
        *moved = code->failed ? 0 : to - m->location;
        return true;
    } else {
        return false;
    }
    if (__builtin_mul_overflow(*moved, m->code_alignment, moved) || m->location + *moved < m->location)
        code->failed = true;
    return true;
}

enum cfi_progress cfi_machine_run(struct cfi_machine *m, struct bytes *code)
{
    while (bytes_left(code)) {
        uint8_t op = bytes_u8(code);
        uint64_t moved;
        if ((op & 0xc0) == DW_CFA_offset) {
            save_at(m, op & 0x3f, factored(m, bytes_uleb(code)));
        } else if ((op & 0xc0) == DW_CFA_restore) {
            restore_register(m, op & 0x3f);
        } else if (run_move(m, code, op, &moved)) {
            if (moved && !code->failed) {
                m->location += moved;
                return CFI_MOVED;
            }
        } else if (!run_cfa(m, code, op) && !run_register(m, code, op)) {
            run_row(m, code, op);
        }
        if (code->failed)
            return CFI_BAD;
    }
    return code->failed ? CFI_BAD : CFI_END;
}

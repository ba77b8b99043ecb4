/* expression.c - see expression.h. */
#include "image/cfi/expression.h"

#include <string.h>

enum { /* DWARF 5, section 7.7.1 */
       OP_deref = 0x06,
       OP_plus_uconst = 0x23,
       OP_lit0 = 0x30,
       OP_lit31 = 0x4f,
       OP_breg6 = 0x76,  /* rbp */
       OP_breg7 = 0x77,  /* rsp */
       OP_breg16 = 0x80, /* rip */
};

/* GNU ld's lazy PLT: the stub's second half has pushed the relocation index.
 *   breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus */
static bool is_plt(struct bytes b, struct cfi_rules *rules)
{
    static const uint8_t middle[] = {OP_breg16, 0, OP_lit0 + 15, 0x1a /* and */};
    static const uint8_t end[] = {0x2a /* ge */, OP_lit0 + 3, 0x24 /* shl */, 0x22 /* plus */};
    if (bytes_u8(&b) != OP_breg7)
        return false;
    int64_t offset = bytes_sleb(&b);
    const uint8_t *m = bytes_take(&b, sizeof middle);
    uint8_t literal = bytes_u8(&b);
    const uint8_t *e = bytes_take(&b, sizeof end);
    if (b.failed || bytes_left(&b) || memcmp(m, middle, sizeof middle) != 0 ||
        memcmp(e, end, sizeof end) != 0 || literal < OP_lit0 || literal > OP_lit31)
        return false;
    rules->cfa = CFI_PLT;
    rules->cfa_offset = offset;
    rules->plt_limit = (uint8_t)(literal - OP_lit0);
    return true;
}

/* Reads the end of the expression: the constant that is added to the loaded word, at most CFI_ADD_MAX. */
static bool take_add(struct bytes *b, uint8_t *add)
{
    const uint64_t value = bytes_left(b) && bytes_u8(b) == OP_plus_uconst ? bytes_uleb(b) : UINT64_MAX;
    *add = (uint8_t)value;
    return !b->failed && !bytes_left(b) && value <= CFI_ADD_MAX && value % 8 == 0;
}

void cfi_expression_cfa(const uint8_t *code, size_t size, struct cfi_rules *rules)
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
    if (b.failed || (op != OP_breg6 && op != OP_breg7))
        return;
    uint8_t add = 0;
    const bool memory = bytes_left(&b);
    if ((memory && bytes_u8(&b) != OP_deref) || (bytes_left(&b) && !take_add(&b, &add)))
        return;
    rules->cfa_offset = offset;
    rules->cfa_add = add;
    if (op == OP_breg6)
        rules->cfa = memory ? CFI_BP_MEMORY : CFI_BP;
    else if (!memory)
        rules->cfa = CFI_SP;
    else if (offset == 160 &&
             !add) /* uc_mcontext.gregs[REG_RSP] of the ucontext at SP: glibc's __restore_rt */
        rules->cfa = CFI_SIGNAL_FRAME;
    else if (add)
        rules->cfa = CFI_SP_MEMORY;
}

void cfi_expression_bp(const uint8_t *code, size_t size, struct cfi_rules *rules)
{
    struct bytes b = bytes_of(code, size);
    uint8_t op = bytes_u8(&b);
    int64_t offset = bytes_sleb(&b);
    bool known = !b.failed && bytes_left(&b) == 0 && (op == OP_breg6 || op == OP_breg7);
    rules->bp = !known ? CFI_BP_UNKNOWN : op == OP_breg6 ? CFI_BP_AT_BP : CFI_BP_AT_SP;
    rules->bp_offset = known ? offset : 0;
}

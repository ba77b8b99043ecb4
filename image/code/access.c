/* access.c - uses capstone; see access.h. */
#include "image/code/access.h"

#include "image/code/decoder.h"

/* All names of the 16 general registers, by number: 64, 32, 16, 8 bits, and the second byte. */
static const uint16_t names[16][5] = {
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0},
};

/* The register's number. *whole: whether a write to this name replaces the whole register: 64 bits, or 32 bits,
 * which clear the rest. */
static uint8_t number_of(unsigned reg, bool *whole)
{
    static uint8_t numbers[X86_REG_ENDING]; /* by capstone's number: 1 + 5 * number + column in `names` */
    static bool filled;
    if (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE)) {
        for (unsigned n = 0; n < 16; n++)
            for (unsigned k = 0; k < 5; k++)
                if (names[n][k])
                    numbers[names[n][k]] = (uint8_t)(1 + 5 * n + k);
        __atomic_store_n(&filled, true, __ATOMIC_RELEASE);
    }
    uint8_t at = reg < X86_REG_ENDING ? numbers[reg] : 0;
    *whole = at && (at - 1) % 5 < 2;
    return at ? (uint8_t)((at - 1) / 5) : ACCESS_NO_REGISTER;
}

static uint32_t mask_of(unsigned reg)
{
    bool whole;
    uint8_t number = number_of(reg, &whole);
    return number == ACCESS_NO_REGISTER ? 0 : 1u << number;
}

static bool is_vector(unsigned reg)
{
    return reg >= X86_REG_XMM0 && reg <= X86_REG_ZMM31;
}

/* (SSE2's movsd and cmpsd have the same numbers) */
static bool is_string(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    for (unsigned i = 0; i < x86->op_count; i++)
        if (x86->operands[i].type == X86_OP_REG && is_vector(x86->operands[i].reg))
            return false;
    switch (insn->id) {
    case X86_INS_MOVSB:
    case X86_INS_MOVSW:
    case X86_INS_MOVSD:
    case X86_INS_MOVSQ:
    case X86_INS_STOSB:
    case X86_INS_STOSW:
    case X86_INS_STOSD:
    case X86_INS_STOSQ:
    case X86_INS_LODSB:
    case X86_INS_LODSW:
    case X86_INS_LODSD:
    case X86_INS_LODSQ:
    case X86_INS_SCASB:
    case X86_INS_SCASW:
    case X86_INS_SCASD:
    case X86_INS_SCASQ:
    case X86_INS_CMPSB:
    case X86_INS_CMPSW:
    case X86_INS_CMPSD:
    case X86_INS_CMPSQ:
        return true;
    default:
        return false;
    }
}

/* Whether the first operand is overwritten with a value that does not depend on it. */
static bool overwrites_first(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    switch (insn->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
    case X86_INS_LEA:
    case X86_INS_POP:
        return true;
    case X86_INS_XOR:
        return x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
               x86->operands[1].type == X86_OP_REG && x86->operands[0].reg == x86->operands[1].reg;
    default:
        return false;
    }
}

static bool sets_flags(unsigned id)
{
    switch (id) {
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_ADD:
    case X86_INS_SUB:
    case X86_INS_AND:
    case X86_INS_OR:
    case X86_INS_XOR:
    case X86_INS_NEG:
    case X86_INS_UCOMISS:
    case X86_INS_UCOMISD:
    case X86_INS_COMISS:
    case X86_INS_COMISD:
    case X86_INS_VUCOMISS:
    case X86_INS_VUCOMISD:
    case X86_INS_VCOMISS:
    case X86_INS_VCOMISD:
        return true;
    default:
        return false;
    }
}

static bool reads_flags(const cs_insn *insn)
{
    switch (insn->id) {
    case X86_INS_LAHF:
    case X86_INS_PUSHF:
    case X86_INS_PUSHFQ:
        return true;
    default:
        return insn->detail->x86.eflags & (X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_ZF |
                                           X86_EFLAGS_TEST_PF | X86_EFLAGS_TEST_AF | X86_EFLAGS_TEST_CF);
    }
}

/* System calls, calls and jumps: the instruction does not show what the other code reads. */
static bool reads_all(const cs_insn *insn)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        switch (insn->detail->groups[i]) {
        case X86_GRP_CALL:
        case X86_GRP_INT:
        case X86_GRP_IRET:
        case X86_GRP_PRIVILEGE:
        case X86_GRP_VM:
            return true;
        default:
            break;
        }
    return insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER;
}

/* Corrects capstone: for most instructions that store vectors, x87 numbers or flags it reports a read of their
 * memory, and for `test` a write. */
static void note_direction(struct access_ref *ref, const cs_insn *insn, const cs_x86_op *op)
{
    const cs_x86 *x86 = &insn->detail->x86;
    /* without information it is not assumed to write */
    ref->load = !op->access || op->access & CS_AC_READ;
    ref->store = op->access & CS_AC_WRITE;
    if (op != x86->operands) /* only the first operand can be a memory operand that is written */
        return;
    bool stores = insn->id >= X86_INS_SETAE && insn->id <= X86_INS_SETS, updates = false;
    for (unsigned i = 1; i < x86->op_count; i++)
        stores |= x86->operands[i].type == X86_OP_REG &&
                  (is_vector(x86->operands[i].reg) ||
                   (x86->operands[i].reg >= X86_REG_MM0 && x86->operands[i].reg <= X86_REG_MM7));
    switch (insn->id) {
    case X86_INS_TEST:
        ref->store = false;
        return;
    case X86_INS_MOVNTI:
    case X86_INS_MOVBE:
    case X86_INS_FST:
    case X86_INS_FSTP:
    case X86_INS_FIST:
    case X86_INS_FISTP:
    case X86_INS_FISTTP:
    case X86_INS_FNSTCW:
    case X86_INS_FNSTSW:
    case X86_INS_STMXCSR:
    case X86_INS_VSTMXCSR:
        stores = true;
        break;
    case X86_INS_ROL:
    case X86_INS_ROR:
    case X86_INS_RCL:
    case X86_INS_RCR:
    case X86_INS_CMPXCHG:
    case X86_INS_CMPXCHG8B:
    case X86_INS_CMPXCHG16B:
        updates = true;
        break;
    default:
        break;
    }
    if (stores || updates) {
        ref->load = updates;
        ref->store = true;
    }
}

static void note_ref(struct access *out, const cs_insn *insn, const cs_x86_op *op)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool whole = true, narrow = x86->addr_size != 8;
    if (out->ref_count == ACCESS_REFS || insn->id == X86_INS_LEA || insn->id == X86_INS_NOP ||
        insn->id == X86_INS_ENDBR64)
        return;
    struct access_ref *ref = &out->refs[out->ref_count++];
    *ref = (struct access_ref){.base = number_of(op->mem.base, &whole),
                               .index = number_of(op->mem.index, &whole),
                               .scale = (uint8_t)op->mem.scale,
                               .size = op->size,
                               .displacement = (int32_t)op->mem.disp,
                               .locked = x86->prefix[0] == X86_PREFIX_LOCK,
                               .rip_relative = op->mem.base == X86_REG_RIP};
    ref->address = ref->rip_relative ? insn->address + insn->size + (uint64_t)op->mem.disp : 0;
    note_direction(ref, insn, op);
    if (is_vector(op->mem.index))
        ref->form = ACCESS_VECTOR;
    else if (op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS)
        ref->form = ACCESS_SEGMENT;
    else if (narrow)
        ref->form = ACCESS_NARROW;
    else if (is_string(insn))
        ref->form = ACCESS_STRING;
}

static void note_operands(struct access *out, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool kills = overwrites_first(insn), whole;
    for (unsigned i = 0; i < x86->op_count; i++) {
        const cs_x86_op *op = &x86->operands[i];
        if (op->type == X86_OP_MEM) {
            out->gs |= op->mem.segment == X86_REG_GS;
            out->reads |= mask_of(op->mem.base) | mask_of(op->mem.index);
            note_ref(out, insn, op);
        } else if (op->type == X86_OP_REG) {
            uint8_t number = number_of(op->reg, &whole);
            uint32_t bit = number == ACCESS_NO_REGISTER ? 0 : 1u << number;
            if (kills && i == 0 && whole)
                out->kills |= bit;
            else if (!kills || i > 0 || !whole)
                out->reads |= insn->id == X86_INS_XOR && kills ? 0 : bit;
            out->writes |= !op->access || op->access & CS_AC_WRITE ? bit : 0;
        }
    }
}

static void note_implicit(struct access *out, csh handle, const cs_insn *insn)
{
    cs_regs read, written;
    uint8_t reads, writes;
    if (cs_regs_access(handle, insn, read, &reads, written, &writes) != CS_ERR_OK) {
        out->reads = out->writes = ACCESS_ALL;
        return;
    }
    for (unsigned i = 0; i < insn->detail->regs_read_count; i++)
        out->reads |= mask_of(insn->detail->regs_read[i]);
    for (unsigned i = 0; i < insn->detail->regs_write_count; i++)
        out->reads |= mask_of(insn->detail->regs_write[i]),
            out->writes |= mask_of(insn->detail->regs_write[i]);
    for (unsigned i = 0; i < writes; i++)
        out->writes |= mask_of(written[i]);
}

bool access_read(struct insn_reader *reader, const uint8_t *code, size_t size, uint64_t address,
                 struct access *out)
{
    cs_insn *insn = reader->decoder.insn;
    *out = (struct access){0};
    if (!cs_disasm_iter(reader->decoder.handle, &code, &size, &address, insn))
        return false;
    note_operands(out, insn);
    note_implicit(out, reader->decoder.handle, insn);
    out->gs |= insn->id == X86_INS_WRGSBASE || insn->id == X86_INS_SWAPGS;
    if (reads_all(insn))
        out->reads = ACCESS_ALL;
    if (reads_flags(insn))
        out->reads |= ACCESS_FLAGS;
    if (sets_flags(insn->id))
        out->kills |= ACCESS_FLAGS;
    return true;
}

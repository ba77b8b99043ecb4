/*
 * after.c - the CFA of samples whose registers are those after the instruction that the sample names; see process.h.
 *
 * A CFI row is valid before its instruction. The CFA is the same before and after it unless control leaves the function. So for
 * an instruction that continues with the next one, the next one's row is valid for the registers, whether it pushes, pops,
 * adjusts the stack pointer or restores the base pointer. A call has pushed the return address, and a return has popped it;
 * jumps change neither register.
 */
#include "image/code/insn.h"
#include "process/process_data.h"

static bool read_instruction(struct processes *all, const struct place *place, struct insn *insn)
{
    size_t size;
    const uint8_t *code = image_bytes(place->image, place->address, &size);
    if (!all->insns)
        all->insns = insn_reader_new();
    return code && all->insns && insn_read(all->insns, code, size, place->address, insn);
}

static bool by_sp_or_bp(const struct cfi_row *row)
{
    return row->cfa == CFI_SP || row->cfa == CFI_BP;
}

/* The row at the place, changed to be valid for the registers after the instruction there. */
static struct cfi_row row_after(struct processes *all, const struct place *place)
{
    const struct cfi *cfi = image_cfi(place->image);
    struct cfi_row row = cfi_lookup(cfi, place->address);
    struct insn insn;
    if (!read_instruction(all, place, &insn))
        return row;
    if (insn.flow == INSN_PLAIN) {
        struct cfi_row next = cfi_lookup(cfi, place->address + insn.length);
        /* An instruction that makes another register the base leaves SP and BP unchanged. */
        return by_sp_or_bp(&next) || !by_sp_or_bp(&row) ? next : row;
    }
    if (row.cfa == CFI_SP && insn.flow == INSN_CALL)
        row.cfa_offset += 8;
    if (row.cfa == CFI_SP && insn.flow == INSN_RETURN)
        row.cfa_offset -= 8 + (int32_t)(insn.immediate & 0xffff);
    return row;
}

bool process_cfi_after(const struct process *process, uint64_t pc, struct place *place, struct cfi_row *row)
{
    struct processes *all = process->all;
    if (!all->after.entries && !code_cache_make(&all->after))
        return false;
    struct code_entry *entry = code_cache_at(&all->after, pc);
    if (!code_entry_holds(entry, pc, process->state)) {
        struct place found;
        if (!process_place(process, pc, &found))
            return false;
        *entry = (struct code_entry){
            .pc = pc, .state = process->state, .place = found, .row = row_after(all, &found)};
    }
    *place = entry->place;
    *row = entry->row;
    return true;
}

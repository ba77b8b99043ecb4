/* extent.c - see extent.h. */
#include "image/extent.h"

#include "image/code/code.h"

/* Whether an instruction leads to its target without leaving the function. */
static bool is_within(const struct code_insn *insn)
{
    return insn->kind == CODE_BRANCH ||
           (insn->kind == CODE_JUMP && insn->target - insn->address <= EXTENT_JUMP);
}

uint64_t extent_end(const struct elf_file *file, uint64_t start, uint64_t stop)
{
    size_t size;
    const uint8_t *code = elf_file_bytes(file, start, stop - start, &size);
    uint64_t at = start, reached = start; /* reached: the last branch target */
    struct code_insn insn;
    if (!code)
        return start;
    if (stop - start > size)
        stop = start + size;
    while (at < stop && code_read(code + (at - start), (size_t)(stop - at), at, &insn)) {
        if (is_within(&insn) && insn.target > reached && insn.target < stop)
            reached = insn.target;
        at += insn.length;
        if (!code_goes_on(&insn) && at > reached)
            break;
    }
    return at;
}

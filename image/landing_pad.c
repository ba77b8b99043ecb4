/* landing_pad.c - see landing_pad.h. */
#include "image/landing_pad.h"

#include "image/code/code.h"

/* Whether an instruction is a mov from all of RAX to another register. */
static bool copies_rax(const uint8_t *bytes, size_t length)
{
    return length == 3 && (bytes[0] & 0xfe) == 0x48 && bytes[1] == 0x89 && (bytes[2] & 0xf8) == 0xc0;
}

bool landing_pad_begins(const uint8_t *code, size_t size)
{
    struct code_insn insn;
    for (size_t at = 0; code_read(code + at, size - at, at, &insn); at += insn.length) {
        if (copies_rax(code + at, insn.length))
            return true;
        if (insn.written & 1u << CODE_AX || (insn.kind != CODE_PLAIN && insn.kind != CODE_NOP))
            break;
    }
    return false;
}

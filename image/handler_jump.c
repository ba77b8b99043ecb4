/* handler_jump.c - see handler_jump.h. */
#include "image/handler_jump.h"

#include <string.h>

#include "image/code/code.h"

/* Whether it is one of libgcc's functions that end in uw_install_context(). */
static bool installs_contexts(const char *name)
{
    static const char *const names[] = {"_Unwind_Resume", "_Unwind_RaiseException", "_Unwind_ForcedUnwind",
                                        "_Unwind_Resume_or_Rethrow"};
    if (!name || strncmp(name, "_Unwind_", 8) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* rdsspq with any register (Intel SDM volume 2, RDSSPD/RDSSPQ). */
static bool is_rdssp(const uint8_t *code, const struct code_insn *insn)
{
    return insn->length == 5 && memcmp(code, "\xf3\x48\x0f\x1e", 4) == 0 && code[4] >> 3 == (0xc8 >> 3);
}

bool image_jumps_to_handler(const struct image *image, uint32_t index, uint64_t address)
{
    const struct image_function *function = index == IMAGE_NO_FUNCTION ? NULL : image_function(image, index);
    if (!function || !installs_contexts(function->name))
        return false;
    size_t size;
    const uint8_t *code = image_bytes(image, function->address, &size);
    uint64_t offset = address - function->address;
    if (!code || offset >= function->size || size < function->size)
        return false;
    struct code_insn insn;
    for (unsigned calls = 0; code_read(code + offset, function->size - offset, address, &insn);
         offset += insn.length, address += insn.length) {
        if (is_rdssp(code + offset, &insn) || insn.kind == CODE_JUMP_INDIRECT)
            return true;
        if (insn.kind == CODE_CALL ? calls++ > 0 : insn.kind != CODE_PLAIN && insn.kind != CODE_NOP)
            return false;
    }
    return false;
}

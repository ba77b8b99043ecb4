/* stack_switch.c - see stack_switch.h. */
#include "image/stack_switch.h"

#include "image/code/code.h"

bool image_stack_switched(const struct image *image, uint64_t address)
{
    uint32_t index = image_function_at(image, address);
    if (index == IMAGE_NO_FUNCTION)
        return false;
    const struct image_function *function = image_function(image, index);
    size_t size;
    const uint8_t *code = image_bytes(image, function->address, &size);
    if (!code || size < function->size)
        return false;
    bool switched = false;
    struct code_insn insn;
    for (uint64_t at = function->address; at < address; at += insn.length) {
        uint64_t offset = at - function->address;
        if (!code_read(code + offset, function->size - offset, at, &insn))
            return false;
        if (insn.kind != CODE_PLAIN && insn.kind != CODE_NOP)
            switched = false;
        else if (insn.effect == CODE_LOAD && insn.reg == CODE_SP)
            switched = true;
        else if (insn.stack != CODE_SP_SAME)
            switched = false;
    }
    return switched;
}

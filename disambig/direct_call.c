/* direct_call.c - see direct_call.h. */
#include "disambig/direct_call.h"

#include "image/code/fields.h"

uint32_t direct_call_target(const struct map_frames_of *of, const struct calls *calls,
                            const struct call_site *site)
{
    bool resolver = false;
    if (site->kind == CALL_DIRECT)
        return image_function_entry(of->image, site->target);
    if (!of->symbolic || site->kind != CALL_IMPORT || !site->target)
        return IMAGE_NO_FUNCTION;
    uint32_t function = calls_export(calls, site->symbol, &resolver);
    return resolver ? IMAGE_NO_FUNCTION : function;
}

uint32_t direct_call_callee(const struct map_frames_of *of, const struct calls *calls, uint32_t caller,
                            uint64_t return_address)
{
    const struct call_site *call = calls_before(calls, return_address);
    return call && call->function == caller ? direct_call_target(of, calls, call) : IMAGE_NO_FUNCTION;
}

/* Code that falls through into a function is a site without a distance: the bytes at its address do not decode to
 * a jump to the target. */
bool direct_call_has_room(const struct image *image, const struct call_site *site)
{
    size_t size;
    struct code_insn insn;
    struct code_fields fields;
    const uint8_t *bytes = image_bytes(image, site->address, &size);
    return bytes && code_read(bytes, size, site->address, &insn) && code_read_fields(bytes, size, &fields) &&
           (insn.kind == CODE_CALL || insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH) &&
           image_function_entry(image, insn.target) == image_function_entry(image, site->target) &&
           fields.immediate_size == 4;
}

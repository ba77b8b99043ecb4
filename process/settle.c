/* settle.c - see settle.h. */
#include "process/settle.h"

#include "image/code/code.h"

static bool read_code(const struct process *process, uint64_t pc, struct place *place, struct code_insn *out)
{
    size_t size;
    const uint8_t *code =
        process_place(process, pc, place) ? image_bytes(place->image, place->address, &size) : NULL;
    return code && code_read(code, size, place->address, out);
}

/* Whether the next instruction is of the same function, so that its row is, too. */
static bool goes_on(const struct process *process, const struct place *from, uint64_t next)
{
    struct place place;
    return process_place(process, next, &place) && place.image == from->image &&
           place.function == from->function;
}

struct settled settled_of(const struct process *process, const struct sample *sample)
{
    struct settled at = {sample->reg_ip, sample->sp, sample->bp};
    struct place place;
    struct code_insn insn;
    if (!sample->late_regs || !process || !read_code(process, at.ip, &place, &insn))
        return at;
    switch (insn.kind) {
    case CODE_CALL:
    case CODE_CALL_INDIRECT:
        at.sp += 8;
        break;
    case CODE_RETURN:
        at.sp -= 8;
        break;
    case CODE_PLAIN:
        at.ip += goes_on(process, &place, at.ip + insn.length) ? insn.length : 0;
        break;
    default: /* jumps change neither */
        break;
    }
    return at;
}

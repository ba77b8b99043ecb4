/*
 * plan_choose.c - see plan_choose.h.
 *
 * `need` bytes at the address are replaced, and whole instructions that cover them are displaced. That is
 * safe if control cannot arrive at the replaced bytes except at the first (nor at a displaced call's return
 * address), if the instructions can run elsewhere, and if bytes replaced beyond the last instruction of the
 * function are dead. Tails of displaced instructions beyond the replaced bytes are unchanged: arriving there
 * does no harm.
 */
#include "pathmap/train/plan_choose.h"

#include <string.h>

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* -fpatchable-function-entry, and -mfentry -mnop-mcount: single nops, or (clang's first, gcc's second) one
 * nopl with any displacement */
static bool is_sled(const uint8_t *bytes, size_t size)
{
    return size >= PLAN_JUMP &&
           (memcmp(bytes, "\x90\x90\x90\x90\x90", 5) == 0 || memcmp(bytes, "\x0f\x1f\x44\x00", 4) == 0);
}

/* mov $15,%eax or %rax; syscall: unwinders and debuggers recognise a signal frame by these bytes. The FDE may
 * start one byte early. */
static bool is_signal_return(const uint8_t *bytes, size_t size)
{
    static const uint8_t wide[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05",
                         narrow[] = "\xb8\x0f\x00\x00\x00\x0f\x05";
    for (size_t at = 0; at < 2; at++)
        if ((size >= at + 9 && memcmp(bytes + at, wide, 9) == 0) ||
            (size >= at + 7 && memcmp(bytes + at, narrow, 7) == 0))
            return true;
    return false;
}

static bool targets_inside(const struct plan_code *code, uint64_t address, unsigned need)
{
    for (unsigned i = 1; i < need; i++)
        if (plan_code_is_target(code, address + i))
            return true;
    return false;
}

/* Collects the instructions that cover `need` bytes. size: bytes of the function from the address on. */
static bool gather_insns(const struct plan_code *code, const uint8_t *bytes, size_t size, unsigned need,
                         struct plan_site *site)
{
    bool closed = false;
    unsigned length = 0;
    site->count = 0;
    if (targets_inside(code, site->address, need))
        return false;
    while (length < need) {
        if (closed) {
            if (!plan_code_is_dead(code, site->address + length))
                return false;
            length++;
            continue;
        }
        struct insn *insn = &site->insns[site->count];
        if (length >= size ||
            !insn_read(code->reader, bytes + length, size - length, site->address + length, insn) ||
            !displace_possible(insn))
            return false;
        site->count++;
        length += insn->length;
        if (insn->flow == INSN_CALL && length < need)
            return false;
        closed = displace_closes(insn);
    }
    site->original_length = length;
    return true;
}

const char *plan_choose(const struct plan_code *code, uint32_t function, enum plan_kind from,
                        struct plan_site *out)
{
    static const unsigned needs[PLAN_KINDS] = {PLAN_JUMP, PLAN_JUMP, 2, 1};
    const struct image_function *f = image_function(code->image, function);
    size_t size;
    const uint8_t *bytes = image_bytes(code->image, f->address, &size);
    if (!bytes || size < f->size)
        return "the file lacks some of its code";
    size = f->size;
    if (is_signal_return(bytes, size))
        return "it is a signal return, which is recognised by its bytes";
    if (code->flags[function] & PLAN_CODE_PART)
        return "its frame does not start like a function's";
    out->function = out->address = f->address;
    out->size = f->size;
    if (size > sizeof endbr64 && memcmp(bytes, endbr64, sizeof endbr64) == 0) {
        bytes += sizeof endbr64;
        size -= sizeof endbr64;
        out->address += sizeof endbr64;
    }
    out->count = 0;
    out->original_length = PLAN_JUMP;
    out->kind = PLAN_SLED;
    if (from == PLAN_SLED && is_sled(bytes, size) && !targets_inside(code, out->address, PLAN_JUMP))
        return NULL;
    /* a function that is not understood may have unknown branches; its first byte is safe */
    if (!(code->flags[function] & PLAN_CODE_WHOLE))
        from = PLAN_BREAKPOINT;
    for (out->kind = from > PLAN_DETOUR ? from : PLAN_DETOUR; out->kind < PLAN_KINDS; out->kind++)
        if (gather_insns(code, bytes, size, needs[out->kind], out))
            return NULL;
    struct insn insn;
    return insn_read(code->reader, bytes, size, out->address, &insn)
               ? "its first instruction cannot run at another place"
               : "its first instruction is unknown";
}

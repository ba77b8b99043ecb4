/*
 * plan_choose.c - see plan_choose.h.
 *
 * `need` bytes at the address are replaced, and whole instructions that cover them are displaced. That is
 * safe if control cannot arrive at the replaced bytes except at the first (nor at a displaced call's return
 * address), if the instructions can run elsewhere, and if bytes replaced beyond the last instruction of the
 * function are dead. Tails of displaced instructions beyond the replaced bytes are unchanged: arriving there
 * does no harm.
 *
 * Where the function begins with a loop, the whole loop is displaced if it can be: its rounds then run in the copy.
 * A round that makes a call returns to the original and passes the hook again.
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
    site->next = site->address + length;
    return true;
}

/* Bytes of the function that no other function's entry interrupts, from the address on. */
static size_t bytes_alone(const struct image *image, uint32_t function, uint64_t address)
{
    const struct image_function *f = image_function(image, function);
    uint64_t end = f->address + f->size;
    if (function + 1 < image_function_count(image) && image_function(image, function + 1)->address < end)
        end = image_function(image, function + 1)->address;
    return end > address ? end - address : 0;
}

/* Whether it refers to an address outside of the image: it is data that a jump skips, or a weak function that nothing defines. */
static bool leaves_image(const struct image *image, const struct insn *insn)
{
    return (insn->direct && !image_covers(image, insn->target)) ||
           (insn->rip_relative && !image_covers(image, insn->memory));
}

/* Goes on to the last jump into a loop that begins at the hook: a round of such a loop is no call. */
static void gather_loop(const struct plan_code *code, uint32_t function, const uint8_t *bytes,
                        struct plan_site *site)
{
    const uint64_t first = site->address;
    uint64_t end = first + 1; /* of the loop, as far as it is known; its jumps go to [first, end) */
    size_t size = bytes_alone(code->image, function, first), length = 0;
    for (unsigned count = 0; length < size && count < DISPLACED_MAX; count++) {
        struct insn *insn = &site->insns[count];
        if (!insn_read(code->reader, bytes + length, size - length, first + length, insn) ||
            !displace_possible(insn) || leaves_image(code->image, insn))
            return;
        length += insn->length;
        if (!insn->direct || insn->flow == INSN_CALL || insn->target - first >= end - first)
            continue;
        end = first + length;
        if (count >= site->count) {
            site->count = count + 1;
            site->next = end;
        }
    }
}

/* Chooses the first kind from this one on that its instructions allow. */
static bool choose_displacing(const struct plan_code *code, uint32_t function, const uint8_t *bytes,
                              size_t size, enum plan_kind from, struct plan_site *out)
{
    static const unsigned needs[PLAN_KINDS] = {PLAN_JUMP, PLAN_JUMP, 2, 1};
    for (out->kind = from > PLAN_DETOUR ? from : PLAN_DETOUR; out->kind < PLAN_KINDS; out->kind++)
        if (gather_insns(code, bytes, size, needs[out->kind], out)) {
            if (out->loops)
                gather_loop(code, function, bytes, out);
            return true;
        }
    return false;
}

const char *plan_choose(const struct plan_code *code, uint32_t function, enum plan_kind from,
                        struct plan_site *out)
{
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
    out->next = out->address + PLAN_JUMP;
    out->loops = code->flags[function] & PLAN_CODE_LOOPS;
    out->kind = PLAN_SLED;
    if (from == PLAN_SLED && is_sled(bytes, size) && !targets_inside(code, out->address, PLAN_JUMP))
        return NULL;
    /* a function that is not understood may have unknown branches; its first byte is safe */
    if (!(code->flags[function] & PLAN_CODE_WHOLE))
        from = PLAN_BREAKPOINT;
    if (choose_displacing(code, function, bytes, size, from, out))
        return NULL;
    struct insn insn;
    return insn_read(code->reader, bytes, size, out->address, &insn)
               ? "its first instruction cannot run at another place"
               : "its first instruction is unknown";
}

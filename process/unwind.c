/* unwind.c - see unwind.h. */
#include "process/unwind.h"

#include <string.h>

#include "image/cfi.h"

/* Where a struct ucontext keeps the alternate stack (include/uapi/asm-generic/ucontext.h) and the interrupted
 * registers: arch/x86/include/uapi/asm/sigcontext.h after the 40 bytes of uc_flags, uc_link and uc_stack. */
#define UCONTEXT_STACK      16
#define UCONTEXT_STACK_SIZE 32
#define UCONTEXT_BP         120
#define UCONTEXT_SP         160
#define UCONTEXT_PC         168

struct walk {
    const struct process *process;
    const struct sample *sample;
    uint64_t pc, sp, bp; /* of the frame that is looked at */
    bool exact;          /* pc is where it runs or was interrupted, not a return address */
    bool bp_known;
    uint64_t base; /* of the thread's own stack when it is on that and it is known, else 0 */
};

/* Reads 8 bytes of the dump. */
static bool walk_read(const struct walk *walk, uint64_t address, uint64_t *out)
{
    const struct sample *s = walk->sample;
    uint64_t offset = address - s->sp;
    if (!s->stack || address < s->sp || s->stack_size < sizeof *out || offset > s->stack_size - sizeof *out)
        return false;
    memcpy(out, s->stack + offset, sizeof *out);
    return true;
}

/* An address that cannot be read: past the dump's end it is cut, below its start the rule was wrong. */
static enum unwind_end walk_unread(const struct walk *walk, uint64_t address)
{
    return address < walk->sample->sp ? UNWIND_BAD : UNWIND_CUT;
}

/* The place of the PC: what it belongs to is told by the call, which lies before a return address. */
static bool walk_place(const struct walk *walk, struct place *place, struct cfi_row *row)
{
    uint64_t back = walk->exact ? 0 : 1;
    if (!process_cfi(walk->process, walk->pc - back, place, row))
        return false;
    place->address += back;
    /* A signal's restorer is returned to and never called: its first instruction is its own. */
    if (row->cfa == CFI_SIGNAL_FRAME)
        place->function = image_function_at(place->image, place->address);
    return true;
}

/* The CFA by the row. UNWIND_ROOT: it is known; else why not. */
static enum unwind_end walk_cfa(const struct walk *walk, const struct cfi_row *row, uint64_t *cfa)
{
    uint64_t slot;
    switch (row->cfa) {
    case CFI_NONE:
        return UNWIND_NO_CFI;
    case CFI_SP:
        *cfa = walk->sp + (uint64_t)(int64_t)row->cfa_offset;
        break;
    case CFI_BP:
    case CFI_BP_MEMORY:
        if (!walk->bp_known)
            return UNWIND_UNSUPPORTED;
        slot = walk->bp + (uint64_t)(int64_t)row->cfa_offset;
        if (row->cfa == CFI_BP)
            *cfa = slot;
        else if (!walk_read(walk, slot, cfa))
            return walk_unread(walk, slot);
        break;
    case CFI_SIGNAL_FRAME:
        slot = walk->sp + UCONTEXT_SP;
        if (!walk_read(walk, slot, cfa))
            return walk_unread(walk, slot);
        break;
    default:
        return UNWIND_UNSUPPORTED;
    }
    return UNWIND_ROOT;
}

/* The caller's BP. A slot below SP was popped already: the epilogue's rows go on naming it, and BP is the
 * caller's again. */
static void walk_bp(struct walk *walk, const struct cfi_row *row, uint64_t cfa)
{
    uint64_t slot;
    switch (row->bp) {
    case CFI_BP_SAME:
        return;
    case CFI_BP_AT_CFA:
        slot = cfa + (uint64_t)(int64_t)row->bp_offset;
        break;
    case CFI_BP_AT_BP:
        slot = walk->bp + (uint64_t)(int64_t)row->bp_offset;
        if (!walk->bp_known)
            return;
        break;
    default:
        walk->bp_known = false;
        return;
    }
    if (slot >= walk->sp)
        walk->bp_known = walk_read(walk, slot, &walk->bp);
}

/* Whether the handler of this signal frame was the first to run on the alternate stack: the kernel writes
 * down where that stack is, and cfa is the SP that was interrupted. */
static bool walk_alternate(const struct walk *walk, uint64_t cfa)
{
    uint64_t low, size;
    return walk_read(walk, walk->sp + UCONTEXT_STACK, &low) &&
           walk_read(walk, walk->sp + UCONTEXT_STACK_SIZE, &size) && walk->sp - low < size &&
           cfa - low > size;
}

/* Whether a call, direct or through a register or memory, ends right before the address. */
static bool follows_call(const struct place *place)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7}; /* of ff /2 with what follows it */
    size_t size;
    const uint8_t *code = image_bytes(place->image, place->address - 8, &size);
    if (!code || size < 8)
        return false;
    if (code[3] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++) {
        const uint8_t *at = code + 8 - lengths[i];
        if (*at == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* From the restorer's frame to the code that the signal interrupted. false: it ran on another stack. */
static bool walk_signal(struct walk *walk, uint64_t cfa)
{
    uint64_t sp = walk->sp;
    if (cfa <= sp || !walk_read(walk, sp + UCONTEXT_PC, &walk->pc))
        return false;
    walk->bp_known = walk_read(walk, sp + UCONTEXT_BP, &walk->bp);
    walk->sp = cfa;
    walk->exact = true;
    return true;
}

bool unwind_begins(const struct process *process, uint64_t return_address)
{
    struct place place;
    return return_address == 0 ||
           (process_place(process, return_address, &place) && place.function != IMAGE_NO_FUNCTION &&
            image_function(place.image, place.function)->address == place.address &&
            cfi_lookup(image_cfi(place.image), place.address).cfa != CFI_SIGNAL_FRAME &&
            !follows_call(&place));
}

size_t unwind_sample(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end)
{
    struct walk walk = {process, sample, sample->reg_ip, sample->sp, sample->bp, true, true, 0};
    size_t count = 0;
    if (!sample->has_regs || !process || !sample->stack) {
        *end = UNWIND_CUT;
        return 0;
    }
    if (process_stack_base(process, sample->tid, sample->sp, &walk.base) != STACK_OWN)
        walk.base = 0;
    for (bool interrupted = false;;) {
        struct place place;
        struct cfi_row row;
        uint64_t cfa, least = walk.sp + 8;
        if (!walk_place(&walk, &place, &row)) {
            *end = UNWIND_NO_MAPPING;
            return count;
        }
        *end = walk_cfa(&walk, &row, &cfa);
        if (*end != UNWIND_ROOT)
            return count;
        if (row.cfa == CFI_SIGNAL_FRAME) {
            if (count && walk_alternate(&walk, cfa))
                return count;
            if (!walk_signal(&walk, cfa)) {
                *end = UNWIND_CUT;
                return count;
            }
        } else if (cfa < least || least < 8) {
            *end = UNWIND_BAD;
            return count;
        }
        if (count == max) {
            *end = UNWIND_LONG;
            return count;
        }
        frames[count++] = (struct unwind_frame){place, cfa, interrupted};
        interrupted = row.cfa == CFI_SIGNAL_FRAME;
        if (interrupted)
            continue;
        if (row.root || cfa == walk.base)
            return count;
        walk_bp(&walk, &row, cfa);
        if (!walk_read(&walk, cfa - 8, &walk.pc)) {
            *end = UNWIND_CUT;
            return count;
        }
        if (unwind_begins(process, walk.pc))
            return count;
        walk.sp = cfa;
        walk.exact = false;
    }
}

/* `_start` as every x86-64 libc's crt1.o has it, from popping argc on: pop %rsi; mov %rsp,%rdx; and
 * $-16,%rsp; push %rax; push %rsp. */
static bool frame_is_start(const struct unwind_frame *frame)
{
    static const uint8_t code[] = {0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54};
    const struct place *place = &frame->place;
    if (place->function == IMAGE_NO_FUNCTION)
        return false;
    size_t size;
    uint64_t entry = image_function(place->image, place->function)->address;
    const uint8_t *bytes = image_bytes(place->image, entry, &size);
    return bytes && memmem(bytes, size < 32 ? size : 32, code, sizeof code);
}

enum stack_kind unwind_base(const struct unwind_frame *frames, size_t count, uint64_t *base)
{
    const struct unwind_frame *root = &frames[count - 1];
    const struct place *place = &root->place;
    uint64_t thread_return;
    if (!cfi_lookup(image_cfi(place->image), place->address - (count > 1)).root) {
        *base = root->cfa;
        return STACK_SHARED;
    }
    if (count == 1)
        return STACK_UNKNOWN;
    bool start = frame_is_start(root);
    *base = start ? root->cfa + 8 : frames[count - 2].cfa;
    bool own =
        start || (image_thread_return(place->image, &thread_return) && thread_return == place->address);
    return own ? STACK_OWN : STACK_SHARED;
}

const char *unwind_end_text(enum unwind_end end)
{
    switch (end) {
    case UNWIND_ROOT:
        return "the whole stack was unwound";
    case UNWIND_CUT:
        return "the dump ended before the stack did";
    case UNWIND_NO_MAPPING:
        return "a frame lies outside all known code";
    case UNWIND_NO_CFI:
        return "a frame's code has no unwind table";
    case UNWIND_UNSUPPORTED:
        return "a frame's unwind rule cannot be followed from SP and BP";
    case UNWIND_BAD:
        return "the stack is damaged: frames do not grow";
    case UNWIND_LONG:
        return "the stack has too many frames";
    default:
        return "the walk ended for a reason without a name";
    }
}

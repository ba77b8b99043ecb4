/* unwind.c - see unwind.h. */
#include "process/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/go_stacks.h"
#include "image/handler_jump.h"
#include "image/return_range.h"
#include "image/run_time.h"
#include "image/stack_switch.h"
#include "process/frame.h"
#include "process/registers.h"
#include "process/walked.h"

struct walk {
    const struct process *process;
    struct unwind_frame *frames;
    size_t count, max;
    bool interrupted;   /* the current frame was, by the handler of a signal or a call of C from Go */
    struct frame frame; /* the current one */
    uint64_t pc;
    bool exact;                 /* pc is the current or interrupted instruction, not a return address */
    uint64_t base;              /* of the thread's own stack if the walk is on it and it is known, else 0 */
    uint64_t bp_slot;           /* address from which the frame's BP was read; 0: it is the sample's */
    struct unwind_words *words; /* NULL: not wanted */
    unsigned steps;             /* for struct registers */
    uint64_t switch_at; /* where the copy continues with another stack, until the walk does; 0: nowhere */
    bool after;         /* SP and BP are those after the instruction at pc */
};

static void note_stack_word(const struct walk *walk, struct stack_word word)
{
    struct unwind_words *w = walk->words;
    if (w && !vec_push(w->words, w->count, w->capacity, word))
        w->partial = true;
}

static void note_word(const struct walk *walk, uint64_t address, uint64_t value, bool in_stack)
{
    note_stack_word(walk, (struct stack_word){address, value, value, 1, in_stack, false});
}

#define RANGES_MAX 65536u /* entries beyond which the cache is cleared */

/* The last return address read may also be another one in the same function from which the walk goes on in the same way. place:
 * of the call before it. Cached for all processes that have the file, as it requires decoding the function. */
static void widen_word(const struct walk *walk, const struct place *place)
{
    struct unwind_words *w = walk->words;
    if (!w || w->partial || walk->exact || place->function == IMAGE_NO_FUNCTION)
        return;
    if (!w->ranges || table_count(w->ranges) > RANGES_MAX) {
        table_free(w->ranges);
        w->ranges = table_new();
    }
    bool added;
    uint64_t *range =
        w->ranges
            ? table_put(w->ranges, hash_u64((uintptr_t)place->image) ^ hash_u64(~place->address), &added)
            : NULL;
    if (!range)
        return; /* only this return address is allowed */
    if (added) {
        uint64_t start, end, at = place->address - 1;
        image_return_range(place->image, at, &start, &end);
        *range = (at - start) << 32 | (end - start);
    }
    struct stack_word *word = &w->words[w->count - 1];
    word->low = walk->pc - (*range >> 32);
    word->size = (uint32_t)*range;
}

/* Notes that the walk depends on BP. */
static void note_bp(const struct walk *walk)
{
    if (walk->bp_slot)
        note_stack_word(walk,
                        (struct stack_word){walk->bp_slot, walk->frame.bp, walk->frame.bp, 1, true, true});
    else if (walk->words)
        walk->words->has_bp = true;
}

static enum frame_end walk_cfa(const struct walk *walk, const struct cfi_row *row, uint64_t *cfa)
{
    enum frame_end end = frame_cfa(&walk->frame, row, cfa);
    if (row->cfa == CFI_BP || row->cfa == CFI_BP_MEMORY)
        note_bp(walk);
    if (cfi_in_memory(row) && end == FRAME_FOUND) {
        const uint64_t from = row->cfa == CFI_BP_MEMORY ? walk->frame.bp : walk->frame.sp;
        note_word(walk, from + (uint64_t)(int64_t)row->cfa_offset, *cfa - row->cfa_add, true);
    }
    return end;
}

/* Notes a word from which a register was restored. */
static void note_restored(void *walk, uint64_t address, uint64_t value)
{
    note_word(walk, address, value, true);
}

/* Computes the CFA by the rules of all registers, if SP and BP do not suffice. */
static enum frame_end walk_registers(struct walk *walk, const struct place *place, uint64_t *cfa,
                                     uint64_t *return_address)
{
    struct registers registers = {.sample = walk->frame.dump,
                                  .frames = walk->frames,
                                  .count = walk->count,
                                  .note = note_restored,
                                  .context = walk,
                                  .steps = walk->steps};
    if (walk->after)
        return FRAME_UNSUPPORTED;
    enum frame_end end = registers_frame(&registers, place, walk->exact, cfa, return_address);
    walk->steps = registers.steps;
    if (walk->words)
        walk->words->registers |= registers.used;
    return end;
}

bool unwind_place(const struct process *process, uint64_t pc, bool exact, struct place *place,
                  struct cfi_row *row)
{
    uint64_t back = exact ? 0 : 1;
    if (!process_cfi(process, pc - back, place, row))
        return false;
    place->address += back;
    /* A signal's restorer is returned to but never called, so its first instruction is its own. */
    if (row->cfa == CFI_SIGNAL_FRAME)
        place->function = image_function_at(place->image, place->address);
    return true;
}

static bool walk_place(const struct walk *walk, struct place *place, struct cfi_row *row)
{
    return walk->after ? process_cfi_after(walk->process, walk->pc, place, row)
                       : unwind_place(walk->process, walk->pc, walk->exact, place, row);
}

/* Why there is no CFA. */
static enum unwind_end end_without_cfa(enum frame_end end)
{
    switch (end) {
    case FRAME_NO_CFI:
        return UNWIND_NO_CFI;
    case FRAME_BELOW:
        return UNWIND_BAD;
    case FRAME_BEYOND:
        return UNWIND_CUT;
    default:
        return UNWIND_UNSUPPORTED;
    }
}

/* Sets BP to the caller's. A slot below SP was already popped: the epilogue's rows still name it, but BP is the caller's again. */
static void caller_bp(struct walk *walk, const struct place *place, const struct cfi_row *row, uint64_t cfa)
{
    struct frame *frame = &walk->frame;
    uint64_t slot;
    if (row->bp != CFI_BP_SAME && image_jumps_to_handler(place->image, place->function, place->address)) {
        frame->bp_known = false;
        return;
    }
    switch (row->bp) {
    case CFI_BP_SAME:
        return;
    case CFI_BP_AT_CFA:
        slot = cfa + (uint64_t)(int64_t)row->bp_offset;
        break;
    case CFI_BP_AT_BP:
        slot = frame->bp + (uint64_t)(int64_t)row->bp_offset;
        if (!frame->bp_known)
            return;
        note_bp(walk);
        break;
    case CFI_BP_AT_SP:
        slot = frame->sp + (uint64_t)(int64_t)row->bp_offset;
        break;
    default:
        frame->bp_known = false;
        return;
    }
    if (slot >= frame->sp) {
        frame->bp_known = frame_read(frame, slot, &frame->bp);
        walk->bp_slot = slot;
    }
}

/* Whether the handler of this signal frame was the first to run on the alternate stack: the kernel saves where that stack is,
 * and cfa is the interrupted SP. */
static bool is_alternate(const struct frame *frame, uint64_t cfa)
{
    uint64_t low, size;
    return frame_read(frame, frame->sp + UCONTEXT_STACK, &low) &&
           frame_read(frame, frame->sp + UCONTEXT_STACK_SIZE, &size) && frame->sp - low < size &&
           cfa - low > size;
}

/* Whether a call, direct or through a register or memory, ends right before the address. */
static bool follows_call(const struct place *place)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7}; /* lengths of ff /2 with its operand bytes */
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

/* Notes that the interrupted code may also have been at another address of the same function with the same row. */
static void note_interrupted(const struct walk *walk, uint64_t address)
{
    struct place place;
    struct cfi_row row;
    note_word(walk, address, walk->pc, false);
    struct unwind_words *w = walk->words;
    if (!w || w->partial || !unwind_place(walk->process, walk->pc, true, &place, &row) ||
        place.function == IMAGE_NO_FUNCTION || row.cfa == CFI_UNSUPPORTED)
        return;
    const struct cfi *cfi = image_cfi(place.image);
    const struct cfi_span span = image_row_span(place.image, place.function, place.address);
    const struct cfi_row first = cfi_lookup(cfi, span.start),
                         last = cfi_lookup(cfi, span.end - 1); /* the row of a PLT depends on the address */
    if (place.address < span.start || place.address >= span.end || !cfi_row_same(&first, &last))
        return;
    w->words[w->count - 1].low = walk->pc - (place.address - span.start);
    w->words[w->count - 1].size = (uint32_t)(span.end - span.start);
}

/* Walks from the restorer's frame to the code that the signal interrupted. false: that ran on another stack. */
static bool walk_signal(struct walk *walk, uint64_t cfa)
{
    struct frame *frame = &walk->frame;
    uint64_t sp = frame->sp;
    if (cfa <= sp || !frame_read(frame, sp + UCONTEXT_PC, &walk->pc))
        return false;
    note_word(walk, sp + UCONTEXT_SP, cfa, true);
    note_interrupted(walk, sp + UCONTEXT_PC);
    frame->bp_known = frame_read(frame, sp + UCONTEXT_BP, &frame->bp);
    walk->bp_slot = sp + UCONTEXT_BP;
    frame->sp = cfa;
    walk->exact = true;
    return true;
}

/* Whether SP is already that of another stack, which CFI does not express. */
static bool is_switching(const struct walk *walk, const struct place *place, const struct cfi_row *row)
{
    return walk->exact && row->cfa == CFI_SP && row->cfa_offset == 8 &&
           image_stack_switched(place->image, place->address);
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

bool unwind_is_handler(const struct process *process, uint64_t return_address)
{
    struct place place;
    struct cfi_row row;
    return process_cfi(process, return_address, &place, &row) && row.cfa == CFI_SIGNAL_FRAME;
}

/* Whether the return address follows a call, or is in a function that calls nothing but is returned to (Go's goexit, or what a
 * signal's handler returns to). */
static bool is_called(const struct process *process, uint64_t return_address)
{
    struct place place;
    if (!process_place(process, return_address - 1, &place)) /* a file's code may end with the call */
        return false;
    place.address++;
    return image_is_run_time(place.image) || follows_call(&place) ||
           cfi_lookup(image_cfi(place.image), place.address - 1).root ||
           unwind_is_handler(process, return_address);
}

/* Whether a frame is not a function that was called, but where outermost functions return to, like Go's goexit. A thread's
 * start is one as well, but determines the stack's base. */
static bool is_end_alone(const struct place *place, const struct cfi_row *row)
{
    uint64_t thread_return;
    return row->root && !follows_call(place) &&
           !(image_thread_return(place->image, &thread_return) && thread_return == place->address);
}

/* Maximum number of bytes that a function has for itself on the system stack to which it switches: before Go 1.17 a return
 * address; for C, what it saves, and alignment. */
#define SWITCH_ROOM   8u
#define SWITCH_ROOM_C 80u

/* Walks from a function that switched to the system stack to its caller, on the stack behind the switch. false: that was not
 * copied. */
static bool walk_switch(struct walk *walk, const struct cfi_row *row, enum go_role role, uint64_t *cfa)
{
    const uint64_t limit = role == GO_CALLS_C ? SWITCH_ROOM_C : SWITCH_ROOM;
    if (!walk->switch_at || walk->switch_at - walk->frame.sp > limit)
        return false;
    *cfa = walk->switch_at + sizeof(uint64_t);
    if (role != GO_GROWS)
        *cfa += (uint64_t)(int64_t)row->cfa_offset;
    walk->base = walk->switch_at = 0;
    walk->frame.bp_known = false;
    return true;
}

/* Walks from a function that calls C on its own stack; its SP is `at` bytes from that of C. */
static enum unwind_end walk_kept(struct walk *walk, const struct cfi_row *row, uint64_t at, uint64_t *cfa)
{
    uint64_t sp;
    const uint64_t slot = walk->frame.sp + at;
    if (!frame_read(&walk->frame, slot, &sp))
        return UNWIND_CUT;
    note_word(walk, slot, sp, true);
    *cfa = sp + (uint64_t)(int64_t)row->cfa_offset;
    return sp - slot <= SWITCH_ROOM_C ? UNWIND_CONTINUES : UNWIND_BAD;
}

/* Walks from a function that C called back to, on the goroutine's stack, to the frames there that are outside of the call of C. */
static enum unwind_end walk_back(struct walk *walk, uint64_t cfa)
{
    struct place place;
    if (!frame_read(&walk->frame, cfa - 8, &walk->pc))
        return UNWIND_CUT;
    note_word(walk, cfa - 8, walk->pc, false);
    walk->frame.sp = cfa;
    walk->exact = true;
    const bool saved = process_place(walk->process, walk->pc, &place) &&
                       image_go_role(place.image, place.function) == GO_SAVED_PC;
    return saved ? UNWIND_CONTINUES : UNWIND_ROOT;
}

static bool has_scheduler(const struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        if (image_go_role(walk->frames[i].place.image, walk->frames[i].place.function) == GO_SCHEDULES)
            return true;
    return false;
}

/* Maximum number of bytes between the base of a stack and the CFA of its outermost function: the code that began it may have
 * used some for itself, and for alignment. */
#define BASE_ROOM 64u

/* Whether a function with this CFA can be its stack's outermost one, as a return address of 0, and a row without one, indicate.
 * If the base is known to be elsewhere, neither does: the row is not that of the code (LuaJIT's interpreter has one for all of
 * its code). */
static bool can_end(const struct walk *walk, uint64_t cfa)
{
    return !walk->base || cfa >= walk->base || walk->base - cfa <= BASE_ROOM;
}

/* How the walk ends at a frame whose row has no caller; UNWIND_CONTINUES: it does not, as the frame is a function of Go's that
 * switched stacks. Its caller is `interrupted` if the walk is there already. */
static enum unwind_end leave_root(struct walk *walk, const struct cfi_row *row)
{
    struct unwind_frame *frame = &walk->frames[walk->count - 1];
    const struct place *place = &frame->place, *innermost = &walk->frames[0].place;
    const enum go_role role = walk->count > 1 ? image_go_role(place->image, place->function) : GO_OTHER;
    switch (role) {
    case GO_CALLED_BACK: {
        const enum unwind_end end = walk_back(walk, frame->cfa);
        walk->interrupted = end == UNWIND_CONTINUES;
        return end;
    }
    case GO_CALLS_C: {
        const int kept = image_go_kept_sp(place->image, place->address);
        if (kept >= 0)
            return walk_kept(walk, row, (uint64_t)kept, &frame->cfa);
        break;
    }
    case GO_GROWS:
        if (has_scheduler(walk)) /* another goroutine is running now, or is about to */
            return UNWIND_ROOT;
        break;
    case GO_CALLS_ON_SYSTEM:
        break;
    default: /* derived rows are roots only if they are known to be (image/derive.h) */
        return row->derived || can_end(walk, frame->cfa) ? UNWIND_ROOT : UNWIND_BAD;
    }
    if (walk->count == 2 && image_go_role(innermost->image, innermost->function) == GO_SAVES)
        return UNWIND_CONTINUES; /* it has not switched yet */
    return walk_switch(walk, row, role, &frame->cfa) ? UNWIND_CONTINUES : UNWIND_SWITCHED;
}

bool unwind_switched(const struct sample *sample, const struct unwind_frame *frames, size_t count)
{
    /* Without the saved PC, which the outermost frame before it may use as its return address. */
    return sample->stack_switch && count &&
           frames[count - 1].cfa - sample->sp > sample->stack_switch + sizeof(uint64_t);
}

/* Minimum number of bytes from SP to the CFA of a frame with this row: those of the return address, unless that may still be,
 * or be again, in a register (vfork's is in rdi). */
static uint64_t least_size_of(const struct walk *walk, const struct cfi_row *row)
{
    return walk->exact && row->cfa == CFI_UNSUPPORTED ? 0 : sizeof(uint64_t);
}

/* Whether the stack is still empty: the code is where the kernel started the program, or clone a thread, and nothing called it. */
static bool is_at_base(const struct walk *walk, uint64_t cfa)
{
    return walk->base && cfa > walk->base && walk->base - walk->frame.sp < sizeof(uint64_t);
}

static struct walk walk_begin(const struct process *process, const struct sample *sample,
                              struct unwind_frame *frames, size_t max, struct unwind_words *words)
{
    struct walk walk = {.process = process,
                        .frames = frames,
                        .max = max,
                        .frame = {sample, sample->sp, sample->bp, true},
                        .pc = sample->reg_ip,
                        .exact = true,
                        .words = words,
                        .switch_at = sample->stack_switch ? sample->sp + sample->stack_switch : 0,
                        .after = sample->regs_after};
    if (process_stack_base(process, sample->tid, sample->sp, &walk.base) != STACK_OWN)
        walk.base = 0;
    return walk;
}

/* What is known of the current frame. */
struct step {
    struct place place;
    struct cfi_row row;
    uint64_t cfa;
    bool others; /* by the rules of all registers, as is return_address */
    uint64_t return_address;
};

/* The steps return UNWIND_CONTINUES, or how the walk ends. */
static enum unwind_end find_frame(struct walk *walk, struct step *step)
{
    const struct cfi_row *row = &step->row;
    if (!walk_place(walk, &step->place, &step->row))
        return UNWIND_NO_MAPPING;
    widen_word(walk, &step->place);
    if (walk->count && !walk->interrupted && is_end_alone(&step->place, row))
        return UNWIND_ROOT;
    /* The outermost frame would be found here, wrongly. */
    const bool lost = !walk->base && is_switching(walk, &step->place, row);
    enum frame_end found = lost ? FRAME_UNSUPPORTED : walk_cfa(walk, row, &step->cfa);
    step->others = found == FRAME_UNSUPPORTED && !row->root && !lost;
    if (step->others)
        found = walk_registers(walk, &step->place, &step->cfa, &step->return_address);
    return found == FRAME_FOUND ? UNWIND_CONTINUES : end_without_cfa(found);
}

/* Adds the frame, and leaves that of a signal. */
static enum unwind_end add_frame(struct walk *walk, const struct step *step)
{
    const struct cfi_row *row = &step->row;
    const uint64_t pc = walk->pc;
    const bool at_base = walk->count == 0 && is_at_base(walk, step->cfa), interrupted = walk->interrupted;
    const uint64_t cfa = at_base ? walk->base : step->cfa;
    walk->interrupted = row->cfa == CFI_SIGNAL_FRAME && !at_base;
    if (walk->interrupted) {
        if (walk->count && is_alternate(&walk->frame, cfa))
            return UNWIND_SIGNAL;
        if (!walk_signal(walk, cfa))
            return UNWIND_CUT;
    } else if (!at_base && (cfa < walk->frame.sp || cfa - walk->frame.sp < least_size_of(walk, row) ||
                            (row->derived && walk->base && cfa > walk->base))) {
        return row->derived ? UNWIND_NO_CFI : UNWIND_BAD;
    }
    if (walk->count == walk->max)
        return UNWIND_LONG;
    walk->frames[walk->count++] = (struct unwind_frame){
        .pc = pc, .place = step->place, .cfa = cfa, .interrupted = interrupted, .derived = row->derived};
    return at_base ? UNWIND_ROOT : UNWIND_CONTINUES;
}

/* Goes to the caller of the frame that was added. */
static enum unwind_end leave_frame(struct walk *walk, const struct step *step)
{
    struct unwind_frame *frame = &walk->frames[walk->count - 1];
    const struct cfi_row *row = &step->row;
    if (row->root) {
        const enum unwind_end end = leave_root(walk, row);
        if (end != UNWIND_CONTINUES || walk->interrupted)
            return end;
    } else if (frame->cfa == walk->base) {
        return UNWIND_ROOT;
    }
    if (walk->switch_at && frame->cfa > walk->switch_at) /* its caller would be read from the other stack */
        return UNWIND_BAD;
    caller_bp(walk, &step->place, row, frame->cfa);
    frame->caller_bp = walk->frame.bp;
    if (step->others)
        walk->pc = step->return_address;
    else if (!frame_read(&walk->frame, frame->cfa - 8, &walk->pc))
        return UNWIND_CUT;
    note_word(walk, frame->cfa - 8, walk->pc, false);
    const bool doubtful = row->derived || step->others;
    if ((doubtful || (walk->exact && walk->base)) && !is_called(walk->process, walk->pc) &&
        (doubtful || is_switching(walk, &step->place, row))) { /* the CFA cannot be trusted either */
        walk->count--;
        return row->derived && !step->others ? UNWIND_NO_CFI : UNWIND_UNSUPPORTED;
    }
    if (walk->pc ? unwind_begins(walk->process, walk->pc) : can_end(walk, frame->cfa))
        return UNWIND_ROOT;
    walk->frame.sp = frame->cfa;
    walk->exact = walk->after = false;
    return UNWIND_CONTINUES;
}

size_t unwind_words(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                    size_t max, struct unwind_words *words, enum unwind_end *end)
{
    if (words)
        *words = (struct unwind_words){
            .words = words->words, .capacity = words->capacity, .ranges = words->ranges};
    *end = UNWIND_CUT;
    if (!sample->has_regs || !process || !sample->stack)
        return 0;
    struct walk walk = walk_begin(process, sample, frames, max, words);
    do {
        struct step step;
        *end = find_frame(&walk, &step);
        if (*end == UNWIND_CONTINUES)
            *end = add_frame(&walk, &step);
        if (*end == UNWIND_CONTINUES && !walk.interrupted)
            *end = leave_frame(&walk, &step);
    } while (*end == UNWIND_CONTINUES);
    return walk.count;
}

bool unwind_beyond(const struct process *process, const struct sample *sample,
                   const struct unwind_frame *frames, size_t count, enum unwind_end end,
                   struct unwind_frame *out)
{
    struct place *place = &out->place;
    uint64_t pc;
    if ((end != UNWIND_NO_CFI && end != UNWIND_UNSUPPORTED && end != UNWIND_CUT) ||
        unwind_switched(sample, frames, count) || unwind_is_handler(process, frames[count - 1].pc) ||
        !walked_beyond(sample, frames, count, &pc) || !process_place(process, pc - 1, place))
        return false;
    place->address++;
    out->pc = pc;
    return place->function != IMAGE_NO_FUNCTION && !image_is_run_time(place->image) && follows_call(place);
}

void unwind_words_free(struct unwind_words *words)
{
    table_free(words->ranges);
    free(words->words);
}

size_t unwind_sample(const struct process *process, const struct sample *sample, struct unwind_frame *frames,
                     size_t max, enum unwind_end *end)
{
    return sample->walk && sample->has_regs && process
               ? walked_frames(process, sample, frames, max, end)
               : unwind_words(process, sample, frames, max, NULL, end);
}

/* Recognises `_start` as in every x86-64 libc's crt1.o, from popping argc on: pop %rsi; mov %rsp,%rdx; and
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

/* Whether it is the dynamic loader's entry, where the kernel starts a program's main thread: the functions that it calls begin
 * at the base. It has no CFI. */
static bool frame_is_loader_start(const struct place *place)
{
    uint64_t entry;
    return place->function != IMAGE_NO_FUNCTION && image_library_entry(place->image, &entry) &&
           image_function(place->image, place->function)->address == entry;
}

enum stack_kind unwind_base(const struct unwind_frame *frames, size_t count, uint64_t *base)
{
    const struct unwind_frame *root = &frames[count - 1];
    const struct place *place = &root->place;
    uint64_t thread_return;
    const struct cfi_row row = cfi_lookup(image_cfi(place->image), place->address - (count > 1));
    const bool start = frame_is_start(root),
               own = start || frame_is_loader_start(place) ||
                     (image_thread_return(place->image, &thread_return) && thread_return == place->address);
    /* A function of Go without a caller was nevertheless begun like a call. */
    if (!row.root || (row.derived && !own)) {
        *base = root->cfa;
        return STACK_SHARED;
    }
    if (count == 1)
        return STACK_UNKNOWN;
    *base = start ? root->cfa + 8 : frames[count - 2].cfa;
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
        return "a frame's unwind rule needs more than SP and BP";
    case UNWIND_BAD:
        return "the stack is damaged: frame addresses do not increase";
    case UNWIND_LONG:
        return "the stack has too many frames";
    case UNWIND_SWITCHED:
        return "the stack goes on on another one, which was not copied";
    case UNWIND_SIGNAL:
        return "a signal was handled on another stack than the one that it interrupted";
    default:
        return "the walk ended for an unknown reason";
    }
}

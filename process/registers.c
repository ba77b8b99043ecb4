/* registers.c - see registers.h. */
#include "process/registers.h"

#include <string.h>

#include "image/cfi/registers.h"

#define STEPS_MOST 16384u /* per walk: rules may refer to registers of further frames in turn */

/* By DWARF's number (psABI, figure 3.36): rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
static const uint8_t perf_numbers[CFI_REGISTERS] = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                    17, 18, 19, 20, 21, 22, 23, 8};
/* Offsets in a signal frame from its SP (frame.h; struct sigcontext). */
static const uint8_t signal_places[CFI_REGISTERS] = {144, 136, 152, 128, 112, 104, 120, 160, 40,
                                                     48,  56,  64,  72,  80,  88,  96,  168};

/* A register that is being determined in a frame. */
struct request {
    struct registers *registers;
    size_t frame;
};

static bool get_value(struct registers *r, size_t frame, unsigned number, uint64_t *value);

static uint64_t sp_of(const struct registers *r, size_t frame)
{
    return frame ? r->frames[frame - 1].cfa : r->sample->sp;
}

static bool read_word(struct registers *r, uint64_t address, uint64_t *value)
{
    const struct frame frame = {.dump = r->sample};
    if (!frame_read(&frame, address, value))
        return false;
    if (r->note)
        r->note(r->context, address, *value);
    return true;
}

static bool of_sample(struct registers *r, unsigned number, uint64_t *value)
{
    const struct sample *s = r->sample;
    const uint64_t bit = UINT64_C(1) << perf_numbers[number];
    if (number == REGISTER_RETURN) {
        *value = s->reg_ip;
        return true;
    }
    if (number == REGISTER_BP)
        *value = s->bp;
    else if (s->registers && s->register_mask & bit)
        memcpy(value, s->registers + 8 * __builtin_popcountll(s->register_mask & (bit - 1)), sizeof *value);
    else
        return false;
    r->used |= bit;
    return true;
}

static bool get_register(void *request, unsigned number, uint64_t *value)
{
    struct request *a = request;
    return number < CFI_REGISTERS && get_value(a->registers, a->frame, number, value);
}

static bool read_memory(void *request, uint64_t address, uint64_t *value)
{
    struct request *a = request;
    return read_word(a->registers, address, value);
}

/* Evaluates an expression in a frame. initial: NULL: the stack begins empty. */
static bool evaluate_rule(struct registers *r, size_t frame, const struct cfi_register *rule,
                          const uint64_t *initial, uint64_t *value)
{
    struct request request = {r, frame};
    return cfi_evaluate(rule->expression, rule->size, initial,
                        &(struct cfi_machine_state){&request, get_register, read_memory}, value);
}

/* The value that a rule of this frame, whose CFA is known, gives. false: unknown. CFI_SAME means the register itself. */
static bool apply_rule(struct registers *r, size_t frame, uint64_t cfa, unsigned own,
                       const struct cfi_register *rule, uint64_t *value)
{
    switch (rule->where) {
    case CFI_SAME:
        return get_value(r, frame, own, value);
    case CFI_REGISTER:
        return get_value(r, frame, rule->number, value);
    case CFI_AT_CFA:
        return read_word(r, cfa + (uint64_t)rule->offset, value);
    case CFI_CFA_PLUS:
        *value = cfa + (uint64_t)rule->offset;
        return true;
    case CFI_VALUE:
        return evaluate_rule(r, frame, rule, &cfa, value);
    case CFI_AT_VALUE:
        return evaluate_rule(r, frame, rule, &cfa, value) && read_word(r, *value, value);
    default:
        return false;
    }
}

static uint64_t looked_up(const struct place *place, bool exact)
{
    return place->address - !exact;
}

/* BP in code whose rows were derived. */
static bool bp_by_row(struct registers *r, size_t frame, const struct cfi_row *row, uint64_t cfa,
                      uint64_t *value)
{
    if (row->bp == CFI_BP_SAME)
        return get_value(r, frame, REGISTER_BP, value);
    if (row->bp == CFI_BP_AT_SP)
        return read_word(r, sp_of(r, frame) + (uint64_t)(int64_t)row->bp_offset, value);
    return row->bp == CFI_BP_AT_CFA && read_word(r, cfa + (uint64_t)(int64_t)row->bp_offset, value);
}

/* The value of a register in a frame: the sample's, or by the rules of the frame inside of it. */
static bool get_value(struct registers *r, size_t frame, unsigned number, uint64_t *value)
{
    struct cfi_registers rules;
    if (number == REGISTER_SP) {
        *value = sp_of(r, frame);
        return true;
    }
    if (r->steps++ > STEPS_MOST)
        return false;
    if (frame == 0)
        return of_sample(r, number, value);
    const struct unwind_frame *inner = &r->frames[frame - 1];
    const uint64_t address = looked_up(&inner->place, frame == 1 || inner->interrupted);
    const struct cfi_row row = cfi_lookup(image_cfi(inner->place.image), address);
    if (row.cfa == CFI_SIGNAL_FRAME)
        return read_word(r, sp_of(r, frame - 1) + signal_places[number], value);
    if (row.derived && number == REGISTER_BP)
        return bp_by_row(r, frame - 1, &row, inner->cfa, value);
    /* a caller may rely on registers that its helper does not write (image/leaf_writes.h) */
    if (row.derived)
        return frame == 1 && image_leaf_keeps(inner->place.image, inner->place.function, number) &&
               get_value(r, 0, number, value);
    return image_registers(inner->place.image, address, &rules) &&
           apply_rule(r, frame - 1, inner->cfa, number, &rules.of[number], value);
}

enum frame_end registers_frame(struct registers *r, const struct place *place, bool exact, uint64_t *cfa,
                               uint64_t *return_address)
{
    struct cfi_registers rules;
    const size_t frame = r->count;
    if (!image_registers(place->image, looked_up(place, exact), &rules))
        return FRAME_UNSUPPORTED;
    const struct cfi_register *rule = &rules.cfa, *back = &rules.of[REGISTER_RETURN];
    bool found = rule->where == CFI_REGISTER
                     ? get_value(r, frame, rule->number, cfa)
                     : rule->where == CFI_VALUE && evaluate_rule(r, frame, rule, NULL, cfa);
    if (!found)
        return FRAME_UNSUPPORTED;
    *cfa += (uint64_t)rule->offset;
    return apply_rule(r, frame, *cfa, REGISTER_RETURN, back, return_address) ? FRAME_FOUND : FRAME_BEYOND;
}

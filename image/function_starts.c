/* function_starts.c - see function_starts.h. */
#include "image/function_starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/code/operands.h"
#include "image/elf/slots.h"
#include "image/frame_state.h"
#include "image/landing_pad.h"
#include "image/switch_tables.h"

#define ALIGNMENT  16u        /* what compilers align functions to */
#define CASES_MOST 1024u      /* cases of a switch that are followed: where its table ends is not known */
#define FAR        128u       /* bytes: a longer jump leads to or from a separate part of a function */
#define NEAR       (1u << 18) /* bytes: a function's cases are usually within these */
#define TRAP       0xcc       /* int3 */
#define TRAPS      2u /* traps that fill up to ALIGNMENT: a single one may follow a call that does not return */
#define LEAST      8u /* bytes: shorter gaps are ignored */
#define ALL_CODE                                                                                             \
    8u /* if at least one byte in so many is uncovered, targets are searched in covered code and data, too */

enum {
    MARK_INSN = 1,   /* an instruction starts here */
    MARK_ALONE = 2,  /* and the one before does not continue to it */
    MARK_PADDED = 4, /* the same, or a call, and padding to ALIGNMENT is in between */
    MARK_CALLED = 8,
    MARK_BRANCHED = 16,
    MARK_POINTED = 32,
    MARK_ENDBR = 64,
    MARK_CASE = 128,    /* target of a jump's table */
    MARK_TRAPPED = 256, /* behind traps up to ALIGNMENT, which compilers do not put within a function */
    MARK_TAILED = 512,  /* jump target of code with an FDE: a tail call, as that code's own parts have FDEs */
    MARK_TAKEN = 1024,  /* code takes its address */
    MARK_AFTER_CALL = 2048, /* behind a call that may not return: a function needs no padding there */
};

struct span {
    uint64_t address, size;
    size_t marks; /* index in `marks` of the first byte */
};

struct starts {
    const struct elf_file *file;
    const struct cfi *cfi;
    struct functions *functions;
    struct span *gaps; /* code that no function covers, by address */
    size_t gap_count, gap_capacity;
    uint16_t *marks;
    uint64_t code, uncovered; /* bytes */
    struct slots slots;       /* data words; none if little code is uncovered */
    bool no_memory;
};

static bool is_endbr(const uint8_t *bytes, size_t size)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return size >= sizeof endbr64 && memcmp(bytes, endbr64, sizeof endbr64) == 0;
}

static bool is_padding(const struct code_insn *insn, const uint8_t *bytes)
{
    return (insn->kind == CODE_NOP && !is_endbr(bytes, insn->length)) || *bytes == TRAP || *bytes == 0;
}

/* The first byte in [address, end) that is no padding. */
static uint64_t skip_padding(const struct elf_file *file, uint64_t address, uint64_t end)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(file, address, end - address, &size);
    struct code_insn insn;
    if (!bytes)
        return end;
    for (size_t at = 0; at < size;) {
        if (!code_read(bytes + at, size - at, address + at, &insn))
            insn = (struct code_insn){.kind = CODE_STOP};
        if (!is_padding(&insn, bytes + at))
            return address + at;
        at += insn.kind == CODE_NOP ? insn.length : 1;
    }
    return end;
}

static int add_gap(struct starts *s, uint64_t address, uint64_t end)
{
    if (end - address < ALIGNMENT) /* usually padding */
        return 0;
    address = skip_padding(s->file, address, end);
    if (end - address < LEAST)
        return 0;
    const struct span gap = {address, end - address, s->uncovered};
    s->uncovered += gap.size;
    return vec_push(s->gaps, s->gap_count, s->gap_capacity, gap) ? 0 : -ENOMEM;
}

/* Adds the gaps that functions leave in [address, end). */
static int add_gaps(struct starts *s, const struct functions *functions, uint64_t address, uint64_t end)
{
    int rc = 0;
    s->code += end - address;
    uint32_t i = lower_bound(k, 0, functions->count, functions->items[k].address < address);
    if (i && functions->items[i - 1].address + functions->items[i - 1].size > address)
        address = functions->items[i - 1].address + functions->items[i - 1].size;
    for (; rc == 0 && i < functions->count && functions->items[i].address < end; i++) {
        const struct image_function *f = &functions->items[i];
        if (f->address > address)
            rc = add_gap(s, address, f->address);
        if (f->address + f->size > address)
            address = f->address + f->size;
    }
    return rc == 0 && address < end ? add_gap(s, address, end) : rc;
}

/* Lists the gaps of each part of the file that has code: sections or, if there are none, segments. In a damaged
 * file they may overlap; each address is still listed once. */
static int list_gaps(struct starts *s, const struct functions *functions)
{
    uint64_t done = 0;
    int rc = 0;
    bool any = false;
    for (size_t i = 0; rc == 0 && i < s->file->section_count; i++) {
        const struct elf_section *section = &s->file->sections[i];
        if (!(section->flags & SHF_EXECINSTR) || section->type == SHT_NOBITS || section->address < done ||
            plt_holds(s->file, section->address) ||
            !elf_file_is_code(s->file, section->address, section->size))
            continue;
        any = true;
        rc = add_gaps(s, functions, section->address, section->address + section->size);
        done = section->address + section->size;
    }
    for (size_t i = 0; rc == 0 && !any && i < s->file->segment_count; i++) {
        const struct elf_segment *segment = &s->file->segments[i];
        if (!elf_file_is_code(s->file, segment->address, 1) || segment->address < done)
            continue;
        done = segment->address + segment->file_size;
        rc = add_gaps(s, functions, segment->address, done);
    }
    return rc;
}

/* The mark of an address; NULL: it is in no gap. */
static uint16_t *mark_of(const struct starts *s, uint64_t address)
{
    size_t beyond = lower_bound(i, (size_t)0, s->gap_count, s->gaps[i].address <= address);
    const struct span *gap = beyond ? &s->gaps[beyond - 1] : NULL;
    return gap && address - gap->address < gap->size ? &s->marks[gap->marks + (address - gap->address)]
                                                     : NULL;
}

static void mark_address(const struct starts *s, uint64_t address, unsigned bits)
{
    uint16_t *marks = mark_of(s, address);
    if (marks)
        *marks |= (uint16_t)bits;
}

static void mark_branch(struct starts *s, const struct code_insn *insn)
{
    struct functions *f = s->functions;
    uint16_t *marks = mark_of(s, insn->target);
    if (!marks)
        return;
    *marks |= MARK_BRANCHED;
    if (insn->kind == CODE_JUMP && cfi_covers(s->cfi, insn->address))
        *marks |= MARK_TAILED;
    if (insn->target - insn->address + FAR > 2 * FAR &&
        !vec_push(f->branched, f->branched_count, f->branched_capacity, insn->target))
        s->no_memory = true;
}

/* Marks the target of an instruction. */
static void mark_target(struct starts *s, const struct code_insn *insn)
{
    if (insn->kind == CODE_CALL && insn->target != insn->address + insn->length)
        mark_address(s, insn->target, MARK_CALLED);
    else if (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH)
        mark_branch(s, insn);
    else if (insn->effect == CODE_ADDRESS)
        mark_address(s, insn->memory, MARK_POINTED | MARK_TAKEN);
    else if (insn->effect == CODE_CONSTANT && s->file->type == ET_EXEC)
        mark_address(s, insn->target, MARK_POINTED | MARK_TAKEN);
}

/* Marks the cases of a switch. cases: 0: up to the first that does not lead to code near by. */
static void follow_table(struct starts *s, struct operand table, uint64_t jump, uint32_t cases)
{
    for (uint32_t i = 0; i < (cases ? cases : CASES_MOST); i++) {
        const uint64_t target = switch_entry(s->file, &s->slots, &table, i);
        uint16_t *marks = mark_of(s, target);
        if (!marks || (!cases && target - jump + NEAR > 2 * NEAR))
            break;
        *marks |= MARK_CASE;
    }
}

/* Decodes code from end to end. marks: of its bytes; NULL: it is covered code. */
static void sweep_code(struct starts *s, uint64_t address, uint64_t length, uint16_t *marks)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(s->file, address, length, &size);
    bool alone = true, padded = true, called = false;
    unsigned traps = 0;
    struct operands operands;
    struct switch_bound bound = {0};
    size = bytes ? size : 0;
    for (size_t at = 0; at < size;) {
        struct code_insn insn;
        if (!code_read(bytes + at, size - at, address + at, &insn)) {
            at++;
            alone = padded = true;
            called = false;
            continue;
        }
        const bool endbr = is_endbr(bytes + at, size - at) && !landing_pad_begins(bytes + at, size - at),
                   padding = is_padding(&insn, bytes + at),
                   aligned = !padding && (address + at) % ALIGNMENT == 0;
        if (marks)
            marks[at] |=
                (uint16_t)(MARK_INSN | (alone ? MARK_ALONE : 0) | (padded && aligned ? MARK_PADDED : 0) |
                           (traps >= TRAPS && aligned ? MARK_TRAPPED : 0) | (endbr ? MARK_ENDBR : 0) |
                           (called ? MARK_AFTER_CALL : 0));
        mark_target(s, &insn);
        if (alone)
            operands_forget(&operands);
        const struct operand target = operands_target(&operands, &insn);
        if (insn.kind == CODE_JUMP_INDIRECT && switch_is_table(&target))
            follow_table(s, target, insn.address, switch_bound_cases(&bound));
        switch_bound_step(&bound, &insn, bytes + at);
        operands_step(&operands, &insn);
        if (padding && (alone || called)) {
            padded = true; /* a call may not return */
        } else {
            alone = !code_goes_on(&insn);
            called = insn.kind == CODE_CALL;
            padded = alone && (address + at + insn.length) % ALIGNMENT == 0;
        }
        traps = bytes[at] == TRAP ? traps + 1 : 0;
        at += insn.length;
    }
}

static enum function_start start_of(unsigned marks)
{
    const bool pointed = (marks & (MARK_POINTED | MARK_BRANCHED)) == MARK_POINTED || marks & MARK_TAILED;
    if (marks & MARK_CALLED)
        return START_SURE;
    return pointed || marks & MARK_TRAPPED || (marks & MARK_PADDED && marks & MARK_ENDBR) ? START_POINTED
                                                                                          : START_GUESSED;
}

static bool is_start(unsigned marks)
{
    if (!(marks & MARK_INSN) || marks & MARK_CALLED)
        return marks & MARK_INSN;
    if (marks & MARK_CASE)
        return false;
    if ((marks & (MARK_TAKEN | MARK_AFTER_CALL | MARK_BRANCHED)) == (MARK_TAKEN | MARK_AFTER_CALL))
        return true;
    return marks & MARK_TRAPPED || (marks & MARK_PADDED && marks & MARK_TAILED) ||
           (marks & (MARK_ALONE | MARK_PADDED) && marks & (MARK_POINTED | MARK_ENDBR)) ||
           (marks & (MARK_PADDED | MARK_BRANCHED)) == MARK_PADDED;
}

/* Code reached only by jumps may still be a function that is tail-called, if it begins by saving a register; so
 * may code behind a call that does not return. */
static bool begins_with_push(const struct starts *s, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(s->file, address, FRAME_STATE_SAVE, &size);
    return bytes && frame_state_saves(bytes, size);
}

static int add_functions(const struct starts *s, const struct span *gap, struct functions *functions)
{
    const uint16_t *marks = &s->marks[gap->marks];
    uint64_t start = 0;
    int rc = 0;
    for (uint64_t at = 1; rc == 0 && at <= gap->size; at++) {
        const bool jumped = marks[at] & (MARK_PADDED | MARK_POINTED) && !(marks[at] & MARK_CASE);
        if (at < gap->size && !is_start(marks[at]) && !(jumped && begins_with_push(s, gap->address + at)))
            continue;
        const uint64_t address = gap->address + start;
        rc = functions_add(functions, address, at - start, NULL);
        const struct guessed_start guess = {address, start_of(marks[start])};
        if (rc == 0 && guess.start != START_SURE &&
            !vec_push(functions->guessed, functions->guessed_count, functions->guessed_capacity, guess))
            rc = -ENOMEM;
        start = at;
    }
    return rc;
}

/* Marks the targets of pointers in data. */
static int mark_pointers(struct starts *s)
{
    if (slots_build(s->file, &s->slots) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < s->slots.count; i++)
        mark_address(s, s->slots.items[i].value, MARK_POINTED);
    return 0;
}

static int mark_all(struct starts *s)
{
    const bool much = s->uncovered >= s->code / ALL_CODE;
    s->marks = calloc(s->uncovered + 1, sizeof *s->marks);
    if (!s->marks || (much && mark_pointers(s) < 0))
        return -ENOMEM;
    for (size_t i = 0; i < s->gap_count; i++)
        sweep_code(s, s->gaps[i].address, s->gaps[i].size, &s->marks[s->gaps[i].marks]);
    for (uint32_t i = 0; much && i < s->functions->count; i++)
        sweep_code(s, s->functions->items[i].address, s->functions->items[i].size, NULL);
    sort_numbers(s->functions->branched, s->functions->branched_count);
    return s->no_memory ? -ENOMEM : 0;
}

int function_starts_add(const struct elf_file *file, const struct cfi *cfi, struct functions *functions)
{
    struct starts s = {.file = file, .cfi = cfi, .functions = functions, .slots = {.file = file}};
    int rc = list_gaps(&s, functions);
    if (rc == 0 && s.gap_count)
        rc = mark_all(&s);
    for (size_t i = 0; rc == 0 && i < s.gap_count; i++)
        rc = add_functions(&s, &s.gaps[i], functions);
    slots_free(&s.slots);
    free(s.gaps);
    free(s.marks);
    functions_sort(functions);
    return rc;
}

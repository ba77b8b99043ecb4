/*
 * start.c - code executed before all other code of the new file. See work.h.
 *
 * A relocation that stores an address becomes one whose value is computed by code (R_X86_64_IRELATIVE; psABI,
 * section 4.4.1): the loader then calls that code before any constructor, of this file or of another one that
 * calls into it. It is the last of the relocations that glibc treats as relative without checking (DT_RELACOUNT).
 * If there is none, the code becomes a program's entry point, or a library's DT_INIT (gABI, "Initialization and
 * Termination Functions").
 */
#include <errno.h>
#include <string.h>

#include "rewrite/move/work.h"

struct start {
    size_t relocation, count; /* file offsets: of an Elf64_Rela, and of the value of DT_RELACOUNT; 0: none */
    size_t place;             /* of the address of the code executed first */
};

/* The file offset of a tag's value in .dynamic; 0: none. */
static size_t find_tag(const struct move_survey *survey, const Elf64_Phdr *dynamic, int64_t tag)
{
    Elf64_Dyn d = {.d_tag = 1};
    for (uint64_t at = 0; d.d_tag != DT_NULL && at + sizeof d <= dynamic->p_filesz; at += sizeof d) {
        if (dynamic->p_offset > survey->size || survey->size - dynamic->p_offset < at + sizeof d)
            return 0;
        memcpy(&d, survey->data + dynamic->p_offset + at, sizeof d);
        if (d.d_tag == tag)
            return dynamic->p_offset + at + offsetof(Elf64_Dyn, d_un);
    }
    return 0;
}

static uint64_t word_at(const struct move_survey *survey, size_t offset)
{
    uint64_t word = 0;
    if (offset)
        memcpy(&word, survey->data + offset, sizeof word);
    return word;
}

static bool find_relocation(const struct move_survey *survey, const Elf64_Phdr *dynamic, struct start *out)
{
    Elf64_Rela relocation;
    size_t count = find_tag(survey, dynamic, DT_RELACOUNT), left;
    uint64_t number = word_at(survey, count), table = word_at(survey, find_tag(survey, dynamic, DT_RELA));
    if (!number || !table || number > survey->size / sizeof relocation)
        return false;
    const uint8_t *bytes =
        elf_file_bytes(survey->file, table + (number - 1) * sizeof relocation, ELF_REST, &left);
    if (!bytes || left < sizeof relocation)
        return false;
    memcpy(&relocation, bytes, sizeof relocation);
    out->count = count;
    out->relocation = (size_t)(bytes - survey->file->data);
    out->place = out->relocation + offsetof(Elf64_Rela, r_addend);
    return ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE;
}

/* Whether the word is the address of a label of moved code, which changes with it. */
static bool is_label(const struct move_work *work, size_t place)
{
    size_t i = 0;
    while (i < work->repointed_count && work->repointed[i] != place)
        i += 2;
    return i < work->repointed_count;
}

static struct start find_start(const struct move_work *work)
{
    const struct move_survey *survey = work->survey;
    struct start start = {0};
    Elf64_Phdr ph, dynamic = {0};
    bool program = survey->file->type == ET_EXEC, musl = false;
    for (size_t i = 0; survey_segment(survey, i, &ph); i++) {
        if (ph.p_type == PT_DYNAMIC)
            dynamic = ph;
        if (ph.p_type != PT_INTERP)
            continue;
        program = true;
        musl = ph.p_offset <= survey->size && ph.p_filesz <= survey->size - ph.p_offset &&
               memmem(survey->data + ph.p_offset, ph.p_filesz, "musl", 4); /* musl has no IRELATIVE */
    }
    if (musl || !find_relocation(survey, &dynamic, &start) || is_label(work, start.place))
        start = (struct start){.place = program ? offsetof(Elf64_Ehdr, e_entry)
                                                : find_tag(survey, &dynamic, DT_INIT)};
    return start;
}

int move_start_put(struct move_work *work)
{
    static const uint8_t answer[] = {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3}; /* lea address(%rip),%rax; ret */
    static const uint8_t jump[ENTRY_JUMP] = {0xe9};
    struct move_buffer *buffer = &work->buffers[BUFFER_START];
    size_t size = work->plan->start_size;
    struct start start = size ? find_start(work) : (struct start){0};
    if (!size)
        return 0;
    if (!start.place)
        return -ENOTSUP;
    bool asked = start.relocation;
    struct move_fix fix = {.at = {BUFFER_START, (uint32_t)(size + (asked ? 3 : 1))},
                           .from = 4,
                           .kind = FIX_FUNCTION,
                           .target = word_at(work->survey, start.place)};
    if (asked && !survey_follows(work->survey, fix.target))
        fix.kind = FIX_FAR;
    bool done = move_append(buffer, work->plan->start, size) != SIZE_MAX &&
                move_append(buffer, asked ? answer : jump, asked ? sizeof answer : sizeof jump) != SIZE_MAX &&
                move_fix(work, &fix);
    return done ? 0 : -ENOMEM;
}

void move_start_set(const struct move_work *work, uint8_t *elf)
{
    struct start start = work->plan->start_size ? find_start(work) : (struct start){0};
    if (!start.place)
        return;
    memcpy(elf + start.place, &work->buffers[BUFFER_START].address, sizeof(uint64_t));
    if (!start.relocation)
        return;
    const uint64_t info = ELF64_R_INFO(0, R_X86_64_IRELATIVE), count = word_at(work->survey, start.count) - 1;
    memcpy(elf + start.relocation + offsetof(Elf64_Rela, r_info), &info, sizeof info);
    memcpy(elf + start.count, &count, sizeof count);
}

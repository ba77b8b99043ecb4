/* survey.c - reads all code and data of an image once; see survey.h. */
#include "rewrite/move/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/code/code.h"
#include "image/image_file.h"

#define LEAST_ADDRESS 0x400 /* the ELF header is below; no data is */

bool survey_segment(const struct move_survey *survey, size_t index, Elf64_Phdr *out)
{
    Elf64_Ehdr h;
    memcpy(&h, survey->data, sizeof h);
    if (index >= h.e_phnum || h.e_phentsize != sizeof *out || h.e_phoff > survey->size ||
        (index + 1) * sizeof *out > survey->size - h.e_phoff)
        return false;
    memcpy(out, survey->data + h.e_phoff + index * sizeof *out, sizeof *out);
    return true;
}

bool survey_section(const struct move_survey *survey, size_t index, Elf64_Shdr *out)
{
    Elf64_Ehdr h;
    memcpy(&h, survey->data, sizeof h);
    if (index >= h.e_shnum || h.e_shentsize != sizeof *out || h.e_shoff > survey->size ||
        (index + 1) * sizeof *out > survey->size - h.e_shoff)
        return false;
    memcpy(out, survey->data + h.e_shoff + index * sizeof *out, sizeof *out);
    return true;
}

/* The section with constants at the address; NULL: none. */
static const struct elf_section *constants_at(const struct move_survey *survey, uint64_t address)
{
    for (size_t i = 0; i < survey->file->section_count; i++) {
        const struct elf_section *s = &survey->file->sections[i];
        if ((s->flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == SHF_ALLOC &&
            address - s->address < s->file_size)
            return s;
    }
    return NULL;
}

/* Linkers may put constants into the segment of the code (-z noseparate-code). */
const uint8_t *survey_constants(const struct move_survey *survey, uint64_t address, size_t *size)
{
    Elf64_Phdr ph;
    size_t i = 0;
    while (survey_segment(survey, i, &ph) && !(ph.p_type == PT_LOAD && address - ph.p_vaddr < ph.p_memsz))
        i++;
    if (!survey_segment(survey, i, &ph) || ph.p_flags & PF_W)
        return NULL;
    const uint8_t *bytes = elf_file_bytes(survey->file, address, ELF_REST, size);
    if (!bytes || !(ph.p_flags & PF_X))
        return bytes;
    const struct elf_section *s = constants_at(survey, address);
    if (s && *size > s->file_size - (address - s->address))
        *size = s->file_size - (address - s->address);
    return s ? bytes : NULL;
}

uint64_t survey_next_object(const struct move_survey *survey, uint64_t address)
{
    size_t i = lower_bound(m, 0, survey->object_count, survey->objects[m] <= address);
    return i < survey->object_count ? survey->objects[i] : UINT64_MAX;
}

const struct cfi_fde *survey_fde(const struct move_survey *survey, uint64_t address)
{
    const struct cfi_frames *cfi = &survey->cfi;
    size_t i = lower_bound(m, 0, cfi->fde_count, cfi->fdes[m].address < address);
    return i < cfi->fde_count && cfi->fdes[i].address == address ? &cfi->fdes[i] : NULL;
}

size_t survey_labels(const struct move_survey *survey, uint32_t function, const struct survey_label **out)
{
    const struct survey_label *labels = survey->labels;
    size_t from = lower_bound(i, 0, survey->label_count, labels[i].function < function);
    size_t to = lower_bound(i, from, survey->label_count, labels[i].function <= function);
    *out = from < to ? labels + from : NULL;
    return to - from;
}

bool survey_inside(const struct move_survey *survey, uint64_t address, uint32_t *function)
{
    const struct functions *functions = &survey->image->functions;
    uint32_t part = functions_find(functions, address);
    if (part == IMAGE_NO_FUNCTION)
        return false;
    *function = functions->items[part].owner;
    /* a .cold part's start is no entry either */
    return functions->items[part].address != address || *function != part;
}

static void mark_entered(struct move_survey *survey, uint32_t from, uint64_t to)
{
    uint32_t function;
    if (survey_inside(survey, to, &function) && function != from)
        survey->marks[function] |= SURVEY_ENTERED;
}

void survey_take(struct move_survey *survey, uint64_t address)
{
    uint32_t function = image_function_entry(survey->image, address);
    if (function != IMAGE_NO_FUNCTION)
        survey->marks[function] |= SURVEY_TAKEN;
}

static int note_object(struct move_survey *survey, uint64_t address)
{
    if (address < LEAST_ADDRESS ||
        (elf_file_is_code(survey->file, address, 1) && !constants_at(survey, address)))
        return 0;
    return vec_push(survey->objects, survey->object_count, survey->object_capacity, address) ? 0 : -ENOMEM;
}

/* Notes a reference to an address, which may be an entry. `known`: it is in code, and can be found again. */
static void see_address(struct move_survey *survey, uint32_t function, const struct code_insn *insn,
                        bool known)
{
    bool itself = image_function_entry(survey->image, insn->memory) == function;
    if (insn->effect == CODE_ADDRESS) {
        mark_entered(survey, function, insn->memory);
        survey_take(survey, insn->memory);
    }
    if (insn->rip_relative && (insn->effect != CODE_ADDRESS || itself || !known))
        survey_fix(survey, insn->memory);
}

/* Notes what one instruction of a function (or of none: IMAGE_NO_FUNCTION) refers to. */
static int see_insn(struct move_survey *survey, uint32_t function, const struct code_insn *insn, bool known)
{
    if (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH)
        mark_entered(survey, function, insn->target);
    if (insn->kind == CODE_CALL) /* including one into its own middle */
        mark_entered(survey, IMAGE_NO_FUNCTION, insn->target);
    see_address(survey, function, insn, known);
    if (insn->rip_relative)
        return note_object(survey, insn->memory);
    if (survey->file->type != ET_EXEC)
        return 0;
    if (insn->effect == CODE_CONSTANT) {
        mark_entered(survey, function, insn->target);
        survey_take(survey, insn->target);
        if (note_object(survey, insn->target) < 0)
            return -ENOMEM;
    }
    return insn->memory_operand && insn->displacement > 0xffff
               ? note_object(survey, (uint64_t)(int64_t)insn->displacement)
               : 0;
}

/* Reads the code of [start, end) linearly. */
static int see_code(struct move_survey *survey, uint32_t function, uint64_t start, uint64_t end)
{
    size_t size;
    const uint8_t *code = elf_file_bytes(survey->file, start, ELF_REST, &size);
    if (!code)
        return 0;
    bool known = function != IMAGE_NO_FUNCTION && size >= end - start;
    if (size > end - start)
        size = end - start;
    struct code_insn insn;
    for (size_t at = 0; at < size; at += insn.length) {
        if (!code_read(code + at, size - at, start + at, &insn)) {
            insn.length = 1;
            known = false;
            continue;
        }
        if (see_insn(survey, function, &insn, known) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Reads all code: that of functions, and that between them. */
static int see_all_code(struct move_survey *survey)
{
    const struct functions *functions = &survey->image->functions;
    int rc = 0;
    for (size_t i = 0; i < survey->file->segment_count && rc == 0; i++) {
        const struct elf_segment *s = &survey->file->segments[i];
        uint64_t at = s->address, end = s->address + s->file_size;
        if (!s->executable)
            continue;
        uint32_t f = lower_bound(m, 0, functions->count, functions->items[m].address < at);
        for (; f < functions->count && functions->items[f].address < end && rc == 0; f++) {
            const struct image_function *item = &functions->items[f];
            rc = see_code(survey, IMAGE_NO_FUNCTION, at, item->address);
            at = item->address + item->size;
            if (rc == 0)
                rc = see_code(survey, item->owner, item->address, at);
        }
        if (rc == 0 && at < end)
            rc = see_code(survey, IMAGE_NO_FUNCTION, at, end);
    }
    return rc;
}

static void see_symbols(struct move_survey *survey, const struct symbols *symbols)
{
    const struct functions *functions = &survey->image->functions;
    for (size_t i = 0; i < symbols->count; i++) {
        uint64_t address = symbols->items[i].address;
        uint32_t part = functions_find(functions, address);
        if (part != IMAGE_NO_FUNCTION && functions->items[part].address != address)
            survey->marks[functions->items[part].owner] |= SURVEY_ENTERED;
    }
}

static int read_symbols(struct move_survey *survey)
{
    struct symbols symbols = {0};
    int rc = symbols_read(&symbols, survey->file, survey->file);
    if (rc == 0 && survey->image->debug.data)
        rc = symbols_read(&symbols, &survey->image->debug, survey->file);
    if (rc == 0)
        see_symbols(survey, &symbols);
    symbols_free(&symbols);
    return rc;
}

static int by_owner(const void *a, const void *b, void *context)
{
    const struct image_function *items = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return order_of(items[x].owner, items[y].owner) ?: order_of(x, y);
}

static int sort_parts(struct move_survey *survey)
{
    const struct functions *functions = &survey->image->functions;
    uint32_t count = functions->count;
    survey->parts = malloc((count + (size_t)1) * sizeof *survey->parts);
    survey->first = malloc((count + (size_t)1) * sizeof *survey->first);
    survey->marks = calloc(count + (size_t)1, 1);
    if (!survey->parts || !survey->first || !survey->marks)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        survey->parts[i] = i;
    qsort_r(survey->parts, count, sizeof *survey->parts, by_owner, functions->items);
    uint32_t part = 0;
    for (uint32_t f = 0; f < count; f++) {
        survey->first[f] = part;
        while (part < count && functions->items[survey->parts[part]].owner == f)
            part++;
    }
    survey->first[count] = part;
    return 0;
}

int move_survey_new(const struct image *image, struct move_survey **out, struct fathom_error *err)
{
    struct move_survey *survey = calloc(1, sizeof *survey);
    if (!survey)
        return error_memory(err);
    survey->image = image;
    survey->file = &image->file;
    int rc = image_read_file(image, &survey->data, &survey->size, err);
    if (rc == 0 && (cfi_frames_read(survey->file, &survey->cfi) < 0 || sort_parts(survey) < 0 ||
                    see_all_code(survey) < 0 || read_symbols(survey) < 0 || survey_pointers(survey) < 0))
        rc = error_memory(err);
    if (rc < 0) {
        move_survey_free(survey);
        return rc;
    }
    survey_addresses(survey);
    survey->object_count = sort_unique(survey->objects, survey->object_count);
    *out = survey;
    return 0;
}

void move_survey_free(struct move_survey *survey)
{
    if (!survey)
        return;
    cfi_frames_free(&survey->cfi);
    free(survey->data);
    free(survey->parts);
    free(survey->first);
    free(survey->marks);
    free(survey->labels);
    free(survey->pointers);
    free(survey->objects);
    free(survey);
}

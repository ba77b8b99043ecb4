/*
 * pointers.c - the data words with addresses of functions, or of labels in the middle of them (computed gotos);
 * see survey.h. Found by relocations (x86-64 psABI, section 4.4; generic ABI, SHT_RELR), or by their values in
 * programs at fixed addresses. Also the probes in .note.stapsdt (SystemTap's sdt.h, version 3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "image/markers.h"
#include "rewrite/move/survey.h"

#ifndef DT_RELR /* glibc before 2.36 */
#define DT_RELRSZ 35
#define DT_RELR   36
#endif

/* Adds a word with an address. A relocated entry address can be changed; a word that only may be one cannot. */
static int add_pointer(struct move_survey *survey, uint64_t value, uint64_t place, const uint8_t *bytes,
                       bool likely)
{
    const struct survey_pointer pointer = {value, (uint64_t)(bytes - survey->file->data)};
    survey_take(survey, value);
    if (likely || elf_file_is_code(survey->file, place, 1))
        survey_fix(survey, value);
    if (image_function_entry(survey->image, value) == IMAGE_NO_FUNCTION)
        return 0;
    return vec_push(survey->pointers, survey->pointer_count, survey->pointer_capacity, pointer) ? 0 : -ENOMEM;
}

static int add_label(struct move_survey *survey, uint64_t value, uint64_t place, const uint8_t *bytes,
                     bool likely)
{
    uint32_t function;
    if (!survey_inside(survey, value, &function))
        return add_pointer(survey, value, place, bytes, likely);
    struct survey_label label = {value,    place,  (uint64_t)(bytes - survey->file->data),
                                 function, likely, false};
    return vec_push(survey->labels, survey->label_count, survey->label_capacity, label) ? 0 : -ENOMEM;
}

static const uint8_t *table_of(const struct elf_file *file, int64_t tag, int64_t size_tag, size_t *size)
{
    uint64_t address, wanted;
    *size = 0;
    if (!elf_file_dynamic(file, tag, &address) || !elf_file_dynamic(file, size_tag, &wanted))
        return NULL;
    const uint8_t *bytes = elf_file_bytes(file, address, ELF_REST, size);
    if (*size > wanted)
        *size = wanted;
    return bytes;
}

/* The address of a symbol in .dynsym. */
static uint64_t symbol_value(const struct elf_file *file, uint64_t index)
{
    uint64_t address;
    size_t size;
    Elf64_Sym symbol;
    const uint8_t *bytes =
        elf_file_dynamic(file, DT_SYMTAB, &address) ? elf_file_bytes(file, address, ELF_REST, &size) : NULL;
    if (!bytes || index >= size / sizeof symbol)
        return 0;
    memcpy(&symbol, bytes + index * sizeof symbol, sizeof symbol);
    return symbol.st_shndx == SHN_UNDEF ? 0 : symbol.st_value;
}

static int see_relocations(struct move_survey *survey, int64_t tag, int64_t size_tag)
{
    size_t size;
    const uint8_t *bytes = table_of(survey->file, tag, size_tag, &size);
    for (; size >= sizeof(Elf64_Rela); bytes += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, bytes, sizeof r);
        uint64_t addend = (uint64_t)r.r_addend;
        uint32_t function;
        if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE) {
            if (add_label(survey, addend, r.r_offset, bytes + offsetof(Elf64_Rela, r_addend), false) < 0)
                return -ENOMEM;
        } else if (ELF64_R_TYPE(r.r_info) == R_X86_64_IRELATIVE) {
            if (survey_inside(survey, addend, &function))
                survey->marks[function] |= SURVEY_POINTED;
        } else if (ELF64_R_SYM(r.r_info)) {
            uint64_t value = symbol_value(survey->file, ELF64_R_SYM(r.r_info));
            if (value && survey_inside(survey, value + addend, &function))
                survey->marks[function] |= SURVEY_POINTED;
            else if (value && addend)
                survey_fix(survey, value + addend);
        }
    }
    return 0;
}

static int see_word(struct move_survey *survey, uint64_t address, bool likely)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(survey->file, address, ELF_REST, &size);
    uint64_t value;
    if (!bytes || size < sizeof value)
        return 0;
    memcpy(&value, bytes, sizeof value);
    return add_label(survey, value, address, bytes, likely);
}

/* Packed relocations: an even entry is the address of one word, an odd one is a bitmap of the 63 words after the
 * last. */
static int see_packed(struct move_survey *survey)
{
    size_t size;
    const uint8_t *bytes = table_of(survey->file, DT_RELR, DT_RELRSZ, &size);
    uint64_t next = 0, entry;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&entry, bytes, sizeof entry);
        if (entry % 2 == 0) {
            if (see_word(survey, entry, false) < 0)
                return -ENOMEM;
            next = entry + 8;
            continue;
        }
        for (unsigned i = 0; i < 63; i++)
            if (entry >> (i + 1) & 1 && see_word(survey, next + 8 * i, false) < 0)
                return -ENOMEM;
        next += 63 * 8;
    }
    return 0;
}

static int see_range(struct move_survey *survey, uint64_t start, uint64_t size)
{
    for (uint64_t at = (start + 7) & ~7ull; at + 8 <= start + size; at += 8)
        if (see_word(survey, at, true) < 0)
            return -ENOMEM;
    return 0;
}

static bool has_pointers(const struct elf_section *s)
{
    static const char *const without[] = {".interp", ".eh_frame", ".eh_frame_hdr", ".gcc_except_table"};
    if (s->type != SHT_PROGBITS || !(s->flags & SHF_ALLOC) || s->flags & SHF_EXECINSTR)
        return false;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(s->name, without[i]) == 0)
            return false;
    return true;
}

/* Finds pointers without relocations, in programs that are not relocated. */
static int see_data(struct move_survey *survey)
{
    const struct elf_file *file = survey->file;
    int rc = 0;
    for (size_t i = 0; i < file->section_count && rc == 0; i++)
        if (has_pointers(&file->sections[i]))
            rc = see_range(survey, file->sections[i].address, file->sections[i].file_size);
    for (size_t i = 0; i < file->segment_count && rc == 0 && file->section_count == 0; i++)
        if (!file->segments[i].executable)
            rc = see_range(survey, file->segments[i].address, file->segments[i].file_size);
    return rc;
}

static int see_marker(void *context, const struct marker *marker)
{
    struct move_survey *survey = context;
    struct survey_label label = {.probe = true, .value = marker->address, .offset = marker->note};
    label.function = image_function_at(survey->image, label.value);
    if (label.function == IMAGE_NO_FUNCTION)
        return 0;
    return vec_push(survey->labels, survey->label_count, survey->label_capacity, label) ? 0 : -ENOMEM;
}

static int by_function(const void *a, const void *b)
{
    const struct survey_label *x = a, *y = b;
    return order_of(x->function, y->function) ?: order_of(x->place, y->place);
}

int survey_pointers(struct move_survey *survey)
{
    int rc = see_relocations(survey, DT_RELA, DT_RELASZ);
    if (rc == 0)
        rc = see_relocations(survey, DT_JMPREL, DT_PLTRELSZ);
    if (rc == 0)
        rc = see_packed(survey);
    if (rc == 0 && survey->file->type == ET_EXEC)
        rc = see_data(survey);
    if (rc == 0)
        rc = markers_see(survey->file, see_marker, survey);
    if (rc == 0)
        sort_with(survey->labels, survey->label_count, by_function);
    return rc;
}

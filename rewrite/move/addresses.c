/*
 * addresses.c - decides which functions' addresses become those of their first copies. See survey.h.
 *
 * All references to such an address are changed: relocated words (pointers.c), `lea` in code, and dynamic
 * symbols. So equal pointers stay equal, also in other files, and a call through one needs no jump at the old
 * entry. A function keeps its old address where a reference cannot be changed:
 *
 *  - in programs at fixed addresses, where any number may be a pointer;
 *  - outside of .text: programs compare addresses with the bounds of other sections (__start_SECTION);
 *  - if its address is in bytes that are not known to be code, or in a dynamic symbol that is not a function's;
 *  - if it refers to its own address: it may reach other code of its own by the distance.
 */
#include <string.h>

#include "rewrite/move/survey.h"

bool survey_follows(const struct move_survey *survey, uint64_t address)
{
    uint32_t function = image_function_entry(survey->image, address);
    return survey->addresses && function != IMAGE_NO_FUNCTION &&
           address - survey->text->address < survey->text->file_size &&
           !(survey->marks[function] & SURVEY_FIXED);
}

void survey_fix(struct move_survey *survey, uint64_t address)
{
    uint32_t function = image_function_entry(survey->image, address);
    if (function != IMAGE_NO_FUNCTION)
        survey->marks[function] |= SURVEY_TAKEN | SURVEY_FIXED;
}

static bool in_file(const struct move_survey *survey, const Elf64_Shdr *s)
{
    return s->sh_offset <= survey->size && s->sh_size <= survey->size - s->sh_offset;
}

/* Fixes functions whose symbols are not changed. */
static void see_symbols(struct move_survey *survey, const Elf64_Shdr *table)
{
    Elf64_Sym symbol;
    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol) {
        memcpy(&symbol, survey->data + table->sh_offset + at, sizeof symbol);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_TLS && symbol.st_shndx != SHN_ABS)
            survey_fix(survey, symbol.st_value);
    }
}

/* Whether symbols.c can find all symbols that the loader reads by their section. */
static bool finds_symbols(struct move_survey *survey)
{
    Elf64_Ehdr h;
    Elf64_Shdr s;
    uint64_t wanted;
    memcpy(&h, survey->data, sizeof h);
    bool found = !elf_file_dynamic(survey->file, DT_SYMTAB, &wanted);
    for (size_t i = 0; survey_section(survey, i, &s); i++) {
        if (s.sh_type != SHT_DYNSYM)
            continue;
        if (!in_file(survey, &s) || s.sh_entsize != sizeof(Elf64_Sym))
            return false;
        see_symbols(survey, &s);
        found |= s.sh_addr == wanted;
    }
    return found && survey_section(survey, h.e_shstrndx, &s) &&
           h.e_shnum < SHN_LORESERVE - SURVEY_NEW_SECTIONS;
}

void survey_addresses(struct move_survey *survey)
{
    survey->text = elf_file_section(survey->file, ".text");
    survey->addresses = survey->text && survey->file->type == ET_DYN && finds_symbols(survey);
}

/* check_addresses.c - checks that all references to a function have one address in the new file; see checker.h. */
#include <string.h>

#include "rewrite/move/checker.h"

uint64_t checker_address(const struct move_survey *survey, const struct move_result *result, uint64_t address)
{
    uint64_t to;
    return survey_follows(survey, address) && move_entry(result, address, 0, &to) ? to : address;
}

/* Whether the relocation is that of the code executed first (start.c), and no pointer. */
static bool is_start(const struct checker *c, uint64_t offset)
{
    uint64_t before, after;
    const size_t info = offsetof(Elf64_Rela, r_addend) - offsetof(Elf64_Rela, r_info);
    if (!c->plan->start_size || offset < info)
        return false;
    memcpy(&before, c->survey->data + offset - info, sizeof before);
    memcpy(&after, c->result->elf + offset - info, sizeof after);
    return before == R_X86_64_RELATIVE && after == R_X86_64_IRELATIVE;
}

static bool check_words(struct checker *c)
{
    unsigned starts = 0;
    for (size_t i = 0; i < c->survey->pointer_count; i++) {
        const struct survey_pointer *pointer = &c->survey->pointers[i];
        uint64_t value;
        memcpy(&value, c->result->elf + pointer->offset, sizeof value);
        if (value != checker_address(c->survey, c->result, pointer->value) &&
            (!is_start(c, pointer->offset) || ++starts > 1))
            return checker_fail(c, pointer->value, "a pointer in data to another function");
    }
    return true;
}

/* Checks a function that stays: its code has changed in distances alone, and refers to the same functions. */
static bool check_stayed(struct checker *c, const struct image_function *f)
{
    size_t size, capacity;
    const uint8_t *before = image_bytes(c->survey->image, f->address, &size),
                  *after = image_bytes(c->after, f->address, &capacity);
    struct code_insn a, b;
    for (uint32_t at = 0; before && after && at < f->size && at < size && at < capacity; at += a.length) {
        if (!code_read(before + at, size - at, f->address + at, &a))
            return true;
        if (a.effect != CODE_ADDRESS)
            continue;
        if (!code_read(after + at, capacity - at, f->address + at, &b) || b.effect != CODE_ADDRESS ||
            b.length != a.length || b.reg != a.reg ||
            b.memory != checker_address(c->survey, c->result, a.memory))
            return checker_fail(c, a.address, "the address of another function");
    }
    return true;
}

static bool check_code(struct checker *c)
{
    const struct functions *functions = &c->survey->image->functions;
    uint64_t to;
    for (uint32_t i = 0; i < functions->count; i++)
        if (!move_entry(c->result, functions->items[functions->items[i].owner].address, 0, &to) &&
            !check_stayed(c, &functions->items[i]))
            return false;
    return true;
}

static bool check_table(struct checker *c, const Elf64_Shdr *table)
{
    const size_t size = c->survey->size;
    if (table->sh_type != SHT_DYNSYM || table->sh_offset > size || table->sh_size > size - table->sh_offset)
        return true;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym a, b;
        memcpy(&a, c->survey->data + table->sh_offset + at, sizeof a);
        memcpy(&b, c->result->elf + table->sh_offset + at, sizeof b);
        bool defined = a.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(a.st_info) == STT_FUNC;
        if (defined && survey_follows(c->survey, a.st_value) &&
            b.st_value != checker_address(c->survey, c->result, a.st_value))
            return checker_fail(c, a.st_value, "a symbol of another function");
    }
    return true;
}

bool checker_addresses(struct checker *c)
{
    Elf64_Shdr section;
    for (size_t i = 0; survey_section(c->survey, i, &section); i++)
        if (!check_table(c, &section))
            return false;
    return check_words(c) && check_code(c);
}

/* relocations.c - walks DT_RELA, DT_JMPREL and DT_RELR; see relocations.h. */
#include "image/elf/relocations.h"

#include <string.h>

#ifndef DT_RELR /* glibc before 2.36 */
#define DT_RELRSZ 35
#define DT_RELR   36
#endif

struct walk {
    const struct elf_file *file;
    const uint8_t *symbols, *strings;
    size_t symbol_bytes, string_bytes;
    void (*see)(void *context, const struct relocation *word);
    void *context;
};

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The bytes of a table listed in the dynamic section; empty if there is none. size_tag 0: up to the segment's
 * end. */
static const uint8_t *dynamic_table(const struct elf_file *file, int64_t tag, int64_t size_tag, size_t *size)
{
    uint64_t address, wanted = UINT64_MAX;
    *size = 0;
    if (!elf_file_dynamic(file, tag, &address) || (size_tag && !elf_file_dynamic(file, size_tag, &wanted)))
        return NULL;
    return elf_file_bytes(file, address, wanted, size);
}

/* (string_bytes ends with a NUL) */
static const char *name_at(const struct walk *w, uint64_t offset)
{
    return offset < w->string_bytes && w->strings[offset] ? (const char *)w->strings + offset : NULL;
}

/* false: no such symbol. */
static bool find_symbol(const struct walk *w, uint64_t index, struct relocation *word)
{
    Elf64_Sym symbol;
    if (index >= w->symbol_bytes / sizeof symbol)
        return false;
    memcpy(&symbol, w->symbols + index * sizeof symbol, sizeof symbol);
    word->symbol = name_at(w, symbol.st_name);
    word->kind = word->symbol ? RELOCATION_SYMBOL : RELOCATION_VALUE;
    if (symbol.st_shndx == SHN_UNDEF)
        return word->symbol != NULL;
    word->value = symbol.st_value;
    if (!word->symbol && ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        word->kind = RELOCATION_RESOLVER;
    return true;
}

static void walk_table(const struct walk *w, int64_t tag, int64_t size_tag)
{
    size_t size;
    const uint8_t *bytes = dynamic_table(w->file, tag, size_tag, &size);
    for (; size >= sizeof(Elf64_Rela); bytes += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, bytes, sizeof r);
        struct relocation word = {.address = r.r_offset};
        switch (ELF64_R_TYPE(r.r_info)) {
        case R_X86_64_RELATIVE:
            word.value = (uint64_t)r.r_addend;
            break;
        case R_X86_64_IRELATIVE:
            word.kind = RELOCATION_RESOLVER;
            word.value = (uint64_t)r.r_addend;
            word.got = true;
            break;
        case R_X86_64_GLOB_DAT:
        case R_X86_64_JUMP_SLOT:
            word.got = true;
            if (!find_symbol(w, ELF64_R_SYM(r.r_info), &word))
                continue;
            break;
        case R_X86_64_64:
            if (!find_symbol(w, ELF64_R_SYM(r.r_info), &word))
                continue;
            if (r.r_addend) { /* not the symbol itself, but inside it */
                word.value += word.value ? (uint64_t)r.r_addend : 0;
                word.symbol = NULL;
                word.kind = RELOCATION_VALUE;
            }
            break;
        default:
            continue;
        }
        w->see(w->context, &word);
    }
}

static void see_word(const struct walk *w, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(w->file, address, 8, &size);
    if (bytes && size >= 8)
        w->see(w->context, &(struct relocation){.address = address, .value = word_at(bytes)});
}

/* Packed relative relocations: an even entry is the address of one word; an odd one is a bitmap of the 63
 * words after the last. */
static void walk_packed(const struct walk *w)
{
    size_t size;
    const uint8_t *bytes = dynamic_table(w->file, DT_RELR, DT_RELRSZ, &size);
    uint64_t next = 0;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t entry = word_at(bytes);
        if (entry % 2 == 0) {
            see_word(w, entry);
            next = entry + 8;
            continue;
        }
        for (unsigned i = 0; i < 63; i++)
            if (entry >> (i + 1) & 1)
                see_word(w, next + 8 * i);
        next += 63 * 8;
    }
}

static struct walk begin_walk(const struct elf_file *file)
{
    struct walk w = {.file = file};
    w.symbols = dynamic_table(file, DT_SYMTAB, 0, &w.symbol_bytes);
    w.strings = dynamic_table(file, DT_STRTAB, DT_STRSZ, &w.string_bytes);
    while (w.string_bytes && w.strings[w.string_bytes - 1])
        w.string_bytes--;
    return w;
}

bool relocations_module(const struct elf_file *file, const char *variable, uint64_t *address)
{
    const struct walk w = begin_walk(file);
    size_t size;
    const uint8_t *bytes = dynamic_table(file, DT_RELA, DT_RELASZ, &size);
    for (; size >= sizeof(Elf64_Rela); bytes += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        struct relocation word = {0};
        memcpy(&r, bytes, sizeof r);
        if (ELF64_R_TYPE(r.r_info) == R_X86_64_DTPMOD64 && find_symbol(&w, ELF64_R_SYM(r.r_info), &word) &&
            word.symbol && strcmp(word.symbol, variable) == 0) {
            *address = r.r_offset;
            return true;
        }
    }
    return false;
}

void relocations_see(const struct elf_file *file, void (*see)(void *context, const struct relocation *word),
                     void *context)
{
    struct walk w = begin_walk(file);
    w.see = see;
    w.context = context;
    walk_table(&w, DT_RELA, DT_RELASZ);
    walk_table(&w, DT_JMPREL, DT_PLTRELSZ);
    walk_packed(&w);
}

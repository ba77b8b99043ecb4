/* symbol_file.c - see symbol_file.h. The file is a shared object of nothing but symbols (System V ABI, chapter 4). */
#include "api/report/symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"

#define SPACE   2u   /* size of each symbol, bytes */
#define TEXT_AT 128u /* offset in the file, after its headers */

enum { NULL_SECTION, TEXT, SYMBOLS, STRINGS, SECTIONS };
static const char section_names[] = "\0.text\0.symtab\0.strtab";
enum { NAME_TEXT = 1, NAME_SYMBOLS = 7, NAME_STRINGS = 15 };

_Static_assert(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) <= TEXT_AT, "the headers are before the text");

/* Offsets and sizes of the file's parts. */
struct layout {
    size_t text_size, symbols, strings, strings_size, sections, size;
};

static size_t aligned(size_t offset)
{
    return (offset + 7) & ~(size_t)7;
}

static struct layout lay_out(const char *const *names, size_t count)
{
    struct layout l = {.text_size = count * SPACE, .strings_size = sizeof section_names};
    for (size_t i = 0; i < count; i++)
        l.strings_size += strlen(names[i]) + 1;
    l.symbols = aligned(TEXT_AT + l.text_size);
    l.strings = l.symbols + (1 + count) * sizeof(Elf64_Sym);
    l.sections = aligned(l.strings + l.strings_size);
    l.size = l.sections + SECTIONS * sizeof(Elf64_Shdr);
    return l;
}

static void put_headers(uint8_t *file, const struct layout *l)
{
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_shoff = l->sections,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = STRINGS};
    const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_filesz = TEXT_AT + l->text_size,
                                .p_memsz = TEXT_AT + l->text_size,
                                .p_align = 4096};
    const Elf64_Shdr sections[SECTIONS] = {
        [TEXT] = {NAME_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_AT, TEXT_AT, l->text_size, 0, 0,
                  SPACE, 0},
        [SYMBOLS] = {NAME_SYMBOLS, SHT_SYMTAB, 0, 0, l->symbols, l->strings - l->symbols, STRINGS, 1, 8,
                     sizeof(Elf64_Sym)},
        [STRINGS] = {NAME_STRINGS, SHT_STRTAB, 0, 0, l->strings, l->strings_size, 0, 0, 1, 0}};
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, &segment, sizeof segment);
    memcpy(file + l->sections, sections, sizeof sections);
}

static void put_symbols(uint8_t *file, const struct layout *l, const char *const *names, size_t count)
{
    size_t used = sizeof section_names;
    memcpy(file + l->strings, section_names, sizeof section_names);
    for (size_t i = 0; i < count; i++) {
        const Elf64_Sym symbol = {.st_name = (Elf64_Word)used,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = TEXT,
                                  .st_value = TEXT_AT + i * SPACE,
                                  .st_size = SPACE};
        memcpy(file + l->symbols + (1 + i) * sizeof symbol, &symbol, sizeof symbol);
        strcpy((char *)file + l->strings + used, names[i]);
        used += strlen(names[i]) + 1;
    }
}

size_t symbol_room_count(const struct symbol_room *room)
{
    return (room->size - TEXT_AT) / SPACE;
}

int symbol_file_write(const char *path, const char *const *names, size_t count, struct fathom_error *err)
{
    const struct layout l = lay_out(names, count);
    struct outfile *out = NULL;
    uint8_t *file = calloc(1, l.size);
    if (!file)
        return error_memory(err);
    put_headers(file, &l);
    put_symbols(file, &l, names, count);
    int rc = outfile_open(path, &out, err);
    if (rc == 0)
        rc = outfile_put(out, file, l.size, err);
    outfile_close(out);
    free(file);
    return rc;
}

struct record symbol_file_mapping(const struct symbol_room *room, const char *path, uint32_t pid,
                                  uint64_t time)
{
    return (struct record){
        .kind = RECORD_MMAP,
        .type = PERF_RECORD_MMAP2,
        .pid = pid,
        .tid = pid,
        .time = time,
        .mmap = {.address = room->at, .length = room->size, .executable = true, .path = path}};
}

uint64_t symbol_file_address(const struct symbol_room *room, size_t number)
{
    return room->at + TEXT_AT + number * SPACE + 1;
}

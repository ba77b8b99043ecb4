/* certainty.c - see certainty.h. The file is a shared object of nothing but symbols (System V ABI, chapter 4). */
#include "api/report/certainty.h"

#include <elf.h>
#include <stddef.h>

#include "base/outfile.h"

#define MAPPED_AT   0x2000
#define MAPPED_SIZE 0x1000
#define SPACE       16 /* bytes that each symbol seems to have */

enum { INFERRED, UNKNOWN, LABELS };
enum { NULL_SECTION, TEXT, SYMBOLS, NAMES, SECTIONS };
enum { NAME_NONE, NAME_LABEL, NAME_TEXT = NAME_LABEL + LABELS, NAME_SYMBOLS, NAME_NAMES, NAME_COUNT };

struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t text[LABELS][SPACE];
    Elf64_Sym symbols[1 + LABELS];
    char names[NAME_COUNT][24];
    Elf64_Shdr sections[SECTIONS];
};

_Static_assert(sizeof(struct file) <= MAPPED_SIZE, "all of it is mapped, from its start on");

#define NAME(number) ((number) * sizeof((struct file *)0)->names[0])
#define PLACE(member)                                                                                        \
    offsetof(struct file, member), offsetof(struct file, member), sizeof((struct file *)0)->member
#define SYMBOL(label)                                                                                        \
    {                                                                                                        \
        .st_name = NAME(NAME_LABEL + (label)), .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),               \
        .st_shndx = TEXT, .st_value = offsetof(struct file, text[label]), .st_size = SPACE                   \
    }

static const struct file file = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_DYN,
               .e_machine = EM_X86_64,
               .e_version = EV_CURRENT,
               .e_phoff = offsetof(struct file, segment),
               .e_shoff = offsetof(struct file, sections),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1,
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = SECTIONS,
               .e_shstrndx = NAMES},
    .segment = {.p_type = PT_LOAD,
                .p_flags = PF_R | PF_X,
                .p_filesz = sizeof(struct file),
                .p_memsz = sizeof(struct file),
                .p_align = MAPPED_SIZE},
    .symbols = {{0}, SYMBOL(INFERRED), SYMBOL(UNKNOWN)},
    .names = {"", "[inferred]", "[unknown context]", ".text", ".symtab", ".strtab"},
    .sections = {{0},
                 {NAME(NAME_TEXT), SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PLACE(text), 0, 0, SPACE, 0},
                 {NAME(NAME_SYMBOLS), SHT_SYMTAB, 0, PLACE(symbols), NAMES, 1, 8, sizeof(Elf64_Sym)},
                 {NAME(NAME_NAMES), SHT_STRTAB, 0, PLACE(names), 0, 0, 1, 0}},
};

int certainty_write(const char *path, struct fathom_error *err)
{
    struct outfile *out = NULL;
    int rc = outfile_open(path, &out, err);
    if (rc == 0)
        rc = outfile_put(out, &file, sizeof file, err);
    outfile_close(out);
    return rc;
}

struct record certainty_mapping(const char *path, uint32_t pid, uint64_t time)
{
    return (struct record){
        .kind = RECORD_MMAP,
        .type = PERF_RECORD_MMAP2,
        .pid = pid,
        .tid = pid,
        .time = time,
        .mmap = {.address = MAPPED_AT, .length = MAPPED_SIZE, .executable = true, .path = path}};
}

uint64_t certainty_address(enum certainty certainty)
{
    static const uint8_t labels[] = {
        [CERTAINTY_PROVED] = LABELS, [CERTAINTY_INFERRED] = INFERRED, [CERTAINTY_UNKNOWN] = UNKNOWN};
    unsigned label = labels[certainty];
    return label == LABELS ? 0 : MAPPED_AT + offsetof(struct file, text) + label * SPACE + 1;
}

/*
 * symbols.h - the function symbols of an ELF file's .symtab and .dynsym. Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_SYMBOLS_H
#define FATHOM_IMAGE_ELF_SYMBOLS_H

#include "image/elf/elf_file.h"

struct symbol {
    uint64_t address, size; /* size may be 0: unknown. The first byte is code of the image */
    const char *name;       /* never empty; borrowed from the file */
    uint32_t file;          /* number of a local symbol's source file; 0: unknown */
    bool local;
    bool resolver; /* STT_GNU_IFUNC: it chooses the function when the program starts */
    bool typed;    /* STT_FUNC or STT_GNU_IFUNC; otherwise a hand-written label (STT_NOTYPE) */
};

struct symbols {
    struct symbol *items;
    size_t count, capacity;
    uint32_t files; /* last file number assigned */
};

/* Adds the symbols of `file` whose addresses are code of `image` (the same file, or the one whose debug
 * information is in `file`). 0 or -ENOMEM. */
int symbols_read(struct symbols *symbols, const struct elf_file *file, const struct elf_file *image);
/* Whether .dynsym defines a symbol of any kind whose name begins like this. */
bool symbols_any(const struct elf_file *file, const char *prefix);
/* The value of a symbol defined in .dynsym. */
bool symbols_value(const struct elf_file *file, const char *name, uint64_t *value);
/* A name in a string table of `size` bytes; NULL: empty, or not NUL-terminated inside of it. */
const char *symbol_string(const uint8_t *strings, size_t size, uint32_t offset);
int symbols_add(struct symbols *symbols, const struct symbol *symbol);
/* Sorts by address; among equal addresses the best name comes first. */
void symbols_sort(struct symbols *symbols);
void symbols_free(struct symbols *symbols);

#endif

/* symbols.c - see symbols.h. System V ABI, chapter 4, "Symbol Table". */
#include "image/elf/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"

int symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
    return vec_push(symbols->items, symbols->count, symbols->capacity, *symbol) ? 0 : -ENOMEM;
}

const char *symbol_string(const uint8_t *strings, size_t size, uint32_t offset)
{
    if (offset >= size || strings[offset] == 0 || !memchr(strings + offset, 0, size - offset))
        return NULL;
    return (const char *)strings + offset;
}

static bool is_wanted(const Elf64_Sym *sym, const struct elf_file *image)
{
    unsigned type = ELF64_ST_TYPE(sym->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
           elf_file_is_code(image, sym->st_value, 0);
}

static int read_table(struct symbols *symbols, const struct elf_file *file, const struct elf_section *table,
                      const struct elf_file *image)
{
    size_t size, string_size;
    const uint8_t *at = elf_section_bytes(file, table, &size);
    if (table->link >= file->section_count)
        return 0;
    const uint8_t *strings = elf_section_bytes(file, &file->sections[table->link], &string_size);
    uint32_t source = 0;
    for (; size >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym), size -= sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, at, sizeof sym);
        if (ELF64_ST_TYPE(sym.st_info) == STT_FILE) {
            /* ld puts an empty one before the hidden symbols that it made local, which can be of any file */
            source = symbol_string(strings, string_size, sym.st_name) ? ++symbols->files : 0;
            continue;
        }
        if (!is_wanted(&sym, image))
            continue;
        const char *name = symbol_string(strings, string_size, sym.st_name);
        if (!name)
            continue;
        bool local = ELF64_ST_BIND(sym.st_info) == STB_LOCAL;
        struct symbol symbol = {.address = sym.st_value,
                                .size = sym.st_size,
                                .name = name,
                                .file = local ? source : 0,
                                .local = local,
                                .resolver = ELF64_ST_TYPE(sym.st_info) == STT_GNU_IFUNC,
                                .typed = ELF64_ST_TYPE(sym.st_info) != STT_NOTYPE};
        if (symbols_add(symbols, &symbol) < 0)
            return -ENOMEM;
    }
    return 0;
}

int symbols_read(struct symbols *symbols, const struct elf_file *file, const struct elf_file *image)
{
    for (size_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if ((s->type == SHT_SYMTAB || s->type == SHT_DYNSYM) && read_table(symbols, file, s, image) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Whether the table defines a symbol whose name begins with these `length` bytes. */
static bool defines_symbol(const struct elf_file *file, const struct elf_section *table, const char *begin,
                           size_t length, uint64_t *value)
{
    size_t size, string_size;
    const uint8_t *at = elf_section_bytes(file, table, &size);
    if (table->link >= file->section_count)
        return false;
    const uint8_t *strings = elf_section_bytes(file, &file->sections[table->link], &string_size);
    for (; size >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym), size -= sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, at, sizeof sym);
        if (sym.st_shndx != SHN_UNDEF && sym.st_name < string_size && string_size - sym.st_name >= length &&
            memcmp(strings + sym.st_name, begin, length) == 0) {
            *value = sym.st_value;
            return true;
        }
    }
    return false;
}

/* The same in .dynsym. */
static bool exports_symbol(const struct elf_file *file, const char *begin, size_t length, uint64_t *value)
{
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == SHT_DYNSYM &&
            defines_symbol(file, &file->sections[i], begin, length, value))
            return true;
    return false;
}

bool symbols_any(const struct elf_file *file, const char *prefix)
{
    uint64_t value;
    return exports_symbol(file, prefix, strlen(prefix), &value);
}

bool symbols_value(const struct elf_file *file, const char *name, uint64_t *value)
{
    return exports_symbol(file, name, strlen(name) + 1, value);
}

/* Number of leading underscores of an unmangled name: __read is read's private alias. */
static size_t count_underscores(const char *name)
{
    size_t n = strspn(name, "_");
    return n == 1 && name[1] == 'Z' ? 0 : n;
}

/* Orders symbols of one address by how well they name the function. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->typed != y->typed)
        return x->typed ? -1 : 1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    size_t m = count_underscores(x->name), n = count_underscores(y->name);
    if (m != n)
        return m < n ? -1 : 1;
    m = strlen(x->name);
    n = strlen(y->name);
    if (m != n)
        return m < n ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order == 0 && x->size != y->size)
        order = x->size > y->size ? -1 : 1;
    return order ? order : (x->file > y->file) - (x->file < y->file);
}

void symbols_sort(struct symbols *symbols)
{
    struct symbol *items = symbols->items;
    sort_by(items, symbols->count, address);
    for (size_t first = 0, next; first < symbols->count; first = next) {
        next = first + 1;
        while (next < symbols->count && items[next].address == items[first].address)
            next++;
        if (next - first > 1)
            qsort(items + first, next - first, sizeof *items, compare_symbols);
    }
}

void symbols_free(struct symbols *symbols)
{
    free(symbols->items);
    *symbols = (struct symbols){0};
}

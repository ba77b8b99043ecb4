/* exports.c - the functions that an image exports, by name; see calls.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/search.h"
#include "image/calls/private.h"

static uint64_t hash_of(const char *name)
{
    return checksum_of(name, strlen(name));
}

static int by_hash(const void *a, const void *b)
{
    const struct exported *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->function > y->function) - (x->function < y->function);
}

/* (the strings end with a NUL) */
static const char *name_at(const uint8_t *strings, size_t size, uint32_t offset)
{
    return offset < size && strings[offset] ? (const char *)strings + offset : NULL;
}

/* New programs do not bind to a symbol of an old version. */
static bool is_hidden(const uint8_t *versions, size_t size, size_t index)
{
    uint16_t version;
    if (index >= size / sizeof version)
        return false;
    memcpy(&version, versions + index * sizeof version, sizeof version);
    return version & 0x8000;
}

static int read_symbols(struct calls *calls, const struct elf_section *table)
{
    const struct elf_file *file = &calls->image->file;
    size_t size, string_size = 0, version_size = 0;
    const uint8_t *symbols = elf_section_bytes(file, table, &size), *versions = NULL;
    if (table->link >= file->section_count)
        return 0;
    const uint8_t *strings = elf_section_bytes(file, &file->sections[table->link], &string_size);
    while (string_size && strings[string_size - 1])
        string_size--;
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == SHT_GNU_versym)
            versions = elf_section_bytes(file, &file->sections[i], &version_size);
    size_t count = size / sizeof(Elf64_Sym);
    calls->exports = malloc((count + 1) * sizeof *calls->exports);
    if (!calls->exports)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
            is_hidden(versions, version_size, i))
            continue;
        const char *name = name_at(strings, string_size, symbol.st_name);
        uint32_t f = image_function_entry(calls->image, symbol.st_value);
        if (name && f != IMAGE_NO_FUNCTION)
            calls->exports[calls->export_count++] =
                (struct exported){hash_of(name), name, f, type == STT_GNU_IFUNC};
    }
    return 0;
}

int calls_build_exports(struct calls *calls)
{
    const struct elf_file *file = &calls->image->file;
    for (size_t i = 0; i < file->section_count; i++) {
        if (file->sections[i].type != SHT_DYNSYM)
            continue;
        if (read_symbols(calls, &file->sections[i]) < 0)
            return -ENOMEM;
        break;
    }
    if (calls->export_count)
        qsort(calls->exports, calls->export_count, sizeof *calls->exports, by_hash);
    return 0;
}

uint32_t calls_export(const struct calls *calls, const char *symbol, bool *resolver)
{
    uint64_t hash = hash_of(symbol);
    const struct exported *all = calls->exports;
    size_t i = lower_bound(k, 0, calls->export_count, all[k].hash < hash);
    while (i < calls->export_count && all[i].hash == hash && strcmp(all[i].name, symbol) != 0)
        i++;
    if (i == calls->export_count || all[i].hash != hash)
        return IMAGE_NO_FUNCTION;
    *resolver = all[i].resolver;
    return all[i].function;
}

bool image_exports(const struct image *image, const char *symbol)
{
    struct calls calls = {.image = image};
    bool resolver;
    bool found =
        calls_build_exports(&calls) == 0 && calls_export(&calls, symbol, &resolver) != IMAGE_NO_FUNCTION;
    free(calls.exports);
    return found;
}

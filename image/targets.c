/* targets.c - the addresses of code that an image keeps in its data; see image_targets() in image.h. */
#include <errno.h>
#include <string.h>

#include "image/image_private.h"
#include "image/landing_pads.h"
#include "image/symbols.h"

#ifndef DT_RELR /* glibc before 2.36 */
#define DT_RELRSZ 35
#define DT_RELR   36
#endif

struct seer {
    const struct elf_file *file;
    void (*see)(void *context, uint64_t address);
    void *context;
};

static void see_code(void *context, uint64_t address)
{
    const struct seer *s = context;
    if (elf_file_is_code(s->file, address, 1))
        s->see(s->context, address);
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The bytes of a table that the dynamic section tells of; empty where there is none. */
static const uint8_t *dynamic_table(const struct elf_file *file, int64_t tag, int64_t size_tag, size_t *size)
{
    uint64_t address, wanted;
    *size = 0;
    if (!elf_file_dynamic(file, tag, &address) || !elf_file_dynamic(file, size_tag, &wanted))
        return NULL;
    const uint8_t *bytes = elf_file_bytes(file, address, size);
    if (*size > wanted)
        *size = wanted;
    return bytes;
}

static uint64_t symbol_value(const struct elf_file *file, uint64_t index)
{
    uint64_t address;
    size_t size;
    Elf64_Sym sym;
    if (!elf_file_dynamic(file, DT_SYMTAB, &address))
        return 0;
    const uint8_t *bytes = elf_file_bytes(file, address, &size);
    if (!bytes || index >= size / sizeof sym)
        return 0;
    memcpy(&sym, bytes + index * sizeof sym, sizeof sym);
    return sym.st_value;
}

static void see_relocations(struct seer *s, int64_t tag, int64_t size_tag)
{
    size_t size;
    const uint8_t *bytes = dynamic_table(s->file, tag, size_tag, &size);
    for (; size >= sizeof(Elf64_Rela); bytes += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, bytes, sizeof r);
        uint64_t symbol = ELF64_R_SYM(r.r_info);
        uint64_t value = symbol ? symbol_value(s->file, symbol) : 0;
        see_code(s, value + (uint64_t)r.r_addend);
    }
}

static void see_word(struct seer *s, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = elf_file_bytes(s->file, address, &size);
    if (bytes && size >= 8)
        see_code(s, word_at(bytes));
}

/* Packed relative relocations (generic ABI, SHT_RELR): an even entry is the address of one word; an odd one
 * is a bitmap of the 63 words after the last. */
static void see_packed(struct seer *s)
{
    size_t size;
    const uint8_t *bytes = dynamic_table(s->file, DT_RELR, DT_RELRSZ, &size);
    uint64_t next = 0;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t entry = word_at(bytes);
        if (entry % 2 == 0) {
            see_word(s, entry);
            next = entry + 8;
            continue;
        }
        for (unsigned i = 0; i < 63; i++)
            if (entry >> (i + 1) & 1)
                see_word(s, next + 8 * i);
        next += 63 * 8;
    }
}

/* A program that is not relocated has pointers that nothing tells of. */
static void see_data(struct seer *s)
{
    for (size_t i = 0; i < s->file->segment_count; i++) {
        const struct elf_segment *segment = &s->file->segments[i];
        size_t size;
        const uint8_t *bytes = elf_file_bytes(s->file, segment->address, &size);
        if (segment->executable || !bytes)
            continue;
        for (size_t at = -segment->address % 8; at + 8 <= size; at += 8)
            see_code(s, word_at(bytes + at));
    }
}

int image_targets(const struct image *image, void (*see)(void *context, uint64_t address), void *context)
{
    struct seer s = {&image->file, see, context};
    struct symbols symbols = {0};
    int rc = symbols_read(&symbols, &image->file, &image->file);
    for (size_t i = 0; i < symbols.count && rc == 0; i++)
        see_code(&s, symbols.items[i].address);
    symbols_free(&symbols);
    if (rc < 0)
        return rc;
    see_relocations(&s, DT_RELA, DT_RELASZ);
    see_relocations(&s, DT_JMPREL, DT_PLTRELSZ);
    see_packed(&s);
    if (image->file.type == ET_EXEC)
        see_data(&s);
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(image->cfi, &ranges);
    for (size_t i = 0; i < count; i++)
        landing_pads_see(&image->file, &ranges[i], see_code, &s);
    return 0;
}

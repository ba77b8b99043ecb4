/* appended.c - see appended.h. */
#include "rewrite/move/appended.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

struct extent {
    const uint8_t *elf;
    size_t size;
    uint64_t end; /* end of the known contents */
};

static void cover_bytes(struct extent *e, uint64_t offset, uint64_t length)
{
    uint64_t end;
    if (!__builtin_add_overflow(offset, length, &end) && end > e->end && end <= e->size)
        e->end = end;
}

/* Reads the header with this number in a table; false: it is outside of the file. */
static bool read_header(const struct extent *e, uint64_t table, uint64_t number, void *header, size_t length)
{
    uint64_t at;
    if (__builtin_add_overflow(table, number * length, &at) || at > e->size || length > e->size - at)
        return false;
    memcpy(header, e->elf + at, length);
    return true;
}

size_t appended_bytes(const void *elf, size_t size)
{
    struct extent e = {elf, size, sizeof(Elf64_Ehdr)};
    Elf64_Ehdr h;
    Elf64_Phdr segment;
    Elf64_Shdr section;
    if (size < sizeof h || memcmp(elf, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&h, elf, sizeof h);
    uint64_t sections = h.e_shnum;
    if (!sections && h.e_shoff && read_header(&e, h.e_shoff, 0, &section, sizeof section))
        sections = section.sh_size; /* the number does not fit into the header: gABI, "Section Header" */
    for (uint32_t i = 0; i < h.e_phnum && read_header(&e, h.e_phoff, i, &segment, sizeof segment); i++) {
        cover_bytes(&e, h.e_phoff + i * sizeof segment, sizeof segment);
        cover_bytes(&e, segment.p_offset, segment.p_filesz);
    }
    for (uint64_t i = 0; i < sections && read_header(&e, h.e_shoff, i, &section, sizeof section); i++) {
        cover_bytes(&e, h.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS)
            cover_bytes(&e, section.sh_offset, section.sh_size);
    }
    for (size_t i = (size_t)e.end; i < size; i++)
        if (e.elf[i])
            return size - (size_t)e.end;
    return 0;
}

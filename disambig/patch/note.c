/*
 * note.c - finds the descriptor of NT_GNU_BUILD_ID, as image/elf/elf_file.c does (LSB note format), and writes another;
 * see note.h. The new id is XXH3 of the file (128 bits, then further bits with other seeds), in which the id is 0.
 */
#include "disambig/patch/note.h"

#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "image/image_private.h"

#define NOTES_MOST 65536u /* bytes searched in one place, as in elf_file.c */

static struct note_place find_in(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    struct note_place none = {0, 0};
    if (offset > file->size || size > file->size - offset)
        return none;
    struct bytes b = bytes_of(file->data + offset, size < NOTES_MOST ? size : NOTES_MOST);
    while (bytes_left(&b) >= sizeof(Elf64_Nhdr)) {
        uint32_t name_size = bytes_u32(&b), desc_size = bytes_u32(&b), type = bytes_u32(&b);
        const uint8_t *name = bytes_take(&b, name_size);
        bytes_take(&b, -(uint64_t)name_size & 3);
        const uint8_t *desc = bytes_take(&b, desc_size);
        if (b.failed)
            return none;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && desc_size > 0)
            return (struct note_place){(uint64_t)(desc - file->data), desc_size};
        bytes_take(&b, -(uint64_t)desc_size & 3);
    }
    return none;
}

struct note_place note_find(const struct image *image)
{
    const struct elf_file *file = &image->file;
    struct note_place found = {0, 0};
    Elf64_Ehdr header;
    memcpy(&header, file->data, sizeof header); /* an image has one */
    for (uint32_t i = 0; i < header.e_phnum && found.size == 0; i++) {
        uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;
        if (at > file->size || sizeof segment > file->size - at)
            break;
        memcpy(&segment, file->data + at, sizeof segment);
        if (segment.p_type == PT_NOTE)
            found = find_in(file, segment.p_offset, segment.p_filesz);
    }
    for (size_t i = 0; i < file->section_count && found.size == 0; i++)
        if (file->sections[i].type == SHT_NOTE)
            found = find_in(file, file->sections[i].offset, file->sections[i].file_size);
    return found;
}

void note_renew(uint8_t *data, size_t size, struct note_place place)
{
    uint8_t *id = data + place.offset;
    memset(id, 0, place.size);
    uint8_t made[BUILD_ID_MAX + sizeof(XXH128_canonical_t)];
    size_t count = 0;
    for (uint64_t seed = 0; count < place.size && count < BUILD_ID_MAX; seed++) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(data, size, seed));
        memcpy(made + count, &canonical, sizeof canonical);
        count += sizeof canonical;
    }
    memcpy(id, made, place.size < BUILD_ID_MAX ? place.size : BUILD_ID_MAX);
}

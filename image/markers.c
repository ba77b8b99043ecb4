/* markers.c - reads .note.stapsdt; see markers.h. */
#include "image/markers.h"

#include <string.h>

#include "base/bytes.h"

#define NOTE_TYPE 3 /* NT_STAPSDT */

static uint64_t padded(uint32_t size)
{
    return ((uint64_t)size + 3) & ~UINT64_C(3);
}

/* Prelink moves the section .stapsdt.base with the code, and does not know of the notes. */
static bool read_marker(struct bytes *b, const struct elf_file *file, uint64_t base, struct marker *out)
{
    out->note = (uint64_t)(b->at - file->data);
    out->address = bytes_u64(b);
    const uint64_t linked = bytes_u64(b), moved = base && linked ? base - linked : 0;
    out->address += moved;
    out->semaphore = bytes_u64(b);
    out->semaphore += out->semaphore ? moved : 0;
    out->provider = bytes_string(b);
    out->name = bytes_string(b);
    out->arguments = bytes_string(b);
    return !b->failed;
}

int markers_see(const struct elf_file *file, marker_see *see, void *context)
{
    size_t size;
    const uint8_t *data = elf_section_bytes(file, elf_file_section(file, ".note.stapsdt"), &size);
    const struct elf_section *base = elf_file_section(file, ".stapsdt.base");
    struct bytes b = bytes_of(data, size);
    int rc = 0;
    while (rc == 0 && bytes_left(&b) >= sizeof(Elf64_Nhdr)) {
        const uint32_t name_size = bytes_u32(&b), desc_size = bytes_u32(&b), type = bytes_u32(&b);
        bytes_take(&b, padded(name_size));
        const uint8_t *desc = bytes_take(&b, padded(desc_size));
        struct bytes in = bytes_of(desc, desc ? desc_size : 0);
        struct marker marker;
        if (!desc)
            break;
        if (type == NOTE_TYPE && read_marker(&in, file, base ? base->address : 0, &marker))
            rc = see(context, &marker);
    }
    return rc;
}

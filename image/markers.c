/* markers.c - reads .note.stapsdt; see markers.h. */
#include "image/markers.h"

#include "image/elf/note.h"

#define NOTE_TYPE 3 /* NT_STAPSDT */

/* Reads a note. Prelink moves the section .stapsdt.base with the code, but does not update the notes. */
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
    for (struct elf_note note; rc == 0 && elf_note_next(&b, &note);) {
        struct bytes in = bytes_of(note.data, note.size);
        struct marker marker;
        if (note.type == NOTE_TYPE && read_marker(&in, file, base ? base->address : 0, &marker))
            rc = see(context, &marker);
    }
    return rc;
}

/*
 * note.h - ELF notes, one after the other (elf(5), "Notes"): name and data of each are padded to 4 bytes, those of the last may lack that.
 */
#ifndef FATHOM_IMAGE_ELF_NOTE_H
#define FATHOM_IMAGE_ELF_NOTE_H

#include <elf.h>
#include <string.h>

#include "base/bytes.h"

struct elf_note {
    uint32_t name_size, size, type;
    const uint8_t *name, *data; /* in the input */
};

/* false: there are no more, or they are damaged. */
static inline bool elf_note_next(struct bytes *notes, struct elf_note *out)
{
    out->name_size = bytes_u32(notes);
    out->size = bytes_u32(notes);
    out->type = bytes_u32(notes);
    out->name = bytes_take(notes, out->name_size);
    bytes_take(notes, -(uint64_t)out->name_size & 3);
    out->data = bytes_take(notes, out->size);
    const bool found = !notes->failed;
    bytes_take(notes, -(uint64_t)out->size & 3);
    return found;
}

static inline bool elf_note_is(const struct elf_note *note, const char *name, uint32_t type)
{
    return note->type == type && note->name_size == strlen(name) + 1 &&
           memcmp(note->name, name, note->name_size) == 0;
}

#endif

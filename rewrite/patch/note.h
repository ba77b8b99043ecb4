/* note.h - where in an ELF file its build-id is. Private to rewrite/. */
#ifndef FATHOM_REWRITE_PATCH_NOTE_H
#define FATHOM_REWRITE_PATCH_NOTE_H

#include "image/image.h"

struct note_place {
    uint64_t offset; /* in the file, bytes */
    uint32_t size;   /* bytes; 0: it has none */
};

struct note_place note_find(const struct image *image);
/* Replaces the file's id by one of its own: a hash of all other bytes. */
void note_renew(uint8_t *data, size_t size, struct note_place place);

#endif

/*
 * relocations.h - the words of an image that the loader fills with addresses (x86-64 psABI, section 4.4;
 * generic ABI, SHT_RELR). Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_RELOCATIONS_H
#define FATHOM_IMAGE_ELF_RELOCATIONS_H

#include "image/elf/elf_file.h"

enum relocation_kind {
    RELOCATION_VALUE,    /* an address inside of the image */
    RELOCATION_SYMBOL,   /* a dynamic symbol's: the image's own definition may be replaced by another's */
    RELOCATION_RESOLVER, /* what the resolver at this address chooses (STT_GNU_IFUNC) */
};

struct relocation {
    uint64_t address;   /* of the word */
    uint64_t value;     /* VALUE, RESOLVER; SYMBOL: its definition in the image, 0 for none */
    const char *symbol; /* NULL for none; owned by the file */
    uint8_t kind;       /* enum relocation_kind */
    bool got;           /* a slot of the GOT, which code reads for itself */
};

/* Calls see() for each, as the dynamic section tells them; bounded by the file's size. */
void relocations_see(const struct elf_file *file, void (*see)(void *context, const struct relocation *word),
                     void *context);

#endif

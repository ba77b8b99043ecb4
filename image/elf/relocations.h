/*
 * relocations.h - the words of an image that the loader relocates (x86-64 psABI, section 4.4; generic ABI,
 * SHT_RELR). Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_RELOCATIONS_H
#define FATHOM_IMAGE_ELF_RELOCATIONS_H

#include "image/elf/elf_file.h"

enum relocation_kind {
    RELOCATION_VALUE,    /* an address inside the image */
    RELOCATION_SYMBOL,   /* a dynamic symbol's address: the image's own definition may be interposed */
    RELOCATION_RESOLVER, /* the choice of the resolver at this address (STT_GNU_IFUNC) */
};

struct relocation {
    uint64_t address;   /* of the word */
    uint64_t value;     /* VALUE, RESOLVER; SYMBOL: its definition in the image, 0: none */
    const char *symbol; /* NULL: none; owned by the file */
    uint8_t kind;       /* enum relocation_kind */
    bool got;           /* a slot of the GOT, which the code itself reads */
};

/* Calls see() for each relocation in the dynamic section; bounded by the file's size. */
void relocations_see(const struct elf_file *file, void (*see)(void *context, const struct relocation *word),
                     void *context);

/* The slot for __tls_get_addr() in which the loader stores the number of the image's block of thread-local
 * variables, followed by this variable's offset in it (psABI, R_X86_64_DTPMOD64). false: none. O(relocations). */
bool relocations_module(const struct elf_file *file, const char *variable, uint64_t *address);

#endif

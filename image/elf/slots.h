/*
 * slots.h - the words of an image's data that contain addresses at run time, indexed by their own address:
 * GOT entries, vtables, function tables. Private to image/.
 *
 * Found from the relocations and, in a program at a fixed address, which has none for its own addresses, from
 * all aligned data words that look like code addresses.
 */
#ifndef FATHOM_IMAGE_ELF_SLOTS_H
#define FATHOM_IMAGE_ELF_SLOTS_H

#include "image/elf/relocations.h"

struct slots {
    struct relocation *items; /* by address, one each */
    size_t count, capacity;
    const struct elf_file *file;
};

int slots_build(const struct elf_file *file, struct slots *out); /* 0 or -ENOMEM */
void slots_free(struct slots *slots);
/* The address in a word; 0: none. Zeroed slots are built at the first call; out of memory: there are none. */
uint64_t slots_value(struct slots *slots, const struct elf_file *file, uint64_t address);
/* NULL: no such word. */
const struct relocation *slots_find(const struct slots *slots, uint64_t address);

#endif

/*
 * elf_image.h - reads an image's headers in memory.
 */
#ifndef FATHOM_PATHMAP_PROBE_ELF_IMAGE_H
#define FATHOM_PATHMAP_PROBE_ELF_IMAGE_H

#include "pathmap/probe/patch.h"

#define ELF_IMAGE_PATH 4096

struct elf_image {
    struct patch_target place;
    bool relocated_code; /* has relocations in its code (DT_TEXTREL) */
    uint32_t build_id_size;
    uint8_t build_id[20];
    char path[ELF_IMAGE_PATH]; /* as in /proc/self/maps; "" or without a leading '/': not a file */
};

/* Finds the image whose dynamic section is in memory at `dynamic`. NULL, or the reason why it cannot be read;
 * path is then set if it is known. */
const char *elf_image_read(struct elf_image *out, uint64_t bias, uint64_t dynamic);

#endif

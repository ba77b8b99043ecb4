/*
 * frames.h - finds .eh_frame and reads its CIEs and FDEs (LSB 5.0 core, section 10.6). Private to image/ and
 * rewrite/.
 */
#ifndef FATHOM_IMAGE_CFI_FRAMES_H
#define FATHOM_IMAGE_CFI_FRAMES_H

#include "image/cfi/machine.h"
#include "image/elf/elf_file.h"

struct cfi_cie {
    bool bad;
    bool augmented; /* FDEs have an augmentation length */
    uint8_t fde_encoding, lsda_encoding;
    uint64_t code_alignment;
    int64_t data_alignment;
    struct cfi_rules initial;
    struct bytes code; /* its initial instructions */
};

struct cfi_fde {
    uint64_t address, lsda;
    uint32_t size; /* bytes; never 0; the range is code of the file */
    uint32_t cie;  /* index */
    struct bytes code;
};

struct cfi_frames {
    struct cfi_cie *cies;
    size_t cie_count, cie_capacity;
    struct cfi_fde *fdes; /* ascending by address, not overlapping */
    size_t fde_count, fde_capacity;
    uint32_t bad; /* skipped FDEs */
    struct pointer_bases bases;
};

/* Without .eh_frame there are no FDEs. 0 or -ENOMEM. */
int cfi_frames_read(const struct elf_file *file, struct cfi_frames *out);
void cfi_frames_free(struct cfi_frames *frames);
/* The machine's state before the instructions of one of the FDEs. */
struct cfi_machine cfi_machine_at(const struct cfi_frames *frames, const struct cfi_fde *fde);
/* The rules of all registers at an address; false: no FDE covers it, or its instructions are damaged. */
bool cfi_frames_registers(const struct cfi_frames *frames, uint64_t address, struct cfi_registers *out);

#endif

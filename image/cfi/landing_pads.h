/* landing_pads.h - finds landing pads of exceptions, by the call-site tables of C++ and similar languages.
 * Private to image/ and rewrite/. */
#ifndef FATHOM_IMAGE_CFI_LANDING_PADS_H
#define FATHOM_IMAGE_CFI_LANDING_PADS_H

#include "image/cfi/cfi.h"
#include "image/elf/elf_file.h"

/* Calls see() for each landing pad of one FDE's range. A damaged table is read up to the damage. */
void landing_pads_see(const struct elf_file *file, const struct cfi_range *range,
                      void (*see)(void *context, uint64_t address), void *context);

/* Calls see() for each entry of the table, in its order: calls in [start, end) continue at the landing pad if they
 * throw; 0: at none. false: there is a table, but it is damaged. */
bool landing_pads_see_calls(const struct elf_file *file, const struct cfi_range *range,
                            void (*see)(void *context, uint64_t start, uint64_t end, uint64_t pad),
                            void *context);
/* The same for all FDEs that begin in [start, end). Returns the address of the first one with a damaged table; 0:
 * none. */
uint64_t landing_pads_see_part(const struct elf_file *file, const struct cfi *cfi, uint64_t start,
                               uint64_t end,
                               void (*see)(void *context, uint64_t start, uint64_t end, uint64_t pad),
                               void *context);

#endif

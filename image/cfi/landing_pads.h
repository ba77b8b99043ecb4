/* landing_pads.h - finds where exceptions land, by the call-site tables of C++ and similar languages. Private
 * to image/. */
#ifndef FATHOM_IMAGE_CFI_LANDING_PADS_H
#define FATHOM_IMAGE_CFI_LANDING_PADS_H

#include "image/cfi/cfi.h"
#include "image/elf/elf_file.h"

/* Calls see() for each landing pad of one FDE's range. A damaged table is read up to the damage. */
void landing_pads_see(const struct elf_file *file, const struct cfi_range *range,
                      void (*see)(void *context, uint64_t address), void *context);

#endif

/* table.h - builds an image's CFI table; see cfi.h for its contents. Private to image/. */
#ifndef FATHOM_IMAGE_CFI_TABLE_H
#define FATHOM_IMAGE_CFI_TABLE_H

#include "image/cfi/cfi.h"
#include "image/cfi/frames.h"
#include "image/elf/elf_file.h"

/* The file, borrowed, remains open as long as the table. 0 or -ENOMEM. */
int cfi_table_build(const struct elf_file *file, struct cfi **out, struct fathom_error *err);
/* Adds a row for where no FDE has one, from this address on. 0 or -ENOMEM. */
int cfi_table_derive(struct cfi *cfi, uint64_t address, struct cfi_row row);
/* Call once, after the last one: from now on they are looked up. */
void cfi_table_derived(struct cfi *cfi);
/* The FDEs that it is made of; the table's. */
const struct cfi_frames *cfi_table_frames(const struct cfi *cfi);
void cfi_table_free(struct cfi *cfi); /* NULL is allowed */

#endif

/* table.h - builds an image's CFI table; see cfi.h for its contents. Private to image/. */
#ifndef FATHOM_IMAGE_CFI_TABLE_H
#define FATHOM_IMAGE_CFI_TABLE_H

#include "image/cfi/cfi.h"
#include "image/cfi/frames.h"
#include "image/elf/elf_file.h"

/* The file is borrowed and must stay open as long as the table. 0 or -ENOMEM. */
int cfi_table_build(const struct elf_file *file, struct cfi **out, struct fathom_error *err);
/* Adds a row from this address on, for use where no FDE has one. 0 or -ENOMEM. */
int cfi_table_derive(struct cfi *cfi, uint64_t address, struct cfi_row row);
/* Call once, after the last derived row: makes these rows visible to look-ups. */
void cfi_table_derived(struct cfi *cfi);
/* Derives further rows on demand, in parts: when an address without a row is first looked up, derive() adds the rows of the
 * part [from, to) around it, in any order. Several threads may call it at once; what it adds must not depend on earlier
 * calls; it returns 0 or -ENOMEM. `context` must live as long as the table; `end` is the end of the code. 0 or -ENOMEM. */
struct cfi_part;
typedef int cfi_part_derive(void *context, uint64_t from, uint64_t to, struct cfi_part *out);
int cfi_table_derive_parts(struct cfi *cfi, uint64_t end, cfi_part_derive *derive, void *context);
int cfi_part_add(struct cfi_part *part, uint64_t address, struct cfi_row row); /* 0 or -ENOMEM */
/* The FDEs of the table, owned by it. */
const struct cfi_frames *cfi_table_frames(const struct cfi *cfi);
void cfi_table_free(struct cfi *cfi); /* NULL is allowed */

#endif

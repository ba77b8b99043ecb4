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
/* The same for code of which a part alone is ever looked at: each part's rows are derived when one of its addresses is looked up first and
 * has no other row. derive: adds the rows of [from, to), in any order; several threads may call it, and what it adds may not depend on other calls; 0 or
 * -ENOMEM. context: as long as the table. end: of the code. 0 or -ENOMEM. */
struct cfi_part;
typedef int cfi_part_derive(void *context, uint64_t from, uint64_t to, struct cfi_part *out);
int cfi_table_derive_parts(struct cfi *cfi, uint64_t end, cfi_part_derive *derive, void *context);
int cfi_part_add(struct cfi_part *part, uint64_t address, struct cfi_row row); /* 0 or -ENOMEM */
/* The FDEs that it is made of; the table's. */
const struct cfi_frames *cfi_table_frames(const struct cfi *cfi);
void cfi_table_free(struct cfi *cfi); /* NULL is allowed */

#endif

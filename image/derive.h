/*
 * derive.h - CFI rows of functions that have none. Private to image/.
 *
 * From their code (derive_flow.h), but for those that are not called as others are: stubs of the PLT, what signal handlers return to, the
 * program's entry, the call of a thread's first function; and functions of Go, which has a table of its own (go_table.h).
 */
#ifndef FATHOM_IMAGE_DERIVE_H
#define FATHOM_IMAGE_DERIVE_H

#include "image/image.h"

/* Adds the rows to the image's CFI, marked as derived. Call it once. 0 or -ENOMEM. */
int image_derive_rows(struct image *image);

#endif

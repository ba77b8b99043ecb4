/*
 * derive.h - CFI rows of functions that have none. Private to image/.
 *
 * From their code (derive_flow.h), but for those that are not called as others are: stubs of the PLT, what signal handlers return to, the
 * program's entry, the call of a thread's first function; and functions of Go, which has a table of its own (go_table.h).
 */
#ifndef FATHOM_IMAGE_DERIVE_H
#define FATHOM_IMAGE_DERIVE_H

#include "image/image.h"

/* Adds the rows to the image's CFI, marked as derived. Call it once. Where more than whole_most bytes of code are to be followed for it, that is
 * done later, in parts, as their addresses are looked up. 0 or -ENOMEM. */
int image_derive_rows(struct image *image, uint64_t whole_most);

/* 10 MB of code a second: a quarter of a gigabyte of it, as Chromium has, takes half a minute, of which few reports need much. */
#define DERIVE_WHOLE_MOST (64u << 20)

struct deriving;                                    /* what is done later */
void image_derived_free(struct deriving *deriving); /* NULL is allowed */

#endif

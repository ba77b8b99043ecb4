/*
 * derive.h - CFI rows for functions that have none. Private to image/.
 *
 * The rows are computed from the code (derive_flow.h), except for functions that are not entered by an ordinary
 * call: stubs of the PLT, the code that signal handlers return to, the program's entry, the call of a thread's
 * first function. Go functions have a table of their own (go_table.h).
 */
#ifndef FATHOM_IMAGE_DERIVE_H
#define FATHOM_IMAGE_DERIVE_H

#include "image/image.h"

/* Adds the rows to the image's CFI, marked as derived. Call it once. 0 or -ENOMEM. */
int image_derive_rows(struct image *image);

#endif

/*
 * derive.h - CFI rows for functions that have none. Private to image/.
 *
 * The rows are computed from the code (derive_flow.h), except for functions that are not entered by an ordinary
 * call: stubs of the PLT, the code that signal handlers return to, the program's entry, the call of a thread's
 * first function. Go functions have a table of their own (go_table.h). A further table, or kind of function, is a line in
 * `tables` or `sources`.
 */
#ifndef FATHOM_IMAGE_DERIVE_H
#define FATHOM_IMAGE_DERIVE_H

#include "image/image.h"

struct covered { /* code that a table in the file has rows of */
    uint64_t low, high;
};

/* Adds the rows to the image's CFI, marked as derived. Call it once. If more than whole_most bytes of code must be followed,
 * this happens on demand, in parts, when their addresses are first looked up. 0 or -ENOMEM. */
int image_derive_rows(struct image *image, uint64_t whole_most);

/* For whole_most. About 10 MB of code are followed a second: Chromium's 235 MB take half a minute, and a report needs few of them. */
#define DERIVE_WHOLE_MOST (64u << 20)

struct deriving;                                    /* state for what is derived on demand */
void image_derived_free(struct deriving *deriving); /* NULL is allowed */

#endif

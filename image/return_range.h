/*
 * return_range.h - the range of a function's return addresses from which unwinding continues in the same way, and
 * the calls in a piece of code.
 */
#ifndef FATHOM_IMAGE_RETURN_RANGE_H
#define FATHOM_IMAGE_RETURN_RANGE_H

#include "image/cfi/cfi.h"
#include "image/image.h"

#define RETURN_RANGE_ROWS 4096u /* limit of rows examined per function */

/* The widest range of addresses around a call's last byte, in the same function (or part of it), in which no call
 * has another CFI row. It is only the call itself if code with another row cannot be decoded from where that row
 * starts, as a call could be overlooked then. In Go functions, the range also stays within one inlined call, as
 * Go's tables distinguish these. *start and *end are last bytes of calls. Decodes only the code of other rows. */
void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end);

/* The range around an address of a function in which its CFI row applies. */
struct cfi_span image_row_span(const struct image *image, uint32_t function, uint64_t address);

/* The last bytes of the first and last call in [at, end); an instruction begins at `at`. *first > *last: no call.
 * false: the code cannot be decoded. */
bool image_calls_between(const struct image *image, uint64_t at, uint64_t end, uint64_t *first,
                         uint64_t *last);

#endif

/*
 * return_range.h - the return addresses of a function from which unwinding goes on in the same way, and where calls are.
 */
#ifndef FATHOM_IMAGE_RETURN_RANGE_H
#define FATHOM_IMAGE_RETURN_RANGE_H

#include "image/cfi/cfi.h"
#include "image/image.h"

#define RETURN_RANGE_ROWS 4096u /* of a function that are looked at */

/* The widest range of addresses around a call's last byte, in the same function (or the same part of it), in which
 * no call has another CFI row. Only the call itself if code with another row cannot be decoded from where that row starts, as
 * a call could be overlooked then. Of Go, none is in another inlined call either: its tables tell these apart, and who reads a profile wants
 * to know them. *start and *end: of the last bytes of calls. Decodes the code of other rows alone. */
void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end);

/* Where around an address of a function its CFI row applies, within the function. */
struct cfi_span image_row_span(const struct image *image, uint32_t function, uint64_t address);

/* The last bytes of the first and the last call in [at, end), where an instruction begins; *first > *last: it has none. false: it cannot
 * be decoded. */
bool image_calls_between(const struct image *image, uint64_t at, uint64_t end, uint64_t *first,
                         uint64_t *last);

#endif

/*
 * return_range.h - the return addresses of a function from which unwinding goes on in the same way.
 */
#ifndef FATHOM_IMAGE_RETURN_RANGE_H
#define FATHOM_IMAGE_RETURN_RANGE_H

#include "image/image.h"

/* The widest range of addresses around a call's last byte, in the same function (or the same part of it), in which
 * no call has another CFI row. Only the call itself if the code cannot be decoded from the function's start, as
 * another call could be overlooked then. *start and *end: of the last bytes of calls. Decodes the whole function. */
void image_return_range(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end);

#endif

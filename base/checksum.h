/* checksum.h - the one checksum of Fathom's file formats: XXH3, 64 bits, seed 0 (the xxHash library). */
#ifndef FATHOM_BASE_CHECKSUM_H
#define FATHOM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_of(const void *data, size_t size);

/* The same for data in pieces. NULL: out of memory. */
struct checksum *checksum_begin(void);
void checksum_add(struct checksum *sum, const void *data, size_t size);
uint64_t checksum_end(struct checksum *sum); /* frees it; NULL is allowed */

#endif

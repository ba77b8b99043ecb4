/* checksum.h - the one checksum of Fathom's file formats: XXH3, 64 bits, seed 0 (the xxHash library). */
#ifndef FATHOM_BASE_CHECKSUM_H
#define FATHOM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_of(const void *data, size_t size);

#endif

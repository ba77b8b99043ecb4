/* gzip.h - compresses as gzip(1) does (RFC 1952). */
#ifndef FATHOM_BASE_GZIP_H
#define FATHOM_BASE_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* malloc'd. NULL: out of memory. */
uint8_t *gzip_pack(const void *data, size_t size, size_t *packed);

#endif

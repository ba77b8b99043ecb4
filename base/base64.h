/* base64.h - bytes as text: base 64 with padding (RFC 4648, section 4). */
#ifndef FATHOM_BASE_BASE64_H
#define FATHOM_BASE_BASE64_H

#include <stddef.h>

/* The caller frees it. NULL: out of memory. */
char *base64_encode(const void *data, size_t size);

#endif

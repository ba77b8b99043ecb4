/*
 * unpacked.h - decompresses debug information that libdwarf does not decompress itself (zstd, and any section
 * named .zdebug_), and determines the uncompressed size of any. Private to image/.
 */
#ifndef FATHOM_IMAGE_LINES_UNPACKED_H
#define FATHOM_IMAGE_LINES_UNPACKED_H

#include <stdbool.h>
#include <stdint.h>

/* A memory file with the file's sections decompressed, for libdwarf; -1: there are no such sections, or they are
 * damaged or too large to be real. all: include those that libdwarf decompresses. */
int unpacked_open(const char *path, bool all);
/* Uncompressed bytes of the sections with lines, by the file's headers alone. 0: it has none. */
uint64_t unpacked_size(const char *path);

#endif

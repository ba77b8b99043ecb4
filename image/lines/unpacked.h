/*
 * unpacked.h - debug information in compressed sections that libdwarf does not unpack: those of zstd, and any
 * named .zdebug_; and the unpacked size of any. Private to image/.
 */
#ifndef FATHOM_IMAGE_LINES_UNPACKED_H
#define FATHOM_IMAGE_LINES_UNPACKED_H

#include <stdbool.h>
#include <stdint.h>

/* A memory file with the file's sections, unpacked, for libdwarf; -1: the file has no such sections, or they are damaged
 * or larger than any real ones. all: those that libdwarf unpacks, too. */
int unpacked_open(const char *path, bool all);
/* Bytes, unpacked, of the sections that lines are read from, by the file's headers alone. 0: it has none. */
uint64_t unpacked_size(const char *path);

#endif

/*
 * unpacked.h - debug information in compressed sections that libdwarf does not unpack: those of zstd, and any
 * named .zdebug_. Private to image/.
 */
#ifndef FATHOM_IMAGE_LINES_UNPACKED_H
#define FATHOM_IMAGE_LINES_UNPACKED_H

/* A memory file with the file's sections, unpacked, for libdwarf; -1: the file has no such sections, or they are damaged
 * or larger than any real ones. */
int unpacked_open(const char *path);

#endif

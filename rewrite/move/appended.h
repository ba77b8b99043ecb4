/*
 * appended.h - bytes behind the contents of an ELF file: an archive that the program reads from its own file, or
 * a signature. Their readers count from the end of the file, or of the ELF contents, so neither may move.
 */
#ifndef FATHOM_REWRITE_MOVE_APPENDED_H
#define FATHOM_REWRITE_MOVE_APPENDED_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes follow all segments, sections and header tables of an ELF64 file. 0 also if these bytes are all
 * 0, or if it is no such file. */
size_t appended_bytes(const void *elf, size_t size);

#endif

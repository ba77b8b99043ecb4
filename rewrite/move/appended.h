/*
 * appended.h - bytes that follow the contents of an ELF file: an archive that the program reads from its own file, a signature.
 * Those who look for them count from the end of the file, or of the ELF contents, so both must stay where they are.
 */
#ifndef FATHOM_REWRITE_MOVE_APPENDED_H
#define FATHOM_REWRITE_MOVE_APPENDED_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes follow all segments, sections and header tables of an ELF64 file; 0 also if they are all 0, or it is none. */
size_t appended_bytes(const void *elf, size_t size);

#endif

/*
 * mini_debug.h - the symbols that a stripped file keeps, compressed, in itself: .gnu_debugdata (Fedora's
 * "MiniDebuginfo"; gdb, "Debugging information in a special section"). Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_MINI_DEBUG_H
#define FATHOM_IMAGE_ELF_MINI_DEBUG_H

#include "image/elf/elf_file.h"

#define MINI_DEBUG_MOST ((size_t)256 << 20) /* bytes, unpacked */

/* An ELF file with a .symtab for the same addresses, which elf_file_close() closes. 1; 0: there is none, or
 * it is damaged; -ENOMEM. */
int mini_debug_open(const struct elf_file *file, const char *path, struct elf_file *out);

#endif

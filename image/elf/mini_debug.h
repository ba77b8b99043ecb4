/*
 * mini_debug.h - the compressed symbols inside a stripped file: .gnu_debugdata (Fedora's "MiniDebuginfo";
 * gdb, "Debugging information in a special section"). Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_MINI_DEBUG_H
#define FATHOM_IMAGE_ELF_MINI_DEBUG_H

#include "image/elf/elf_file.h"

#define MINI_DEBUG_MOST ((size_t)256 << 20) /* bytes, unpacked */

/* Opens it as an ELF file with a .symtab for the same addresses; close with elf_file_close(). 1; 0: none, or
 * damaged; -ENOMEM. */
int mini_debug_open(const struct elf_file *file, const char *path, struct elf_file *out);

#endif

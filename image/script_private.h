/* script_private.h - how each interpreter is found in an image. Private to image/. */
#ifndef FATHOM_IMAGE_SCRIPT_PRIVATE_H
#define FATHOM_IMAGE_SCRIPT_PRIVATE_H

#include "image/elf/elf_file.h"
#include "image/script.h"

/* false: the image has none, and *out is unchanged. */
bool python_find(const struct elf_file *file, struct script_runtime *out);
bool php_find(const struct elf_file *file, struct script_runtime *out);
bool ruby_find(const struct elf_file *file, struct script_runtime *out);
/* Parses a version such as "8.2..."; size: bytes of text. Does not change *out if it is none. */
void script_read_version(const uint8_t *text, size_t size, struct script_runtime *out);
bool v8_find(const struct elf_file *file, struct script_runtime *out);

#endif

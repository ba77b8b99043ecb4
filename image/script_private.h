/* script_private.h - how each interpreter is found in an image. Private to image/. */
#ifndef FATHOM_IMAGE_SCRIPT_PRIVATE_H
#define FATHOM_IMAGE_SCRIPT_PRIVATE_H

#include "image/elf/elf_file.h"
#include "image/script.h"

/* false: the image has none, and *out stays. */
bool python_find(const struct elf_file *file, struct script_runtime *out);
bool php_find(const struct elf_file *file, struct script_runtime *out);

#endif

/* thread_return.h - finds the return address of new threads' first frames. Private to image/. */
#ifndef FATHOM_IMAGE_CFI_THREAD_RETURN_H
#define FATHOM_IMAGE_CFI_THREAD_RETURN_H

#include "image/elf/elf_file.h"

#define THREAD_CALL 2u /* bytes of that call, or its last ones: call *%reg */

/* Address of the instruction after the indirect call in clone3 (or, without one, in clone); 0: none. */
uint64_t thread_return_find(const struct elf_file *file);

#endif

/*
 * patch.h - changes the sizes of frames in ELF files, and checks the result.
 *
 * Executables and shared objects, position-independent or not. Only numbers change: immediates and displacements
 * in code, offsets in .eh_frame, and the build-id, as it is another file now. Debug information is not changed:
 * it is right for variables in registers and in frames addressed by BP; in frames addressed by SP alone, DWARF
 * locations of variables in memory are off by the pad.
 */
#ifndef FATHOM_REWRITE_PATCH_PATCH_H
#define FATHOM_REWRITE_PATCH_PATCH_H

#include <stddef.h>

#include "rewrite/growth/growth.h"
#include "rewrite/pads.h"

/* Enlarges frames. *elf: the whole new file, which the caller frees. *id: its build-id, as long as the old one;
 * empty if there was none. frames: of this image. -EINVAL: a pad is of no function, does not fit, or a function
 * has two; -ESTALE: the image's file has changed. */
int patch_resize(const struct image *image, const struct growth *frames, const struct pad *pads, size_t count,
                 void **elf, size_t *size, struct build_id *id, struct fathom_error *err);

/* Checks a resized file, read again, against the original: nothing else has changed; all code of the changed
 * functions is understood as before; at each of their instructions the CFI agrees with the code; the frame is
 * larger by the pad where it was allocated, and unchanged elsewhere; all operands address what they did.
 * -EBADMSG: any of this is false. */
int patch_check(const struct image *before, const struct image *after, const struct pad *pads, size_t count,
                struct fathom_error *err);

#endif

/* apply.h - single changes of a file's bytes, for resizing and for its check. Private to rewrite/patch/. */
#ifndef FATHOM_REWRITE_PATCH_APPLY_H
#define FATHOM_REWRITE_PATCH_APPLY_H

#include "rewrite/growth/unit.h"

/* Enlarges a number in code; data: the whole file. -EINVAL: it does not fit. */
int patch_apply(const struct unit *u, const struct frame_edit *edit, uint32_t bytes, uint8_t *data,
                size_t size);
/* File offset of an FDE's instructions. */
size_t patch_fde_offset(const struct unit *u, const struct unit_fde *fde);

#endif

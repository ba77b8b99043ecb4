/* cold.h - reunites functions with the parts that the compiler split off. Private to image/. */
#ifndef FATHOM_IMAGE_COLD_H
#define FATHOM_IMAGE_COLD_H

#include "image/functions.h"

/* Whether it is the name of a split-off part. */
bool cold_is_name(const char *name);
/* By the symbols' names: "NAME.cold" belongs to NAME. 0 or -ENOMEM. */
int cold_join_names(struct functions *functions, const struct symbols *symbols);

/* By the branches between parts, for parts without a name. 0 or -ENOMEM. */
int cold_join_branches(const struct elf_file *file, const struct cfi *cfi, struct functions *functions);

#endif

/*
 * running.h - the code of the kernel that runs here: where it lies, and the names of its functions, from
 * /proc/kallsyms, /proc/modules and /sys/kernel/notes.
 *
 * Who may see the addresses is decided when the files are opened (kernel/ksyms_common.c, kallsyms_show_value()):
 * open them before giving up privileges.
 */
#ifndef FATHOM_IMAGE_KERNEL_RUNNING_H
#define FATHOM_IMAGE_KERNEL_RUNNING_H

#include "image/kernel/layout.h"

struct running_kernel;

struct kernel_places {
    const char *proc, *sys; /* directories */
};
extern const struct kernel_places kernel_places_here; /* "/proc", "/sys" */

/* Opens the files; those that cannot be opened count as empty. NULL: out of memory. */
struct running_kernel *running_kernel_open(const struct kernel_places *places);
void running_kernel_close(struct running_kernel *kernel); /* NULL is allowed */
/* Where its code lies; borrowed. kernel.start is 0 if the addresses are hidden (kernel.kptr_restrict), id.size if
 * it has no build-id. Reads the files when first asked. 0, or -ENOMEM with a message. */
int running_kernel_layout(struct running_kernel *kernel, const struct kernel_layout **out,
                          struct fathom_error *err);
/* The function at an address of the running kernel, after running_kernel_layout(); *start: where it begins. NULL: none
 * is known. */
const char *running_kernel_function(const struct running_kernel *kernel, uint64_t address, uint64_t *start);

#endif

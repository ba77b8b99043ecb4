/*
 * running.h - the code of the running kernel: its addresses and the names of its functions, from /proc/kallsyms,
 * /proc/modules and /sys/kernel/notes.
 *
 * The kernel decides when the files are opened who may see addresses (kernel/ksyms_common.c,
 * kallsyms_show_value()): open them before giving up privileges.
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
/* Where its code is; borrowed. kernel.start is 0 if addresses are hidden (kernel.kptr_restrict), id.size is 0 if
 * it has no build-id. Reads the files at the first call. 0, or -ENOMEM with a message. */
int running_kernel_layout(struct running_kernel *kernel, const struct kernel_layout **out,
                          struct fathom_error *err);
/* The function at an address of the running kernel; call running_kernel_layout() before. *start: its address.
 * NULL: unknown. */
const char *running_kernel_function(const struct running_kernel *kernel, uint64_t address, uint64_t *start);

#endif

/*
 * layout.h - where a kernel's code is: its own and each module's. In recordings these are mappings of PID -1, as
 * stock perf writes them; for the running kernel, running.h reads them.
 */
#ifndef FATHOM_IMAGE_KERNEL_LAYOUT_H
#define FATHOM_IMAGE_KERNEL_LAYOUT_H

#include <stddef.h>

#include "image/elf/build_id.h"

#define KERNEL_ADDRESSES (UINT64_C(1) << 63) /* x86-64: the upper half */
#define KERNEL_MAPPING   "[kernel.kallsyms]_text"

struct kernel_range {
    uint64_t start, end; /* [start, end) */
    char name[64];       /* "[kernel]", or "[ext4]" for a module */
};

struct kernel_layout { /* zeroed: empty */
    struct kernel_range kernel;
    struct build_id id; /* of the kernel; size 0: unknown */
    struct kernel_range *modules;
    size_t count, capacity;
};

/* Adds what is mapped under one of stock perf's names: "[kernel.kallsyms]_text", "[ext4]",
 * "/lib/modules/.../ext4.ko". Other names, and modules beyond KERNEL_MODULES, are ignored. 0 or -ENOMEM. */
#define KERNEL_MODULES 4096
int kernel_layout_add(struct kernel_layout *layout, const char *path, uint64_t start, uint64_t end,
                      const struct build_id *id);
/* The module that contains an address; NULL: none. */
const struct kernel_range *kernel_layout_module(const struct kernel_layout *layout, uint64_t address);
void kernel_layout_free(struct kernel_layout *layout);

#endif

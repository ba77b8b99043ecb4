/*
 * kernel_layout.h - where the structs of the running kernel have the members that the BPF program reads, from the kernel's BTF.
 *
 * The kernel's BTF is read once: libbpf would do so anew for relocations in the program (CO-RE), and search all types for each struct.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_KERNEL_LAYOUT_H
#define FATHOM_COLLECTOR_VERIFY_KERNEL_LAYOUT_H

#include <stdbool.h>

#include "collector/verify/verify_wire.h"

/* What is not found is 0, as verify_wire.h says. Returns whether all of *files is found. */
bool kernel_layout_find(struct verify_hooks *hooks, struct verify_layout *files);

#endif

/*
 * kernel_members.h - where the structs of the running kernel have the members that the BPF program reads, from the kernel's BTF.
 *
 * The kernel's BTF is read once: libbpf would do so anew for relocations in the program (CO-RE), and search all types for each struct.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_KERNEL_MEMBERS_H
#define FATHOM_COLLECTOR_VERIFY_KERNEL_MEMBERS_H

#include <stdbool.h>

#include "collector/verify/verify_wire.h"

/* Sets `hooks` and `members`; what is not found is 0, as verify_wire.h says. Returns whether `members` are found. */
bool kernel_members_find(struct verify_config *config);

#endif

/*
 * kernel_members.h - finds in the kernel's BTF the offsets of the struct members that the BPF program reads.
 *
 * The BTF is read once. With relocations in the program (CO-RE), libbpf would read it again and search all
 * types for each struct.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_KERNEL_MEMBERS_H
#define FATHOM_COLLECTOR_VERIFY_KERNEL_MEMBERS_H

#include <stdbool.h>

#include "collector/verify/verify_wire.h"

/* Sets `hooks` and `members`; members not found are 0 (verify_wire.h). Returns whether `members` were
 * found. */
bool kernel_members_find(struct verify_config *config);

#endif

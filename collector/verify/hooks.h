/*
 * hooks.h - where the kernel keeps the return addresses that it replaced on stacks, for probes of returns (uretprobes), and threads'
 * FS bases.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_HOOKS_H
#define FATHOM_COLLECTOR_VERIFY_HOOKS_H

#include "collector/verify/verify_wire.h"

/* 0 where the kernel has no BTF, or keeps them otherwise. */
struct verify_hooks hooks_find(void);

#endif

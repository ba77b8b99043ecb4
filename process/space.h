/*
 * space.h - an address space: which file lies at which addresses (internal to process/).
 *
 * Regions are sorted by start and do not overlap: a later one replaces what it covers, as in the kernel.
 * Shared by reference between a process and its forked children until one of them changes it, so a fork costs
 * nothing however many mappings there are.
 */
#ifndef FATHOM_PROCESS_SPACE_H
#define FATHOM_PROCESS_SPACE_H

#include "process/process.h"

#define SPACE_MAX_REGIONS 16384 /* per process; real ones have some hundreds of executable mappings */
#define SPACE_NONE        SIZE_MAX

struct region {
    struct mapping mapping;
    struct build_id build_id; /* as recorded; size 0: not recorded */
    bool opened;              /* its image was asked for */
    bool checked, unread;     /* whether its code can be read was asked for; it cannot */
};

struct space;

struct space *space_new(void); /* NULL: out of memory */
struct space *space_share(struct space *space);
void space_release(struct space *space); /* NULL is allowed */

/* Takes [start, end) out of *space, which becomes a copy when it is shared. false: out of memory. */
bool space_cut(struct space **space, uint64_t start, uint64_t end);
/* Adds a region (start < end) in place of what it overlaps. -ENOMEM; -ENOSPC: there are SPACE_MAX_REGIONS. */
int space_add(struct space **space, const struct region *region);

size_t space_count(const struct space *space);
struct region *space_at(struct space *space, size_t index);
/* The index of the region that covers the address, or SPACE_NONE. */
size_t space_find(const struct space *space, uint64_t address);

#endif

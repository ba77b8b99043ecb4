/*
 * space.h - an address space: which file is mapped at which addresses (internal to process/).
 *
 * Regions are sorted by start and do not overlap: a later one replaces what it covers, as in the kernel.
 * Shared by reference between a process and its forked children until one of them changes it, so the cost of
 * a fork does not depend on the number of mappings.
 */
#ifndef FATHOM_PROCESS_SPACE_H
#define FATHOM_PROCESS_SPACE_H

#include "process/process.h"

#define SPACE_MAX_REGIONS 16384 /* per process; real ones have a few hundred executable mappings */
#define SPACE_NONE        SIZE_MAX

struct region {
    struct mapping mapping;
    struct build_id build_id; /* as recorded; size 0: not recorded */
    bool opened;              /* its image was requested */
    bool checked, unread;     /* its readability was checked; its code cannot be read */
};

struct space;

struct space *space_new(void); /* NULL: out of memory */
struct space *space_share(struct space *space);
void space_release(struct space *space); /* NULL is allowed */

/* Removes [start, end) from *space, which is copied if it is shared. false: out of memory. */
bool space_cut(struct space **space, uint64_t start, uint64_t end);
/* Adds a region (start < end), replacing what it overlaps. -ENOMEM; -ENOSPC: there are SPACE_MAX_REGIONS. */
int space_add(struct space **space, const struct region *region);

size_t space_count(const struct space *space);
struct region *space_at(struct space *space, size_t index);
/* The index of the region that covers the address, or SPACE_NONE. */
size_t space_find(const struct space *space, uint64_t address);

#endif

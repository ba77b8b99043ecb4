/*
 * breakpoint.h - which int3 instructions are the probe's, and where execution continues.
 *
 * A table belongs to one image in memory. Published tables stay for good: a thread may be reading one at any
 * time, so their memory is never freed, and the table of a closed image is only switched off.
 */
#ifndef FATHOM_PATHMAP_PROBE_BREAKPOINT_H
#define FATHOM_PATHMAP_PROBE_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>

struct breakpoint {
    uint64_t address;    /* of the int3 */
    uint64_t trampoline; /* where to continue */
};

struct breakpoint_table {
    struct breakpoint_table *next;
    const struct breakpoint *entries; /* ascending by address */
    uint32_t count;
    bool on;        /* accessed atomically */
    bool published; /* in the list of all tables */
};

/* Switches a table on or off; the first time on publishes it, and it and its entries must then stay. Not
 * thread-safe. */
void breakpoint_switch(struct breakpoint_table *table, bool on);
/* 0: no int3 of ours at this address. Safe in a signal handler. */
uint64_t breakpoint_find(uint64_t address);

#endif

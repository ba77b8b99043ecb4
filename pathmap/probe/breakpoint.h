/*
 * breakpoint.h - which int3 instructions are the probe's, and where their functions go on.
 *
 * A table belongs to one image in memory. Tables are published for good: a thread may be looking into one at
 * any time, so their memory is never freed, and a table of an image that was closed is only switched off.
 */
#ifndef FATHOM_PATHMAP_PROBE_BREAKPOINT_H
#define FATHOM_PATHMAP_PROBE_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>

struct breakpoint {
    uint64_t address;    /* of the int3 */
    uint64_t trampoline; /* where to go on */
};

struct breakpoint_table {
    struct breakpoint_table *next;
    const struct breakpoint *entries; /* ascending by address */
    uint32_t count;
    bool on;        /* written and read as an atomic */
    bool published; /* in the list of all tables */
};

/* Switches a table on or off; on for the first time publishes it: it and its entries must stay from there.
 * Not by two threads at a time. */
void breakpoint_switch(struct breakpoint_table *table, bool on);
/* 0: no int3 of ours at this address. Safe in a signal handler. */
uint64_t breakpoint_find(uint64_t address);

#endif

/*
 * probe_sites.h - finds the places in a file for the kernel's probes (Documentation/trace/uprobetracer.rst):
 * functions by their names, and static markers (markers.h).
 */
#ifndef FATHOM_IMAGE_PROBE_SITES_H
#define FATHOM_IMAGE_PROBE_SITES_H

#include "image/image.h"

enum probe_fault {
    PROBE_FINE,
    PROBE_RESOLVER,  /* the function chooses another one at start (STT_GNU_IFUNC), which is the one called */
    PROBE_VECTOR,    /* the kernel mishandles the instruction when it single-steps it (insn_is_vector()) */
    PROBE_NO_RETURN, /* of returns: the return address is not in its usual place, or the stack moves (Go) */
    PROBE_INSIDE,    /* no instruction of the function begins there */
    PROBE_AGAIN,     /* of calls: it jumps back to its beginning, where calls enter */
    PROBE_ENDLESS,   /* of calls: it never returns */
};

enum probe_of {
    PROBE_OF_ENTRIES,
    PROBE_OF_RETURNS, /* the same places, in functions whose return address may be replaced */
    PROBE_OF_CALLS, /* where functions are entered, and where they leave their frames (calls/exits.h); functions must
                     * have both */
};

enum probe_place {
    PROBE_ENTRY_PLACE,
    PROBE_RETURN_PLACE,
    PROBE_TAIL_PLACE,   /* a jump to another function */
    PROBE_HIDDEN_PLACE, /* one that must not be probed */
};

struct probe_site {
    uint64_t offset;       /* in the file, bytes */
    uint64_t counter;      /* of a marker: the file offset of its semaphore, a u16; 0: it has none */
    const char *name;      /* as in the symbol table, or the marker's */
    const char *arguments; /* of a marker (markers.h); "" */
    enum probe_fault fault;
    enum probe_place place;
};

typedef int probe_site_see(void *context, const struct probe_site *site);
/* Calls see() for the place `distance` bytes into each function with this name (its symbol, or its name in
 * reports); with PROBE_OF_CALLS, also for its exits. If no function has the name, it is tried as a pattern
 * (fnmatch(3)). Each place is reported once. Stops when see() returns non-zero, and returns that. -ENOMEM. */
int probe_sites_functions(const struct image *image, const char *name, uint64_t distance, enum probe_of of,
                          probe_site_see *see, void *context);
/* The same for the markers of a provider; both names may be patterns. */
int probe_sites_markers(const struct image *image, const char *provider, const char *name,
                        probe_site_see *see, void *context);

#endif

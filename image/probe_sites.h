/*
 * probe_sites.h - where in a file the kernel's probes are put (Documentation/trace/uprobetracer.rst): functions by their names, and
 * static markers (markers.h).
 */
#ifndef FATHOM_IMAGE_PROBE_SITES_H
#define FATHOM_IMAGE_PROBE_SITES_H

#include "image/image.h"

enum probe_fault {
    PROBE_FINE,
    PROBE_RESOLVER, /* the function chooses another one when the program starts (STT_GNU_IFUNC), and that is called */
    PROBE_VECTOR, /* the kernel does wrong when it steps over the instruction (insn_is_vector()) */
    PROBE_NO_RETURN, /* of returns: the function has no return address where others have one, or its stack moves (Go) */
    PROBE_INSIDE,  /* no instruction of the function begins there */
    PROBE_AGAIN,   /* of calls: it jumps back to its beginning, where calls enter it */
    PROBE_ENDLESS, /* of calls: it never returns */
};

enum probe_of {
    PROBE_OF_ENTRIES,
    PROBE_OF_RETURNS, /* the same places, of functions whose return address may be changed */
    PROBE_OF_CALLS, /* where they are entered, and where they leave their frames (calls/exits.h): of functions that have both */
};

enum probe_place {
    PROBE_ENTRY_PLACE,
    PROBE_RETURN_PLACE,
    PROBE_TAIL_PLACE,   /* a jump to another function */
    PROBE_HIDDEN_PLACE, /* one that may not be taken: nothing to probe */
};

struct probe_site {
    uint64_t offset;       /* in the file, bytes */
    uint64_t counter;      /* of a marker: that of its semaphore, a u16; 0: it has none */
    const char *name;      /* as in the symbol table, or the marker's */
    const char *arguments; /* of a marker (markers.h); "" */
    enum probe_fault fault;
    enum probe_place place;
};

typedef int probe_site_see(void *context, const struct probe_site *site);
/* Calls see() for `distance` bytes behind the beginning of each function of this name, and of calls for where each ends: its symbol, or as reports show it;
 * if no function has it, for those of whose name it is a pattern (fnmatch(3)). Each place once. Until
 * see() is not 0, which is returned. -ENOMEM. */
int probe_sites_functions(const struct image *image, const char *name, uint64_t distance, enum probe_of of,
                          probe_site_see *see, void *context);
/* Likewise for the markers of a provider; both may be patterns. */
int probe_sites_markers(const struct image *image, const char *provider, const char *name,
                        probe_site_see *see, void *context);

#endif

/*
 * loader.h - ld.so as seen by a debugger: its lists of images, and the function that it calls when they
 * change.
 */
#ifndef FATHOM_PATHMAP_PROBE_LOADER_H
#define FATHOM_PATHMAP_PROBE_LOADER_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* A namespace of the loader; dlmopen makes more of them. */
struct loader_space {
    struct r_debug debug; /* its list of images must not be read unless its state is RT_CONSISTENT */
    const struct loader_space *next; /* exists if r_version >= 2 */
};

/* Loaders of other C libraries may lack it; then nothing here is called. */
extern struct r_debug _r_debug __attribute__((weak));

/* The first namespace is _r_debug, the program's. NULL: no more. */
static inline const struct loader_space *loader_next(const struct loader_space *space)
{
    return space->debug.r_version >= 2 ? space->next : NULL;
}

/* Has `notice` called whenever the loader has mapped or unmapped images: after mapping and before any of
 * their code runs (relocation, IFUNC resolvers, constructors), with the loader's lock held. The function is
 * called like the loader's own empty one. NULL, or the reason why that is impossible. */
const char *loader_watch(void (*notice)(void));

/* `notice` may still be called, but no longer by a breakpoint. */
void loader_leave(void);

#endif

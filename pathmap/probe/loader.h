/*
 * loader.h - ld.so as seen by a debugger: its lists of images, and the function that it calls when they
 * change.
 */
#ifndef FATHOM_PATHMAP_PROBE_LOADER_H
#define FATHOM_PATHMAP_PROBE_LOADER_H

#include <link.h>
#include <stdbool.h>

/* A namespace of the loader; dlmopen makes more of them. */
struct loader_space;

/* Loaders of other C libraries may lack it; then nothing here is called. */
extern struct r_debug _r_debug __attribute__((weak));

/* The first namespace, the program's. */
const struct loader_space *loader_first(void);
const struct loader_space *loader_next(const struct loader_space *space); /* NULL: no more */
/* The list must not be read now. */
bool loader_is_changing(const struct loader_space *space);
/* NULL: empty, such as that of a namespace whose last image was closed. */
const struct link_map *loader_images(const struct loader_space *space);
/* An address inside the loader. */
uint64_t loader_address(void);

/* Has `notice` called whenever the loader has mapped or unmapped images: after mapping and before any of
 * their code runs (relocation, IFUNC resolvers, constructors), with the loader's lock held. The function is
 * called like the loader's own empty one. NULL, or the reason why that is impossible. */
const char *loader_watch(void (*notice)(void));

/* `notice` may still be called, but no longer by a breakpoint. */
void loader_leave(void);

#endif

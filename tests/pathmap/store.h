/*
 * store.h - writes stores as the probe runtime does (pathmap/wire/store.h), for tests of what reads them.
 */
#ifndef FATHOM_TESTS_PATHMAP_STORE_H
#define FATHOM_TESTS_PATHMAP_STORE_H

#include "pathmap/wire/store.h"

struct store_maker {
    int fd;        /* a file of memory */
    char path[64]; /* its name in /proc */
    struct store_header header;
};

/* An empty store: no images, no function but number 0, one chunk. */
void store_make(struct store_maker *maker);
void store_unmake(struct store_maker *maker);
/* Writes the header as it stands in the maker. */
void store_put_header(struct store_maker *maker);
/* These raise the header's counts as needed. */
void store_put_image(struct store_maker *maker, uint32_t number, const char *path, uint64_t bias,
                     uint64_t low, uint64_t high);
void store_put_function(struct store_maker *maker, uint32_t number, uint32_t image, uint64_t vaddr);
void store_put_node(struct store_maker *maker, uint32_t number, struct store_node node);

#endif

/*
 * sections.h - the sections of a file that have its lines, decompressed: libdwarf itself would read all of .debug_*, zlib's at a third
 * of libdeflate's speed and zstd's not at all. Private to image/lines/.
 */
#ifndef FATHOM_IMAGE_LINES_SECTIONS_H
#define FATHOM_IMAGE_LINES_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section {
    char name
        [32]; /* ".debug_info", also where it is ".zdebug_info"; a ".debug_cu_index" and what ends in ".dwo", too */
    uint64_t size; /* bytes when decompressed, by its header */
    /* Private: */
    uint64_t offset, packed_size; /* in the file */
    enum { SECTION_PLAIN, SECTION_ZLIB, SECTION_ZSTD } packed;
    uint8_t *bytes; /* NULL: not read yet */
    bool damaged;   /* reading it failed: see struct sections, too */
};

struct sections {
    int fd; /* -1: all of them are in memory */
    struct section *items;
    size_t count, capacity;
    bool damaged; /* one that is read was left out, as its header cannot be true, or could not be read */
};

/* NULL: there is no regular file at this path, it is damaged, or out of memory. */
struct sections *sections_open(const char *path);
struct sections *sections_new(void); /* of none */
/* Adds a section, and takes its malloc'd bytes, which are freed if there is no memory. */
bool sections_add(struct sections *all, const char *name, uint8_t *bytes, uint64_t size);
void sections_close(struct sections *all); /* NULL is allowed */

/* NULL: no such section. */
struct section *sections_find(const struct sections *all, const char *name);
/* All bytes of a section, until `all` is closed; NULL: it is damaged, too large to be real, or out of memory. */
uint8_t *sections_bytes(struct sections *all, struct section *s);
/* Copies some of them (malloc'd). NULL: they are not there, or more than `most`. */
uint8_t *sections_copy(struct sections *all, struct section *s, uint64_t from, uint64_t size, uint64_t most);
/* Reads up to `size` bytes from an offset on. Returns how many; 0: they are not there. */
size_t sections_read(struct sections *all, struct section *s, uint64_t from, void *to, size_t size);
/* Decompressed bytes of all by their headers. 0: the file has none. */
uint64_t sections_size(const char *path);

#endif

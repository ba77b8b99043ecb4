/*
 * objects.h - the named data of an image: objects in its symbol tables and in those of its separate debug file.
 */
#ifndef FATHOM_IMAGE_OBJECTS_H
#define FATHOM_IMAGE_OBJECTS_H

#include "image/image.h"

struct objects;

struct object {
    uint64_t address, size; /* bytes */
    const char *name;       /* as in the symbol table (mangled); owned by the image */
};

/* The image must outlive it. NULL: out of memory. The caller frees it with objects_free(). */
struct objects *objects_new(const struct image *image);
void objects_free(struct objects *objects); /* NULL is allowed */
/* The object that contains the address (an ELF virtual address); NULL: none known. */
const struct object *objects_at(const struct objects *objects, uint64_t address);

#endif

/*
 * linkage_names.h - all names by which linkers know the functions of an image, for who cannot tell which of them a compiler uses: of the same function it may be any.
 */
#ifndef FATHOM_IMAGE_LINKAGE_NAMES_H
#define FATHOM_IMAGE_LINKAGE_NAMES_H

#include "image/image.h"

struct linkage_names;

/* Names borrowed from the image. NULL: out of memory. */
struct linkage_names *linkage_names_open(const struct image *image);
void linkage_names_close(struct linkage_names *names); /* NULL is allowed */
/* The i-th of what is at an address, without names that something else has, too. NULL: there are no more. */
const char *linkage_names_at(const struct linkage_names *names, uint64_t address, size_t i);

#endif

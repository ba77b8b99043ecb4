/*
 * coverage.h - how much of an image's code can be unwound and named: its CFI and its symbols.
 */
#ifndef FATHOM_IMAGE_COVERAGE_H
#define FATHOM_IMAGE_COVERAGE_H

#include "image/image.h"

enum coverage_names {
    COVERAGE_EXPORTED,   /* no symbols but those of dynamic linking */
    COVERAGE_EMBEDDED,   /* the compressed ones in the file (.gnu_debugdata) */
    COVERAGE_DEBUG_FILE, /* of a separate debug file */
    COVERAGE_OWN,        /* the file's own .symtab */
};

#define COVERAGE_LISTED 8

struct image_coverage {
    uint64_t code, covered; /* bytes of the executable sections without padding; those that FDEs cover */
    uint64_t derived; /* of the rest, those of functions whose rows are derived from their code (derive.h) */
    uint64_t bare;    /* and those of other known functions; the rest may be tables */
    uint32_t functions, named, uncovered;
    uint32_t listed[COVERAGE_LISTED]; /* the largest functions without rows, the largest first */
    uint32_t listed_count;
    enum coverage_names names;
    const char *debug_file; /* the separate debug file, in the image's memory; NULL: none found */
    bool go;                /* Go's compiler made it */
    bool lines;             /* there is debug information in the file or in that one */
};

/* Derives rows. 0 or -ENOMEM. */
int image_coverage(struct image *image, struct image_coverage *out);

#endif

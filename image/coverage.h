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
    uint64_t bare;          /* of the rest, those of known functions; others may be tables */
    uint32_t functions, named, uncovered;
    uint32_t listed[COVERAGE_LISTED]; /* the largest functions without an FDE, the largest first */
    uint32_t listed_count;
    enum coverage_names names;
    const char *debug_file; /* the separate debug file, in the image's memory; NULL: none found */
    bool go;                /* Go's compiler made it */
    bool lines;             /* there is debug information in the file or in that one */
};

void image_coverage(const struct image *image, struct image_coverage *out);

#endif

/*
 * coverage.h - how much of an image's code can be unwound and named: its CFI and its symbols.
 */
#ifndef FATHOM_IMAGE_COVERAGE_H
#define FATHOM_IMAGE_COVERAGE_H

#include "image/image.h"

enum coverage_names {
    COVERAGE_EXPORTED,   /* no symbols except those of dynamic linking */
    COVERAGE_EMBEDDED,   /* the compressed symbols in the file (.gnu_debugdata) */
    COVERAGE_DEBUG_FILE, /* those of a separate debug file */
    COVERAGE_OWN,        /* the file's own .symtab */
};

#define COVERAGE_LISTED 8

struct image_coverage {
    uint64_t code, covered; /* bytes of executable sections without padding; those in FDEs */
    uint64_t derived; /* bytes outside FDEs, in functions whose rows are derived from their code (derive.h) */
    uint64_t bare;    /* bytes outside FDEs, in other known functions; the rest may be tables */
    uint32_t functions, named, uncovered;
    uint32_t listed[COVERAGE_LISTED]; /* the largest functions without rows, the largest first */
    uint32_t listed_count;
    enum coverage_names names;
    const char *debug_file; /* the separate debug file, in the image's memory; NULL: none found */
    bool go;                /* made by Go's compiler */
    bool lines;             /* the file or the debug file has debug information */
};

/* Derives the rows that the image lacks. 0 or -ENOMEM. */
int image_coverage(struct image *image, struct image_coverage *out);

#endif

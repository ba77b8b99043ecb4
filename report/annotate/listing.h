/*
 * listing.h - the code of the heaviest functions with source lines, and the instruction of each sample: all that a page needs to
 * annotate code by itself.
 */
#ifndef FATHOM_REPORT_ANNOTATE_LISTING_H
#define FATHOM_REPORT_ANNOTATE_LISTING_H

#include "report/annotate/choose.h"
#include "report/annotate/origin.h"
#include "report/annotate/source_lines.h"

#define LISTING_NONE UINT32_MAX

struct listed_insn {
    uint64_t address;
    const char *text;
    uint32_t origin;  /* LISTING_NONE: unknown */
    uint32_t skipped; /* instructions left out before it, without samples, in a long function */
    uint8_t length;
};

struct listed_function {
    struct chosen chosen;
    size_t first, count; /* instructions */
    uint32_t skipped;    /* left out after the last one */
    uint64_t unread;     /* bytes of code left out */
    bool has_lines;      /* its file has debug information */
    const char *file;    /* its source file; NULL: unknown */
    struct listed_source source;
};

struct image_cache;

struct listing {
    struct listed_function *functions; /* heaviest first */
    struct listed_insn *insns;         /* those of one function by address */
    struct origin *origins;
    uint32_t *places; /* for each of contexts->samples: 1 + index of its instruction, 0: not listed */
    size_t function_count, insn_count, origin_count;
    size_t left_out;             /* number of functions with samples */
    struct listing_parts *parts; /* owns what the above borrows */
};

/* most: maximum number of functions; fewer if their code is long. images: of the samples; the listing borrows their lines; NULL: no
 * lines are known. Fills all of *out; free it with listing_clear(). -ENOMEM. */
int listing_make(const struct contexts *contexts, struct image_cache *images, size_t most,
                 struct listing *out, struct fathom_error *err);
void listing_clear(struct listing *listing);
/* The source line of an origin; NULL: unknown. Valid as long as the listing. */
const char *listing_source(const struct listing *listing, const struct origin *origin, size_t *length);

#endif

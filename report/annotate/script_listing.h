/*
 * script_listing.h - the functions of scripts that have the most weight, with their source. With the lines in paths (FRAME_LINE), that is
 * what a page needs to annotate them by itself.
 */
#ifndef FATHOM_REPORT_ANNOTATE_SCRIPT_LISTING_H
#define FATHOM_REPORT_ANNOTATE_SCRIPT_LISTING_H

#include "profile/contexts.h"
#include "report/annotate/source_lines.h"
#include "report/views/branches.h"

struct listed_script {
    uint32_t item;  /* FRAME_SCRIPT */
    uint64_t self;  /* weight of paths that end in it, or in machine code that it called */
    uint64_t total; /* ... that have it */
    struct listed_source source;
};

struct script_listing {
    struct listed_script *functions; /* by falling weight of their own, then by their total */
    size_t count;
    size_t left_out;         /* functions that have weight */
    struct sources *sources; /* of the lines */
};

/* branches: of the contexts. symfs: as of sources_new(). most: functions. Fills all of *out; free it with script_listing_clear(). -ENOMEM. */
int script_listing_make(const struct contexts *contexts, const struct branches *branches, const char *symfs,
                        size_t most, struct script_listing *out, struct fathom_error *err);
void script_listing_clear(struct script_listing *listing); /* a zeroed one is allowed */

#endif

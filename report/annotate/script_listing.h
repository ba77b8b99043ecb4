/*
 * script_listing.h - the source of the heaviest script functions. With the lines in paths (FRAME_LINE), that is all that a page needs to
 * annotate them by itself.
 */
#ifndef FATHOM_REPORT_ANNOTATE_SCRIPT_LISTING_H
#define FATHOM_REPORT_ANNOTATE_SCRIPT_LISTING_H

#include "profile/contexts.h"
#include "report/annotate/source_lines.h"
#include "report/views/branches.h"

struct listed_script {
    uint32_t item;  /* FRAME_SCRIPT */
    uint64_t self;  /* weight of paths that end in it or in machine code that it called */
    uint64_t total; /* weight of paths that contain it */
    struct listed_source source;
};

struct script_listing {
    struct listed_script *functions; /* by self weight, then by total, heaviest first */
    size_t count;
    size_t left_out;         /* number of functions with weight */
    struct sources *sources; /* of the lines */
};

/* branches: of the contexts. symfs: as in sources_new(). most: maximum number of functions. Fills all of *out; free it with
 * script_listing_clear(). -ENOMEM. */
int script_listing_make(const struct contexts *contexts, const struct branches *branches, const char *symfs,
                        size_t most, struct script_listing *out, struct fathom_error *err);
void script_listing_clear(struct script_listing *listing); /* a zeroed one is allowed */

#endif

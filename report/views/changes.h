/*
 * changes.h - the difference of two recordings as text, and what its other formats take from here.
 */
#ifndef FATHOM_REPORT_VIEWS_CHANGES_H
#define FATHOM_REPORT_VIEWS_CHANGES_H

#include <stdio.h>

#include "profile/difference.h"

/* What to write; all borrowed. */
enum changes_of { /* what a side is made of, of which more would tell more */
                  CHANGES_RECORDINGS,
                  CHANGES_HOSTS,  /* of a store */
                  CHANGES_PHASES, /* one of one recording */
};

struct changes_report {
    const struct changes *changes;
    const char *names[2]; /* of each side's recordings */
    const char *event;
    const char *unit; /* of weights, as in view.h */
    enum changes_of of;
    bool all; /* text: also the rows that chance can explain */
    bool colour, show_image;
    size_t width; /* of a row of text; 0: any */
};

/* -ENOMEM; the errno of a failed write. */
int changes_text_write(const struct changes_report *report, FILE *out, struct fathom_error *err);

/* All paths as branches, of which those that changed the most come first. */
struct branches;
int changes_branches(const struct changes *changes, struct branches *out, struct fathom_error *err);

#endif

/*
 * changes.h - the difference of two recordings as text, and helpers for its other formats.
 */
#ifndef FATHOM_REPORT_VIEWS_CHANGES_H
#define FATHOM_REPORT_VIEWS_CHANGES_H

#include <stdio.h>

#include "profile/difference.h"

/* What to write; all borrowed. */
enum changes_of { /* what each side consists of; more of it would make results clearer */
                  CHANGES_RECORDINGS,
                  CHANGES_HOSTS,  /* hosts of a store */
                  CHANGES_PHASES, /* phases of one recording, one a side */
};

struct changes_report {
    const struct changes *changes;
    const char *names[2]; /* of each side's recordings */
    const char *event;
    const char *unit; /* of weights, as in view.h */
    enum changes_of of;
    bool all; /* text: also rows that may be chance */
    bool colour, show_image;
    size_t width; /* columns of a row of text; 0: unlimited */
};

/* -ENOMEM; the errno of a failed write. */
int changes_text_write(const struct changes_report *report, FILE *out, struct fathom_error *err);

/* All paths as branches, those with the largest changes first. */
struct branches;
int changes_branches(const struct changes *changes, struct branches *out, struct fathom_error *err);

#endif

/*
 * changes.h - the formats in which the difference of two recordings is written: text, and those for programs and browsers.
 */
#ifndef FATHOM_REPORT_CHANGES_H
#define FATHOM_REPORT_CHANGES_H

#include <stdio.h>

#include "profile/difference.h"

/* What to write; all borrowed. */
struct changes_report {
    const struct changes *changes;
    const char *names[2]; /* of each side's recordings */
    const char *event;
    const char *unit; /* of weights, as in view.h */
    bool all;         /* text: also the rows that chance can explain */
    bool colour, show_image;
    size_t width; /* of a row of text; 0: any */
};

struct changes_format {
    const char *name;
    const char *help; /* a few words; NULL: the name says it */
    int (*write)(const struct changes_report *report, FILE *out, struct fathom_error *err);
};

/* Ends with an entry without a name; the first is the default. */
extern const struct changes_format changes_format_table[];

/* Errors of the formats: -ENOMEM; the errno of a failed write. */
int changes_text_write(const struct changes_report *report, FILE *out, struct fathom_error *err);
int changes_json_write(const struct changes_report *report, FILE *out, struct fathom_error *err);
int changes_html_write(const struct changes_report *report, FILE *out, struct fathom_error *err);

/* For them: all paths as branches, of which those that changed the most come first. */
struct branches;
int changes_branches(const struct changes *changes, struct branches *out, struct fathom_error *err);

#endif

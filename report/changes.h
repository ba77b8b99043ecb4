/*
 * changes.h - the table of formats for the difference of two recordings: text, and formats for programs and browsers.
 */
#ifndef FATHOM_REPORT_CHANGES_H
#define FATHOM_REPORT_CHANGES_H

#include "report/views/changes.h"

struct changes_format {
    const char *name;
    int (*write)(const struct changes_report *report, FILE *out, struct fathom_error *err);
};

/* Each is also in fathom_diff_formats. Ends with an entry without a name; the first is the default. */
extern const struct changes_format changes_format_table[];

#endif

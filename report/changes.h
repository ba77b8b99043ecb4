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

/* The formats: name, help for --help, function. The first is the default. */
#define CHANGES_FORMATS(ROW)                                                                                 \
    ROW("text", NULL, changes_text_write)                                                                    \
    ROW("json", "all that is known, for programs", changes_json_write)                                       \
    ROW("html", "a page to explore", changes_html_write)
extern const struct changes_format changes_format_table[]; /* ends with an entry without a name */

#endif

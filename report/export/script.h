/*
 * script.h - a line for each sample, with its path: for awk, sort and the user's own programs.
 *
 * Fields are in the requested order, separated by tabs, which no name contains.
 */
#ifndef FATHOM_REPORT_EXPORT_SCRIPT_H
#define FATHOM_REPORT_EXPORT_SCRIPT_H

#include "report/text/printer.h"

struct script_line;
struct report;

struct script_field {
    const char *name;
    const char *help;
    void (*write)(const struct script_line *line, struct printer *printer);
};

/* Ends with an entry without a name. */
extern const struct script_field script_field_table[];

#define SCRIPT_FIELDS_MAX 32

struct script_fields {
    const struct script_field *at[SCRIPT_FIELDS_MAX];
    size_t count;
};

/* names: separated by commas. -EINVAL: no such field, or too many. */
int script_fields_parse(const char *names, struct script_fields *out, struct fathom_error *err);

/* Writes the fields report->view->fields of all samples, by time. Errors: -ENOMEM and failed writes. */
int script_write(const struct report *report, FILE *out, struct fathom_error *err);

#endif

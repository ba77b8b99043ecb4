/*
 * format.h - the table of report formats. A new exporter needs a file with a function of this type, a line in the table, and a line with its
 * help in api/report/options.c.
 */
#ifndef FATHOM_REPORT_FORMAT_H
#define FATHOM_REPORT_FORMAT_H

#include "report/views/report.h"

struct format {
    const char *name;
    int (*write)(const struct report *report, FILE *out, struct fathom_error *err);
    bool
        recording; /* not a report but the recording with paths: `write` is NULL, see api/report/perf_export.h */
    bool binary;       /* not text for a terminal */
    bool code;         /* it is made from sampled code, not contexts; paths have the instructions of calls */
    bool samples;      /* it shows each sample (contexts->samples) */
    bool summed;       /* ... also samples that were added up, e.g. those of a store (store/gathering.h) */
    bool bounded;      /* ... or contexts, if samples are not kept */
    bool script_lines; /* it needs the lines of interpreted functions in paths, if samples are kept */
    bool events;       /* it shows all events, unless one is selected */
};

/* Ends with an entry without a name; the first is the default. */
extern const struct format format_table[];

#endif

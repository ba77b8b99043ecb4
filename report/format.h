/*
 * format.h - the table of formats that a report can be written in. A new exporter is a file with a function of
 * this type and a line in the table, and one in api/report/options.c with its help.
 */
#ifndef FATHOM_REPORT_FORMAT_H
#define FATHOM_REPORT_FORMAT_H

#include "report/views/report.h"

struct format {
    const char *name;
    int (*write)(const struct report *report, FILE *out, struct fathom_error *err);
    bool recording; /* no report, but the recording with paths: `write` is NULL, api/report/perf_export.h */
    bool binary;    /* no text for a terminal */
    bool
        code; /* it is made of the code that was sampled, not of contexts, with the instructions of calls in paths */
    bool samples;      /* it shows each sample (contexts->samples) */
    bool summed;       /* ... also samples that were added up, as those of a store (store/gathering.h) */
    bool bounded;      /* ... or the contexts, where samples are not kept */
    bool script_lines; /* it needs the lines of an interpreter's functions in paths, where samples are kept */
    bool events;       /* it shows all events, unless one is chosen */
};

/* Ends with an entry without a name; the first is the default. */
extern const struct format format_table[];

#endif

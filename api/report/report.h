/* report.h - a report of a file for what takes its contexts in place of a text: struct fathom_report, inside libfathom. */
#ifndef FATHOM_API_REPORT_REPORT_H
#define FATHOM_API_REPORT_REPORT_H

#include "api/report/reporting.h"

/* As fathom_report_open(), with a format of its own, and levels of cgroups also where the recording tells of none. */
int report_open_as(const struct fathom_report_options *options, const struct format *format,
                   const struct fathom_listener *listener, struct fathom_report **out,
                   struct fathom_error *err);
/* After fathom_report_run(): the reports of all events, the recording's reader, and the file that it read; borrowed. */
const struct report *report_of(const struct fathom_report *report);
const struct reader *report_reader(const struct fathom_report *report);
const char *report_recording(const struct fathom_report *report);

#endif

/* report.h - reports whose contexts other parts of libfathom use: internals of struct fathom_report. */
#ifndef FATHOM_API_REPORT_REPORT_H
#define FATHOM_API_REPORT_REPORT_H

#include "api/report/reporting.h"

/* Like fathom_report_open(), with another format, and accepts levels of cgroups even if the recording has no cgroups. */
int report_open_as(const struct fathom_report_options *options, const struct format *format,
                   const struct fathom_listener *listener, struct fathom_report **out,
                   struct fathom_error *err);
/* After fathom_report_run(): the reports of all events, the recording's reader, and the file that was read; borrowed. */
const struct report *report_of(const struct fathom_report *report);
const struct reader *report_reader(const struct fathom_report *report);
const char *report_recording(const struct fathom_report *report);

#endif

/* report.h - a report: what is written in one of the formats. */
#ifndef FATHOM_REPORT_VIEWS_REPORT_H
#define FATHOM_REPORT_VIEWS_REPORT_H

#include "report/views/view.h"

/* What to write; all borrowed. */
struct report {
    const struct contexts *contexts;
    const struct view_heading *heading;
    const struct view_options *view;
    const struct log *log;     /* for warnings of what a format lacks; NULL: none */
    const struct report *next; /* of another event of the recording, for formats with `events`; NULL: none */
};

#endif

/*
 * heading_paths.h - the heading's line of paths: how much of the weight has one that is proved, inferred or unknown, what
 * from, and how much of it is expected to be right.
 */
#ifndef FATHOM_REPORT_VIEWS_HEADING_PATHS_H
#define FATHOM_REPORT_VIEWS_HEADING_PATHS_H

#include "report/text/printer.h"
#include "report/views/view.h"

/* explain: a line more for each word in it. */
void heading_paths_write(struct printer *printer, const struct view_heading *heading, bool explain);

#endif

/*
 * heading_paths.h - the heading's line of paths: how much of the weight has a proved, inferred or unknown path, from which
 * sources, and how much is expected to be right.
 */
#ifndef FATHOM_REPORT_VIEWS_HEADING_PATHS_H
#define FATHOM_REPORT_VIEWS_HEADING_PATHS_H

#include "report/text/printer.h"
#include "report/views/view.h"

/* explain: adds a line for each term in it. */
void heading_paths_write(struct printer *printer, const struct view_heading *heading, bool explain);

#endif

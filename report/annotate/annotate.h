/*
 * annotate.h - a function's source lines and instructions, each with the weight of its samples.
 */
#ifndef FATHOM_REPORT_ANNOTATE_ANNOTATE_H
#define FATHOM_REPORT_ANNOTATE_ANNOTATE_H

#include "report/annotate/choose.h"
#include "report/views/report.h"

/* Annotates the hottest function that matches report->view->annotate, with files from report->view->images. The report's samples
 * must have been kept. min_percent and max_rows limit instructions and lines; percentages are of the function's self weight. Errors
 * as choice_new(), and failed writes. */
int annotate_write(const struct report *report, FILE *out, struct fathom_error *err);

#endif

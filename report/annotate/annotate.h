/*
 * annotate.h - a function's source lines and instructions with the weight of the samples at each.
 */
#ifndef FATHOM_REPORT_ANNOTATE_ANNOTATE_H
#define FATHOM_REPORT_ANNOTATE_ANNOTATE_H

#include "report/annotate/choose.h"
#include "report/views/report.h"

/* Of the hottest function that report->view->annotate means; report->view->images: where files are looked for. The report's
 * samples must have been kept. min_percent and max_rows: of instructions and of lines, as shares of the function's own
 * weight. Errors as choice_new(), and failed writes. */
int annotate_write(const struct report *report, FILE *out, struct fathom_error *err);

#endif

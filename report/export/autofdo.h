/* autofdo.h - what the formats for LLVM share. Private to report/. */
#ifndef FATHOM_REPORT_EXPORT_AUTOFDO_H
#define FATHOM_REPORT_EXPORT_AUTOFDO_H

#include "report/export/source_counts.h"
#include "report/text/printer.h"

/* A line of a function, with where its indirect calls led: "12.1: 400 f:300 g:100". */
void autofdo_line(struct printer *printer, const struct source_counts *counts, const struct source_line *line,
                  int depth);

#endif

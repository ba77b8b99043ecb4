/* autofdo.h - shared by the formats for LLVM. Private to report/. */
#ifndef FATHOM_REPORT_EXPORT_AUTOFDO_H
#define FATHOM_REPORT_EXPORT_AUTOFDO_H

#include "report/export/source_counts.h"
#include "report/text/printer.h"

/* Writes a line of a function, with the targets of its indirect calls: "12.1: 400 f:300 g:100". */
void autofdo_line(struct printer *printer, const struct source_counts *counts, const struct source_line *line,
                  int depth);

#endif

/*
 * phases.h - the phases of a recording over time, each with its share, the phases that followed it, its representative interval, and its
 * hot contexts. Both functions are report formats (format.h); they need each sample.
 */
#ifndef FATHOM_REPORT_PHASES_PHASES_H
#define FATHOM_REPORT_PHASES_PHASES_H

#include "profile/phasing.h"
#include "report/views/report.h"

int phases_text_write(const struct report *report, FILE *out, struct fathom_error *err);
int phases_json_write(const struct report *report, FILE *out, struct fathom_error *err); /* docs/json.md */

#endif

/*
 * script.h - the source of a function that an interpreter runs, with the weight of the paths through each line. Private to report/annotate/.
 */
#ifndef FATHOM_REPORT_ANNOTATE_SCRIPT_H
#define FATHOM_REPORT_ANNOTATE_SCRIPT_H

#include "report/views/report.h"

/* The heaviest such function (FRAME_SCRIPT) with this name, or with one that ends so behind a '.'; FRAMES_NONE: no path has one. *weight: of the
 * paths that end in it, or in machine code that it called. */
uint32_t script_find(const struct contexts *contexts, const char *name, uint64_t *weight);
/* Writes it. -ENOMEM; errors of writes. */
int script_annotate(const struct report *report, uint32_t item, FILE *out, struct fathom_error *err);

#endif

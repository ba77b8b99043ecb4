/*
 * script.h - the source of a function that an interpreter runs, with the weight of the paths through each line. Private to report/annotate/.
 */
#ifndef FATHOM_REPORT_ANNOTATE_SCRIPT_H
#define FATHOM_REPORT_ANNOTATE_SCRIPT_H

#include "report/views/report.h"

/* Of each frame that is such a function (FRAME_SCRIPT), by its item: the weight of paths that end in it, or in machine code that it called. Of others
 * 0. malloc'ed; NULL: out of memory. */
uint64_t *script_weights(const struct contexts *contexts);
/* The heaviest one with this name, or with one that ends so behind a '.', ':' or '\\'; FRAMES_NONE: no path has one. *weight: as of
 * script_weights(). */
uint32_t script_find(const struct contexts *contexts, const char *name, uint64_t *weight);
/* Writes it. -ENOMEM; errors of writes. */
int script_annotate(const struct report *report, uint32_t item, FILE *out, struct fathom_error *err);

#endif

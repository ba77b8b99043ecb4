/*
 * script.h - the source of an interpreted function, with the weight of the paths through each line. Private to report/annotate/.
 */
#ifndef FATHOM_REPORT_ANNOTATE_SCRIPT_H
#define FATHOM_REPORT_ANNOTATE_SCRIPT_H

#include "report/views/report.h"

/* By item: for an interpreted function (FRAME_SCRIPT) the weight of paths that end in it, or in machine code that it called; for
 * other frames 0. malloc'ed; NULL: out of memory. */
uint64_t *script_weights(const struct contexts *contexts);
/* The heaviest interpreted function with this name, alone or after a '.', ':' or '\\'; FRAMES_NONE: no path has one. *weight: as in
 * script_weights(). */
uint32_t script_find(const struct contexts *contexts, const char *name, uint64_t *weight);
/* Writes its source. -ENOMEM; write errors. */
int script_annotate(const struct report *report, uint32_t item, FILE *out, struct fathom_error *err);

#endif

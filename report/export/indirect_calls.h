/*
 * indirect_calls.h - which functions the indirect calls of sampled functions led to, and how often, by the paths of samples. Private to report/.
 */
#ifndef FATHOM_REPORT_EXPORT_INDIRECT_CALLS_H
#define FATHOM_REPORT_EXPORT_INDIRECT_CALLS_H

#include "profile/contexts.h"
#include "report/export/run_counts.h"

/* Sets counts->indirect. 0 or -ENOMEM. */
int indirect_calls_find(const struct contexts *contexts, struct run_counts *counts, struct fathom_error *err);
/* Sets the counts, from how often the calls ran and how often the functions were entered. */
void indirect_calls_count(struct run_counts *counts);

#endif

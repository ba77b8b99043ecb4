/*
 * indirect_calls.h - the targets of sampled functions' indirect calls with their counts, from the samples' paths. Private to report/.
 */
#ifndef FATHOM_REPORT_EXPORT_INDIRECT_CALLS_H
#define FATHOM_REPORT_EXPORT_INDIRECT_CALLS_H

#include "profile/contexts.h"
#include "report/export/run_counts.h"

/* Sets counts->indirect. 0 or -ENOMEM. */
int indirect_calls_find(const struct contexts *contexts, struct run_counts *counts, struct fathom_error *err);
/* Sets the counts, from how often each call ran and each function was entered. */
void indirect_calls_count(struct run_counts *counts);

#endif

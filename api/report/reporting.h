/*
 * reporting.h - turns a recording into a report: from a file, or from what is being recorded.
 */
#ifndef FATHOM_API_REPORT_REPORTING_H
#define FATHOM_API_REPORT_REPORTING_H

#include "api/report/options.h"
#include "base/progress.h"

struct reporting;

/* Opens and begins the output, before the long work, and before rights are given up. */
int reporting_output(const struct report_options *options, struct outfile **out, struct fathom_error *err);
/* Opens the map, if one is given. All but options->opened is borrowed. */
int reporting_new(const struct report_options *options, const struct log *log,
                  const struct progress *progress, struct reporting **out, struct fathom_error *err);
void reporting_free(struct reporting *reporting); /* NULL is allowed */
/* For a recording in progress, whose first event is reported: learns from its records as they arrive, in time order. reporting_run()
 * then gets the whole recording. events: as for engine_begin_live(). */
int reporting_begin_live(struct reporting *reporting, const struct event *events, size_t count,
                         struct fathom_error *err);
order_sink reporting_learn; /* context: the struct reporting */
/* Infers the contexts of the recording's samples. At most once. */
int reporting_infer(struct reporting *reporting, struct reader *reader, struct fathom_error *err);
/* Then: the contexts; borrowed from the reporting and its reader. */
int reporting_contexts(const struct reporting *reporting, struct contexts *out, struct fathom_error *err);
/* Then: if the kernel's functions have no names, notes why and returns true. */
bool reporting_tell_unnamed(const struct reporting *reporting);
/* Then: notes which files lack inlined functions because their debug information is too large. */
void reporting_tell_uninlined(const struct reporting *reporting);
/* Then: whether debug information was read for inlined functions of a file of this name. */
bool reporting_inlines(const struct reporting *reporting, const char *file);
/* Infers the contexts, and fills the report. At most once. */
int reporting_run(struct reporting *reporting, struct reader *reader, struct fathom_error *err);
/* Then: the report, followed by those of other events. */
const struct report *reporting_report(const struct reporting *reporting);
/* Writes a report to an output, or to the stream if that is NULL. An existing file is replaced only once the new one is complete. */
int reporting_put(const struct report *report, const struct report_options *options, struct outfile *output,
                  FILE *stream, struct fathom_error *err);
/* Then: writes the report to its output, or to the stream if it has none. */
int reporting_write(struct reporting *reporting, FILE *stream, struct fathom_error *err);
/* Then: warns if the report has no samples. Returns whether the options left them out. */
bool reporting_tell_empty(const struct reporting *reporting);
/* Then: the files that were opened. */
struct image_cache *reporting_images(const struct reporting *reporting);
/* Then: whether files of another build were found. */
bool reporting_stale(const struct reporting *reporting);

#endif

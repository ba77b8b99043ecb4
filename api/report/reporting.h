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
/* For a recording in progress, whose first event is reported: its records are learned from as they arrive, in
 * time order. reporting_run() then takes the whole recording. events: as for engine_begin_live(). */
int reporting_begin_live(struct reporting *reporting, const struct event *events, size_t count,
                         struct fathom_error *err);
order_sink reporting_learn; /* context: the struct reporting */
/* Infers the contexts of the recording's samples. At most once. */
int reporting_infer(struct reporting *reporting, struct reader *reader, struct fathom_error *err);
/* Then: what there is to show; borrowed from the reporting and its reader. */
int reporting_contexts(const struct reporting *reporting, struct contexts *out, struct fathom_error *err);
/* Then: notes why the kernel's functions have no names. false: they have, or there are none. */
bool reporting_tell_unnamed(const struct reporting *reporting);
/* Then: notes of what files the inlined functions are not shown, as their debug information is too large. */
void reporting_tell_uninlined(const struct reporting *reporting);
/* Then: whether a file of this name has debug information that was read for inlined functions. */
bool reporting_inlines(const struct reporting *reporting, const char *file);
/* Infers them, and fills the report. At most once. */
int reporting_run(struct reporting *reporting, struct reader *reader, struct fathom_error *err);
/* Then: what it is, with those of other events behind it. */
const struct report *reporting_report(const struct reporting *reporting);
/* Writes a report to an output, or for NULL to the stream. A file replaces an existing one only when it is complete. */
int reporting_put(const struct report *report, const struct report_options *options, struct outfile *output,
                  FILE *stream, struct fathom_error *err);
/* Then: writes it to its output, or else to the stream. */
int reporting_write(struct reporting *reporting, FILE *stream, struct fathom_error *err);
/* Then: warns of a report without samples; whether that is because of the options. */
bool reporting_tell_empty(const struct reporting *reporting);
/* Then: the files that it opened. */
struct image_cache *reporting_images(const struct reporting *reporting);
/* Call it after one of these: whether files of another build were encountered. */
bool reporting_stale(const struct reporting *reporting);

#endif

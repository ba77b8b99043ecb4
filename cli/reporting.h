/*
 * reporting.h - turns a recording into a report on standard output: for `fathom report`, from a file; for
 * `fathom record --report`, from what it records.
 */
#ifndef FATHOM_CLI_REPORTING_H
#define FATHOM_CLI_REPORTING_H

#include "cli/archived.h"
#include "cli/options.h"
#include "cli/perf_export.h"
#include "cli/terminal.h"
#include "infer/engine/engine.h"
#include "profile/profile.h"
#include "report/format.h"

struct report_options {
    const char *input, *map, *event, *symfs;
    const char *output;     /* NULL: standard output */
    struct outfile *opened; /* the output, by reporting_output(); reporting_new() takes it */
    struct view_options view;
    struct profile_options profile; /* without its filter */
    struct filter_options filter;
    struct option_pids pids, tids; /* the filter's */
    double phi;
    struct engine_options engine;
    const struct format *format;
    enum perf_certainty certainty;
    const struct metric *metric;
    enum colour_when colour;
    uint64_t rows;             /* 0: all */
    uint64_t listed;           /* functions whose code a page has */
    struct archived *archived; /* the input, unpacked; NULL: it is a recording */
    /* Names the kernel's functions; opened before privileges are given up. NULL: paths end with user code. */
    struct running_kernel *kernel;
    bool no_cache; /* do not use maps that earlier recordings kept */
    bool wide;     /* names in full, regardless of the terminal's width */
};

/* The defaults, unless the user asks for something else. */
#define REPORT_DEFAULTS                                                                                      \
    {                                                                                                        \
        .input = "perf.data", .format = &format_table[0], .metric = &metric_table[0],                        \
        .listed = LISTED_DEFAULT, .engine = {.learning = LEARN_DUMPS, .hold_back = true, .own_dumps = true}, \
        .view = {.view = &view_table[0], .min_percent = 0.5, .show_image = true},                            \
        .profile = {.framing = {.inlined = FRAMING_INLINED}},                                                \
    }

struct reporting;

/* Opens and begins the output, before the long work, and before rights are given up. */
int reporting_output(const struct report_options *options, struct outfile **out, struct fathom_error *err);
/* Opens the map, if one is given. options and terminal are borrowed. */
int reporting_new(const struct report_options *options, struct terminal *terminal, struct reporting **out,
                  struct fathom_error *err);
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
/* Infers and prints them. At most once. */
int reporting_run(struct reporting *reporting, struct reader *reader, struct fathom_error *err);
/* Then: warns of a report without samples; whether that is because of the options. */
bool reporting_tell_empty(const struct reporting *reporting);
/* Call it after one of these. The exit code: EXIT_BUILD if files of another build were encountered. */
int reporting_code(const struct reporting *reporting);

#endif

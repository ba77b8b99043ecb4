/*
 * report_rows.h - the options that commands which report have in common (report, script, diff, annotate): rows of their
 * tables. The values are in a struct report_options, which stands first in the command's own struct.
 */
#ifndef FATHOM_CLI_REPORT_ROWS_H
#define FATHOM_CLI_REPORT_ROWS_H

#include "cli/kept_maps.h"
#include "cli/options.h"
#include "cli/reporting.h"
#include "cli/symfs.h"

#define REPORT_INPUT                                                                                         \
    OPTION_TEXT("input", 'i', "FILE", struct report_options, input,                                          \
                "a perf.data file; '-' reads standard input (default: perf.data)")
#define REPORT_MAP                                                                                           \
    OPTION_TEXT("map", 'm', "MAP", struct report_options, map, "a path map from 'fathom train'")
#define REPORT_NO_CACHE                                                                                      \
    KEPT_MAPS_NO_CACHE(struct report_options, "do not use what other recordings of the same programs "       \
                                              "learned")
#define REPORT_OUTPUT(text) OPTION_TEXT("output", 'o', "FILE", struct report_options, output, text)
#define REPORT_METRIC(text)                                                                                  \
    OPTION_TABLE("metric", 0, "NAME", metric_table, struct metric, struct report_options, metric, text)
#define REPORT_MIN(text)                                                                                     \
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct report_options, view.min_percent, text)
#define REPORT_MOST(text)  OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct report_options, rows, text)
#define REPORT_EVENT(text) OPTION_TEXT("event", 0, "NAME", struct report_options, event, text)

/* Which samples count. */
#define REPORT_FILTER                                                                                        \
    OPTION_PIDS("pid", 'p', "PID,...", struct report_options, pids, "only samples of these processes"),      \
        OPTION_PIDS("tid", 't', "TID,...", struct report_options, tids, "only of these threads"),            \
        OPTION_TEXT("comm", 0, "REGEX", struct report_options, filter.comm,                                  \
                    "only of threads with such a name, or with one of a list 'A,B' (likewise below)"),       \
        OPTION_FRACTION("from", 0, "S", 0, 1e9, struct report_options, filter.from,                          \
                        "only from S seconds after the first sample on"),                                    \
        OPTION_FRACTION("to", 0, "S", 0, 1e9, struct report_options, filter.to,                              \
                        "only before S seconds after it"),                                                   \
        OPTION_TEXT("focus", 0, "REGEX", struct report_options, filter.focus,                                \
                    "only paths that have such a function"),                                                 \
        OPTION_TEXT("ignore", 0, "REGEX", struct report_options, filter.ignore,                              \
                    "only paths that have none"),                                                            \
        OPTION_TEXT("symbol", 0, "REGEX", struct report_options, filter.symbol,                              \
                    "only samples in such a function"),                                                      \
        OPTION_TEXT("image", 0, "REGEX", struct report_options, filter.image,                                \
                    "only samples in such a program or library")

/* What paths have besides functions. */
#define REPORT_FRAMING                                                                                       \
    OPTION_FLAG("threads", 0, struct report_options, profile.framing.threads,                                \
                "show each thread as a separate root"),                                                      \
        OPTION_OWN("inline", 0, NULL, report_take_inline,                                                    \
                   "show inlined functions, of callers too, of all files that have debug information "       \
                   "(default: as far as --inline-limit)"),                                                   \
        OPTION_OWN("no-inline", 0, NULL, report_take_no_inline, "do not show inlined functions"),            \
        OPTION_NUMBER("inline-limit", 0, "KIB", 1, UINT64_MAX, struct report_options,                        \
                      profile.framing.inlined,                                                               \
                      "read at most so much debug information for inlined functions (default: 65536)"),      \
        OPTION_FLAG("lines", 0, struct report_options, profile.framing.lines,                                \
                    "show source lines, of callers too (needs debug info)")
#define REPORT_DATA                                                                                          \
    OPTION_FLAG("data", 0, struct report_options, profile.framing.accesses,                                  \
                "show the memory that was accessed, and where the processor found it, at the end of each "   \
                "path (of a recording with --data)")
#define REPORT_SYMFS  SYMFS_OPTION(struct report_options)
#define REPORT_WIDE   OPTION_WIDE(struct report_options)
#define REPORT_COLOUR OPTION_COLOUR(struct report_options)

/* --inline, --no-inline */
option_take report_take_inline;
option_take report_take_no_inline;

/* Frees what the options' lists hold. */
void report_options_clear(struct report_options *options);

#endif

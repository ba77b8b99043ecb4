/*
 * report_rows.h - options shared by the commands that report (report, script, diff, annotate, phases, store): rows of their tables, and
 * how they are used. Their values are in a struct report_rows, the first member of the command's own struct.
 */
#ifndef FATHOM_CLI_REPORT_ROWS_H
#define FATHOM_CLI_REPORT_ROWS_H

#include "api/fathom.h"
#include "cli/options.h"
#include "cli/shared_rows.h"

struct report_rows {
    struct fathom_report_options report; /* diff uses only the profile and the output */
    struct option_pids pids, tids;       /* of the filter */
    struct option_pids phases;           /* numbers of the phases to show */
    const struct fathom_word *metric;    /* NULL: the default */
    enum colour_when colour;
    bool wide; /* names in full, regardless of the terminal's width */
};

#define REPORT_INPUT                                                                                         \
    OPTION_TEXT("input", 'i', "FILE", struct report_rows, report.recording,                                  \
                "a perf.data file; '-' reads standard input (default: perf.data)")
#define REPORT_MAP                                                                                           \
    OPTION_TEXT("map", 'm', "MAP", struct report_rows, report.profile.map, "a path map from 'fathom train'")
#define REPORT_NO_CACHE                                                                                      \
    OPTION_FLAG("no-cache", 0, struct report_rows, report.profile.no_cache,                                  \
                "do not use what other recordings of the same programs learned")
#define REPORT_OUTPUT(text) OPTION_TEXT("output", 'o', "FILE", struct report_rows, report.output, text)
#define REPORT_METRIC(text)                                                                                  \
    OPTION_TABLE("metric", 0, "NAME", fathom_metrics, struct fathom_word, struct report_rows, metric, text)
#define REPORT_MIN(text)                                                                                     \
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct report_rows, report.min_percent, text)
#define REPORT_MOST(text)                                                                                    \
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct report_rows, report.rows, text)
#define REPORT_EVENT(text) OPTION_TEXT("event", 0, "NAME", struct report_rows, report.profile.event, text)

/* Which samples count. */
#define REPORT_FILTER                                                                                        \
    OPTION_PIDS("pid", 'p', "PID,...", struct report_rows, pids, "only samples of these processes"),         \
        OPTION_PIDS("tid", 't', "TID,...", struct report_rows, tids, "only of these threads"),               \
        OPTION_TEXT("comm", 0, "REGEX", struct report_rows, report.profile.filter.comm,                      \
                    "only of threads with such a name, or with one of a list 'A,B' (likewise below)"),       \
        OPTION_FRACTION("from", 0, "S", 0, 1e9, struct report_rows, report.profile.filter.from,              \
                        "only from S seconds after the first sample on"),                                    \
        OPTION_FRACTION("to", 0, "S", 0, 1e9, struct report_rows, report.profile.filter.to,                  \
                        "only before S seconds after it"),                                                   \
        OPTION_TEXT("focus", 0, "REGEX", struct report_rows, report.profile.filter.focus,                    \
                    "only paths that have such a function"),                                                 \
        OPTION_TEXT("ignore", 0, "REGEX", struct report_rows, report.profile.filter.ignore,                  \
                    "only paths that have none"),                                                            \
        OPTION_TEXT("symbol", 0, "REGEX", struct report_rows, report.profile.filter.symbol,                  \
                    "only samples in such a function"),                                                      \
        OPTION_TEXT("image", 0, "REGEX", struct report_rows, report.profile.filter.image,                    \
                    "only samples in such a program or library")

/* Numbers of KiB. */
#define REPORT_INLINE(text)                                                                                  \
    OPTION_SET("inline", UINT64_MAX, struct report_rows, report.profile.inline_most, text)
#define REPORT_NO_INLINE(text)                                                                               \
    OPTION_SET("no-inline", 0, struct report_rows, report.profile.inline_most, text)

/* What paths show besides functions. */
#define REPORT_FRAMING                                                                                       \
    OPTION_TEXT("by", 0, "LEVEL,...", struct report_rows, report.profile.by,                                 \
                "show who ran the paths as their roots, the first outermost: cgroup, container, "            \
                "service, exe, comm, pid, tid, state"),                                                      \
        OPTION_FLAG("process-tree", 0, struct report_rows, report.profile.process_tree,                      \
                    "show which programs started each other, as make > sh > cc1, above the paths"),          \
        OPTION_FLAG("threads", 0, struct report_rows, report.profile.threads,                                \
                    "show each thread as a separate root"),                                                  \
        REPORT_INLINE(                                                                                       \
            "show inlined functions, of callers too, of all files that have debug information (default: as " \
            "far as --inline-limit)"),                                                                       \
        REPORT_NO_INLINE("do not show inlined functions"),                                                   \
        OPTION_NUMBER("inline-limit", 0, "KIB", 1, UINT64_MAX, struct report_rows,                           \
                      report.profile.inline_most,                                                            \
                      "read at most so much debug information for inlined functions (default: 65536)"),      \
        OPTION_FLAG("lines", 0, struct report_rows, report.profile.lines,                                    \
                    "show source lines, of callers too (needs debug info)"),                                 \
        OPTION_FLAG("native", 0, struct report_rows, report.profile.native,                                  \
                    "show machine code alone, not the functions that an interpreter runs"),                  \
        OPTION_FLAG("script", 0, struct report_rows, report.profile.script,                                  \
                    "show functions that an interpreter runs without the machine code around them")
#define REPORT_DATA                                                                                          \
    OPTION_FLAG("data", 0, struct report_rows, report.profile.data,                                          \
                "show the memory that was accessed, and where the processor found it, at the end of each "   \
                "path (of a recording with --data)")
#define REPORT_WAKERS                                                                                        \
    OPTION_NUMBER("wakers", 0, "N", 1, FATHOM_WAKERS_MOST, struct report_rows, report.profile.wakers,        \
                  "show who ended waits, and so many who had woken those one after the other (of a "         \
                  "recording with --wakers; event 'wakers' has one)")
#define REPORT_SYMFS  SYMFS_OPTION(struct report_rows, report.profile.symfs)
#define REPORT_WIDE   OPTION_WIDE(struct report_rows)
#define REPORT_COLOUR OPTION_COLOUR(struct report_rows)

void report_rows_init(struct report_rows *rows); /* the defaults */
/* Completes the options when all are parsed. The rows still own the lists. */
void report_rows_complete(struct report_rows *rows, const struct terminal *terminal);
/* Prints the report; errors and notes go to the terminal. Returns the exit code. */
int report_rows_run(struct report_rows *rows, struct terminal *terminal);
/* Frees the lists. */
void report_rows_clear(struct report_rows *rows);

#endif

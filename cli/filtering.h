/* filtering.h - the options that choose samples, alike in all commands that report. */
#ifndef FATHOM_CLI_FILTERING_H
#define FATHOM_CLI_FILTERING_H

#include "cli/options.h"
#include "cli/reporting.h"

/* Rows of a table whose values are in a struct report_options. */
#define FILTERING_ROWS                                                                                       \
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
#define FRAMING_ROWS                                                                                         \
    OPTION_FLAG("threads", 0, struct report_options, profile.framing.threads,                                \
                "show each thread as a separate root"),                                                      \
        OPTION_FLAG("inline", 0, struct report_options, profile.framing.inlined,                             \
                    "show inlined functions, of callers too (needs debug info)"),                            \
        OPTION_FLAG("lines", 0, struct report_options, profile.framing.lines,                                \
                    "show source lines, of callers too (needs debug info)")

/* Frees what the options' lists hold. */
void filtering_clear(struct report_options *options);

#endif

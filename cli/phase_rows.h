/* phase_rows.h - options about finding a recording's phases, for tables of commands with report rows. */
#ifndef FATHOM_CLI_PHASE_ROWS_H
#define FATHOM_CLI_PHASE_ROWS_H

#include "cli/report_rows.h"

extern const struct option_word phase_kinds[];

#define PHASE_ROWS                                                                                           \
    OPTION_CHOICE("phases-by", 0, "WHAT", phase_kinds, enum fathom_phase_kind, struct report_rows,           \
                  report.profile.phases.kind,                                                                \
                  "what intervals of one phase have in common: contexts (the default), functions or "        \
                  "regions (of code)"),                                                                      \
        OPTION_FRACTION("interval", 0, "MS", 0, 1e15, struct report_rows, report.profile.phases.interval,    \
                        "the work of an interval: ms of a clock, or events (default: 200 samples, and at "   \
                        "most 600 intervals)"),                                                              \
        OPTION_FRACTION("threshold", 0, "D", 0, 1, struct report_rows, report.profile.phases.threshold,      \
                        "intervals of one phase are less than D apart, 0 to 1 (default: 0.25)")

/* For commands that show only some phases. */
#define PHASE_FILTER(name, text) OPTION_PIDS(name, 0, "N,...", struct report_rows, phases, text)

#endif

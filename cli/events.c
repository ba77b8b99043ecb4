/* events.c - `fathom events`: lists the events that can be sampled on this machine, and what their records contain. */
#include <getopt.h>
#include <string.h>

#include "api/fathom.h"
#include "cli/exit.h"
#include "cli/options.h"

static int events_run(int argc, char **argv, struct terminal *terminal)
{
    struct fathom_events_options options = {0};
    int code = options_parse(&events_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (argc - optind > 1)
        return option_usage(terminal, "give at most one pattern");
    options.pattern = argv[optind];
    if (options.pattern && strlen(options.pattern) > FATHOM_EVENTS_PATTERN)
        return option_usage(terminal, "the pattern is longer than %d bytes", FATHOM_EVENTS_PATTERN);
    struct fathom_error err = {0};
    return exit_result(terminal, fathom_events_write(&options, stdout, &err), &err);
}

static const struct option_row rows[] = {
    OPTION_FLAG("json", 0, struct fathom_events_options, json, "as JSON, with all tracepoints"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command events_command = {
    .name = "events",
    .summary = "list the events that can be sampled on this machine",
    .synopsis = "[PATTERN]",
    .about = "Lists what 'fathom record -e' takes on this machine: aliases, with the event that each stands "
             "for on this CPU; software events; the CPU's own events, as libpfm4 names them; and, if they "
             "match a PATTERN, tracepoints. In brackets: how precise an event can be (':pp'), the size of a "
             "sample's record, what it tells of the data (address, latency, source), and whether the CPU "
             "writes many records at once (in batches), if a period is given. Events at functions and "
             "markers of programs (uprobe:, uretprobe:, usdt:) are in fathom-record(1). A pattern is a part "
             "of the name or the description, or has *, ? and [].",
    .options = rows,
    .paged = true,
    .run = events_run,
};

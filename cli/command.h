/* command.h - the table of sub-commands and their options, from which dispatch, parsing and --help are derived. */
#ifndef FATHOM_CLI_COMMAND_H
#define FATHOM_CLI_COMMAND_H

#include "cli/terminal.h"

struct option_row; /* cli/options.h */

struct command {
    const char *name;
    const char *summary;              /* one line, no full stop */
    const char *synopsis;             /* lines, without "usage: fathom NAME" */
    const char *about;                /* text of --help before the options, rewrapped */
    const char *notes;                /* the same after the options; NULL: none */
    const struct option_row *options; /* ends with OPTION_END */
    bool paged;                       /* standard output goes through a pager: cli/pager.h */
    /* argv[0] is the sub-command's name. Returns an exit code (cli/exit.h). */
    int (*run)(int argc, char **argv, struct terminal *terminal);
};

extern const struct command record_command, train_command, report_command, map_command, evaluate_command,
    graph_command, hcct_command, ambiguity_command, disambig_command, calls_command, top_command,
    doctor_command, events_command, script_command, phases_command, annotate_command, diff_command,
    archive_command, store_command, agent_command, trace_command, streams_command, help_command;

/* All commands in the order in which help lists them; ends with NULL. */
extern const struct command *const command_table[];

const struct command *command_find(const char *name); /* NULL: no such command */
/* The command that was probably meant (base/slips.h); NULL: none. */
const struct command *command_like(const char *name);

#endif

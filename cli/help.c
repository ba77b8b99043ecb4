/* help.c - `fathom help [CMD]`: the list of commands, or one command's usage. */
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"

static int help_run(int argc, char **argv, struct terminal *terminal)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return option_help(&help_command);
    if (argc > 1) {
        const struct command *command = command_find(argv[1]);
        if (!command)
            return option_usage(terminal, &help_command, "there is no command '%s'", argv[1]);
        return option_help(command);
    }
    puts("Fathom shows which call paths a program's time or cache misses come from, at about the cost of a "
         "flat profile.\n"
         "\n"
         "usage: fathom COMMAND [OPTIONS]\n"
         "\n"
         "Commands:");
    for (size_t i = 0; command_table[i]; i++)
        printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
    puts("\n"
         "'fathom help COMMAND' or 'fathom COMMAND --help' lists the options; see 'man fathom' for "
         "everything else.\n"
         "First steps:\n"
         "  fathom record -- ./program args     # writes perf.data\n"
         "  fathom report                       # hot calling contexts");
    return EXIT_OK;
}

static const struct option_row rows[] = {OPTION_END};

const struct command help_command = {
    .name = "help",
    .summary = "this list, or the options of a command",
    .synopsis = "[COMMAND]",
    .options = rows,
    .run = help_run,
};

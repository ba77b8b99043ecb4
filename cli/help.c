/* help.c - `fathom help [CMD]`: the list of commands, or one command's usage. */
#include <getopt.h>

#include "cli/completion.h"
#include "cli/exit.h"
#include "cli/options.h"

struct help_options {
    const char *completion;
};

static int help_run(int argc, char **argv, struct terminal *terminal)
{
    struct help_options options = {0};
    int code = options_parse(&help_command, &options, false, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (options.completion)
        return completion_print(options.completion)
                   ? EXIT_OK
                   : option_usage(terminal, "there is completion for bash and zsh only");
    argc -= optind - 1;
    argv += optind - 1;
    if (argc > 1) {
        const struct command *command = command_find(argv[1]);
        if (!command)
            return option_usage(terminal, "there is no command '%s'", argv[1]);
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

static const struct option_row rows[] = {
    OPTION_TEXT("completion", 0, "SHELL", struct help_options, completion,
                "print what bash or zsh needs to complete commands and options"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command help_command = {
    .name = "help",
    .summary = "this list, or the options of a command",
    .synopsis = "[COMMAND]\n--completion SHELL",
    .options = rows,
    .paged = true,
    .run = help_run,
};

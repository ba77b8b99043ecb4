/* main.c - finds the sub-command in the table and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "config.h"

int main(int argc, char **argv)
{
    struct terminal terminal;
    terminal_init(&terminal);
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("fathom %s\n", PACKAGE_VERSION);
        return EXIT_OK;
    }
    const struct command *command = command_find(name);
    if (!command) {
        fprintf(stderr, "fathom: there is no command '%s'; 'fathom help' lists them\n", name);
        return EXIT_USAGE;
    }
    char prefix[64];
    snprintf(prefix, sizeof prefix, "fathom %s", command->name);
    terminal.command = prefix;
    if (argc > 1)
        argv[1] = prefix; /* what getopt's messages start with */
    int code = argc > 1 ? command->run(argc - 1, argv + 1, &terminal)
                        : (command->run(1, argv, &terminal), EXIT_USAGE);
    terminal_progress_end(&terminal);
    /* A report cut short by a full disk or a closed pipe is a failure, not a success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (code == EXIT_OK) {
            fprintf(stderr, "%s: cannot write to standard output\n", prefix);
            code = EXIT_OUTPUT;
        }
    }
    return code;
}

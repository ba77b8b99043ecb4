/* main.c - finds the sub-command in the table and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "config.h"

/* A closed standard stream must not become the descriptor of a file that is opened later, so it gets one that cannot be written. */
static void keep_standard_streams(void)
{
    for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY))
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    /* Exceeding the file size limit is a failed write. Launched commands get the default, as for SIGPIPE. */
    signal(SIGXFSZ, SIG_IGN);
    struct terminal terminal;
    terminal_init(&terminal);
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("fathom %s\n", PACKAGE_VERSION);
        terminal_end(&terminal);
        return EXIT_OK;
    }
    const struct command *command = command_find(name);
    if (!command) {
        const struct command *like = command_like(name);
        terminal_wrong(&terminal, "there is no command '%s'%s%s%s 'fathom help' lists them", name,
                       like ? ": did you mean '" : "", like ? like->name : "", like ? "'?" : ";");
        terminal_end(&terminal);
        return EXIT_USAGE;
    }
    char prefix[64], wrong[80];
    snprintf(prefix, sizeof prefix, "fathom %s", command->name);
    snprintf(wrong, sizeof wrong, "%s: error", prefix);
    terminal.command = prefix;
    if (argc > 1)
        argv[1] = wrong; /* the prefix of getopt's messages */
    int code = argc > 1 ? command->run(argc - 1, argv + 1, &terminal)
                        : (command->run(1, argv, &terminal), EXIT_USAGE);
    terminal_progress_end(&terminal);
    pager_end(&terminal);
    terminal_end(&terminal);
    /* A report cut short by a full disk or a closed pipe is a failure, not a success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (code == EXIT_OK) {
            fprintf(stderr, "%s: error: cannot write to standard output\n", prefix);
            code = EXIT_OUTPUT;
        }
    }
    return code;
}

/* completion.h - scripts for shells that complete commands and options, made from the table of commands. */
#ifndef FATHOM_CLI_COMPLETION_H
#define FATHOM_CLI_COMPLETION_H

#include <stdbool.h>

/* Prints the script for "bash" or "zsh" on standard output; false: another shell. */
bool completion_print(const char *shell);

#endif

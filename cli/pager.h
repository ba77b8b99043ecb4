/*
 * pager.h - shows what a command prints on a terminal page by page, as git(1) and man(1) do.
 *
 * The pager is $FATHOM_PAGER, else $PAGER, else less(1), which gets LESS=FRX unless LESS is set: it ends by itself if all
 * fits on one screen, and keeps colours. There is none if the variable is empty or "cat", on a dumb terminal, with
 * --no-pager, and if standard output is no terminal.
 *
 * Only `stdout` leads to it: STDOUT_FILENO stays the terminal, so that colour and width are found as without one, and the
 * commands that are launched keep theirs. It runs from the first byte on, so that progress and errors before are seen.
 * One that quits early has seen enough: nothing fails. What one that cannot run leaves is printed.
 */
#ifndef FATHOM_CLI_PAGER_H
#define FATHOM_CLI_PAGER_H

#include "cli/terminal.h"

/* Forks it. To be called before rights are given up (cli/privilege.h), which forbids to execute anything. Does nothing
 * if there is one already. */
void pager_start(struct terminal *terminal);
/* Waits until the user has read all. */
void pager_end(struct terminal *terminal);

#endif

/*
 * pager.h - shows the output of commands on a terminal page by page, as git(1) and man(1) do.
 *
 * The pager is $FATHOM_PAGER, else $PAGER, else less(1), with LESS=FRX unless LESS is set: it exits if everything fits on one screen,
 * and keeps colours. There is no pager if the variable is empty or "cat", on a dumb terminal, with --no-pager, or if standard output is
 * not a terminal.
 *
 * Only `stdout` is redirected to it. STDOUT_FILENO stays the terminal, for finding colour and width, and for launched commands. The
 * pager starts at the first byte, so that progress and errors before it are visible. If the user quits it early, nothing fails. If it
 * cannot run, the output is printed without it.
 */
#ifndef FATHOM_CLI_PAGER_H
#define FATHOM_CLI_PAGER_H

#include "cli/terminal.h"

/* Forks it. Call it before giving up rights (cli/privilege.h), after which nothing can be executed. Does nothing if there is one
 * already. */
void pager_start(struct terminal *terminal);
/* Waits until the user quits the pager. */
void pager_end(struct terminal *terminal);

#endif

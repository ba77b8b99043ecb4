/* events.h - lists the events that can be sampled on this machine, for `fathom events` and `fathom record --list-events`. */
#ifndef FATHOM_CLI_EVENTS_H
#define FATHOM_CLI_EVENTS_H

#include "cli/terminal.h"

/* Prints them on standard output; returns an exit code. */
int events_print(struct terminal *terminal);

#endif

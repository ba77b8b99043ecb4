/*
 * events.h - `fathom record --list-events`: the events that can be sampled on this machine.
 */
#ifndef FATHOM_CLI_EVENTS_H
#define FATHOM_CLI_EVENTS_H

/* Prints them on standard output; returns EXIT_OK. */
int events_print(void);

#endif

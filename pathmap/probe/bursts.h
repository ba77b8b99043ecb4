/*
 * bursts.h - counting in bursts: hooks are in for a while, then out for a while, while the program runs.
 */
#ifndef FATHOM_PATHMAP_PROBE_BURSTS_H
#define FATHOM_PATHMAP_PROBE_BURSTS_H

#include "pathmap/wire/mail.h"

/* Starts the thread that puts hooks in and takes them out, if the mailbox asks for bursts. Hooks are initially
 * in. */
void bursts_start(struct mail *mail);
/* In a forked child, which lacks its parent's threads: takes the hooks out and starts the thread again. */
void bursts_fork_child(void);

#endif

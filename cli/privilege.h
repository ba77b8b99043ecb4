/*
 * privilege.h - gives up what a command run by root, or with capabilities, no longer needs. Nothing happens for other users.
 *
 * Files, processes and recordings are hostile: what reads them should be able to do little else. To be called before
 * other threads exist, as capabilities are those of a thread. A command that was forked before keeps its rights, as under
 * perf(1): `sudo fathom record -- COMMAND` runs it as root.
 */
#ifndef FATHOM_CLI_PRIVILEGE_H
#define FATHOM_CLI_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/fathom.h"
#include "cli/terminal.h"

/* For commands that read files and print: keeps the right to read every file, and no other. With Landlock (Linux 5.13),
 * files can be written below the user's cache alone, nothing can be executed, no process outside be traced or (Linux 6.12)
 * signalled, and (Linux 6.7) no TCP connection made, unless DEBUGINFOD_URLS names servers. */
void privilege_only_read(struct terminal *terminal);
/* The same for commands that also write below directories, and one file: below its directory can be written then. */
void privilege_only_read_and(const struct fathom_writing *writing, struct terminal *terminal);

/* For recorders, once all events are open: keeps what later threads, children and their files need, and what these tell. No program
 * that is executed gains any. */
struct privilege_observing {
    const char *output; /* to be written; NULL: none */
    bool launched;      /* a command, perhaps of another user, is to be ended */
    bool opens_again;   /* events and their rings, for another file */
};
void privilege_only_observe(const struct privilege_observing *observing, struct terminal *terminal);

#endif

/*
 * privilege.h - gives up rights that a command run by root, or with capabilities, no longer needs. Does nothing for other users.
 *
 * Files, processes and recordings are hostile, so code that reads them should be able to do little else. Call these functions before other
 * threads exist, as capabilities belong to threads. A command that was forked before keeps its rights, as with perf(1):
 * `sudo fathom record -- COMMAND` runs it as root.
 */
#ifndef FATHOM_CLI_PRIVILEGE_H
#define FATHOM_CLI_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/fathom.h"
#include "cli/terminal.h"

/* For commands that read files and print: keeps only the right to read every file. With Landlock (Linux 5.13), files can be written only
 * below the user's cache, nothing can be executed, no other process can be traced or (Linux 6.12) signalled, and (Linux 6.7) no TCP
 * connection can be made unless DEBUGINFOD_URLS names servers. */
void privilege_only_read(struct terminal *terminal);
/* The same for commands that also write below directories, and one file, whose whole directory becomes writable. */
void privilege_only_read_and(const struct fathom_writing *writing, struct terminal *terminal);

/* For recorders, once all events are open: keeps the rights that are needed for new threads, children and their files. Executed programs
 * gain none. */
struct privilege_observing {
    const char *output; /* file to write; NULL: none */
    bool launched;      /* a command, perhaps of another user, will be ended */
    bool opens_again;   /* events and rings will be opened for another file */
};
void privilege_only_observe(const struct privilege_observing *observing, struct terminal *terminal);

#endif

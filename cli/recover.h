/*
 * recover.h - recovers the maps of trainings whose `fathom train` was killed, from the stores that their
 * processes left.
 */
#ifndef FATHOM_CLI_RECOVER_H
#define FATHOM_CLI_RECOVER_H

#include "cli/command.h"

/* Makes the map from a session's directory and removes the directory. output: NULL: the file that the
 * training would have written, if it does not exist yet. Prints what was learned on the terminal. Errors:
 * session_directory_adopt()'s and trie_save()'s; -EEXIST, -EINVAL: an output must be given; -ECHILD: no call
 * was recorded; the directory is removed all the same. */
int recover_map(const char *directory, const char *output, struct terminal *terminal,
                struct fathom_error *err);
/* Recovers every abandoned directory where new ones are made, each into its own file. A failure is reported
 * and leaves the directory in place. Those of recordings of calls are removed. */
void recover_abandoned(struct terminal *terminal);

#endif

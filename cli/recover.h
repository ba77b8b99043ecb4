/*
 * recover.h - the maps of trainings whose `fathom train` was killed, from the stores that their processes
 * left.
 */
#ifndef FATHOM_CLI_RECOVER_H
#define FATHOM_CLI_RECOVER_H

#include "cli/command.h"

/* Makes the map of a session's directory and removes this one. output: NULL: the one that the training was
 * to write, when there is no such file yet. What was learned is said on the terminal. Errors:
 * session_directory_adopt()'s and trie_save()'s; -EEXIST, -EINVAL: an output must be given; -ECHILD: no call
 * was recorded, and the directory is removed all the same. */
int recover_map(const char *directory, const char *output, struct terminal *terminal,
                struct fathom_error *err);
/* Does so with every directory that was abandoned where new ones are made, into files of their own. Failures
 * are said and leave the directory. */
void recover_abandoned(struct terminal *terminal);

#endif

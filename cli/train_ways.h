/* train_ways.h - the ways in which `fathom train` sees a program's calls, each in a file of its own, and the
 * choice. */
#ifndef FATHOM_CLI_TRAIN_WAYS_H
#define FATHOM_CLI_TRAIN_WAYS_H

#include "cli/train_options.h"

/* Each trains and writes the map; returns an exit code, with everything said. */
int train_unwind(const struct train_options *options, struct terminal *terminal);
int train_patch(const struct train_options *options, struct terminal *terminal);
int train_uprobe(const struct train_options *options, struct terminal *terminal);

/* The way for a command where none was asked for, with a line that says which and why. */
int train_choose(const struct train_options *options, struct terminal *terminal, enum train_way *way,
                 struct fathom_error *err);

#endif

/* train_ways.h - the methods by which `fathom train` sees a program's calls, one file each, and the choice
 * between them. */
#ifndef FATHOM_CLI_TRAIN_WAYS_H
#define FATHOM_CLI_TRAIN_WAYS_H

#include "cli/train_options.h"
#include "image/elf/program.h"

/* Each trains and writes the map, prints all messages, and returns an exit code. */
int train_unwind(const struct train_options *options, struct terminal *terminal);
int train_patch(const struct train_options *options, struct terminal *terminal);
int train_uprobe(const struct train_options *options, struct terminal *terminal);

/* Chooses the method for a command if none was asked for, and prints which and why. */
int train_choose(const struct train_options *options, struct terminal *terminal, enum fathom_train_way *way,
                 struct fathom_error *err);

#endif

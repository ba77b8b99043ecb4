/* train_steps.h - shared by the training methods: the map before and after, and records in time order. */
#ifndef FATHOM_CLI_TRAIN_STEPS_H
#define FATHOM_CLI_TRAIN_STEPS_H

#include "cli/train_options.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/order.h"

/* --append: opens the existing map before the training, so that a damaged one stops it; *old is NULL without
 * --append or if there is no map yet. The caller closes it. */
int train_open_map(const struct train_options *options, struct pathmap **old, struct fathom_error *err);
/* Writes the map to options->out, with --append merged with the file's current contents, which other
 * trainings may have written meanwhile (the directory is locked). *old is reopened. Returns 1 if that has
 * another build of an image trained now, which is reported, else 0. -ENODATA: nothing was learned; an
 * existing map stays. */
int train_save(const struct train_options *options, struct trie *trie, struct pathmap **old,
               struct terminal *terminal, struct fathom_error *err);

#endif

/* train_steps.h - what the ways of training share: the map before and after, and records in order of time. */
#ifndef FATHOM_CLI_TRAIN_STEPS_H
#define FATHOM_CLI_TRAIN_STEPS_H

#include "cli/train_options.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/order.h"

/* --append: the map as it is so far, opened before the training so that a damaged one stops it; *old is NULL
 * without --append or where there is none yet. The caller closes it. */
int train_open_map(const struct train_options *options, struct pathmap **old, struct fathom_error *err);
/* Writes the map to options->out, with --append together with what is there by now, which other trainings may
 * have written meanwhile: one adds to it at a time. *old is opened again. Returns 1 where that has another build
 * of what was trained now, which is said, else 0. -ENODATA: nothing was learned; what was there stays. */
int train_save(const struct train_options *options, struct trie *trie, struct pathmap **old,
               struct terminal *terminal, struct fathom_error *err);
/* The collector's records, put in order of time. */
int train_order(struct order *order, const void *records, size_t size, struct fathom_error *err);

#endif

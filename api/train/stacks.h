/*
 * stacks.h - samples and unwinds stacks while the probe runtime sees every call.
 *
 * Hooks count calls; only samples show how much time is spent below each of them and who called code without
 * hooks (the C library).
 */
#ifndef FATHOM_API_TRAIN_STACKS_H
#define FATHOM_API_TRAIN_STACKS_H

#include <sys/types.h>

#include "api/train/train.h"

struct train_stacks;

/* Samples the process and its children from now on, at the training's rate. runtime: the file of the probe runtime, whose own work is left
 * out. All are borrowed. NULL: failed, which has been reported. */
struct train_stacks *train_stacks_start(const struct fathom_train *t, pid_t pid, const char *runtime);
/* Takes the available samples. A failure is reported and ends the sampling. stacks may be NULL, here and
 * below. */
void train_stacks_poll(struct train_stacks *stacks);
/* Ends the sampling and adds the paths to the trie, after those from the hooks (trie_merge()). */
int train_stacks_merge(struct train_stacks *stacks, struct trie *trie, struct fathom_error *err);
void train_stacks_free(struct train_stacks *stacks);

#endif

/*
 * hcct_merge.h - `fathom hcct merge`: one tree of several runs, processes or machines.
 */
#ifndef FATHOM_CLI_HCCT_MERGE_H
#define FATHOM_CLI_HCCT_MERGE_H

#include <stddef.h>

#include "base/error.h"

/* Adds up trees, or traces, of the same unit, and saves the sum: weights, errors, and what a context may lack. Contexts are
 * the same as in named_tree.h. -EINVAL: other units; else the errors of named_tree_load() and of outputs. */
int hcct_merge_trees(char *const *paths, size_t count, const char *output, struct fathom_error *err);

#endif

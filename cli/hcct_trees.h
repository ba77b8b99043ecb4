/*
 * hcct_trees.h - trees of contexts that were saved, or are made of a call trace: `fathom hcct show` and `compare`.
 */
#ifndef FATHOM_CLI_HCCT_TREES_H
#define FATHOM_CLI_HCCT_TREES_H

#include <stdint.h>

#include "base/error.h"

enum tree_format { TREE_TEXT, TREE_DOT };

struct trees_options {
    enum tree_format format;
    double min_percent; /* of a graph: contexts that weigh less, with all below them, are left out */
    double phi;         /* of a comparison: contexts of this part of the weight are hot */
    uint64_t rows;      /* contexts of a list */
};

/* Prints a tree: the heaviest contexts, or a graph for Graphviz. path: a saved tree, or a trace, which is the tree of all its
 * calls. 0 or negative. */
int hcct_show(const char *path, const struct trees_options *options, struct fathom_error *err);
/* Compares two, with the first as the reference: contexts are the same if their functions have the same names in files of
 * the same name (or, without a name, addresses), wherever they were in memory. */
int hcct_compare(const char *a, const char *b, const struct trees_options *options, struct fathom_error *err);

#endif

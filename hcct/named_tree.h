/*
 * named_tree.h - trees of contexts from files, with the same numbers for functions of the same name in files of the same name,
 * wherever these were in memory (functions without a name: with the same address).
 */
#ifndef FATHOM_HCCT_NAMED_TREE_H
#define FATHOM_HCCT_NAMED_TREE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/hash.h"
#include "hcct/cct.h"
#include "hcct/trace.h"

/* The functions of several trees. */
struct tree_names {
    struct names *names;              /* "function (image)" */
    struct trace_function *functions; /* by number, as in the first tree that has it */
    size_t capacity;
    struct arena *texts;
};

struct named_tree {
    struct cct *tree; /* items are numbers of names */
    uint64_t bound;   /* as in struct saved_tree */
    char *unit;
    bool traced; /* from a trace, which has no frames of files without hooks */
};

/* -ENOMEM; has to be cleared even then. */
int tree_names_init(struct tree_names *names, struct fathom_error *err);
void tree_names_clear(struct tree_names *names);
/* path: a saved tree, or a trace, whose calls are summed up. Errors as for saved_tree_read() and trace_read(). */
int named_tree_load(const char *path, struct tree_names *names, struct named_tree *out,
                    struct fathom_error *err);
/* Removes the frames of files of which `of` has none. -ENOMEM. */
int named_tree_limit(struct named_tree *tree, struct named_tree *of, const struct tree_names *names);
void named_tree_clear(struct named_tree *tree); /* may be zeroed */

#endif

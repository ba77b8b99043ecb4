/*
 * report_tree.h - hand-made trees for the report's tests, and their reports as text.
 */
#ifndef FATHOM_TESTS_REPORT_TREE_H
#define FATHOM_TESTS_REPORT_TREE_H

#include <stdint.h>

#include "report/views/view.h"

struct report_tree {
    struct cct *cct;
    struct frames *frames;
    const struct doubts *doubts; /* borrowed; NULL: not known */
};

struct report_tree report_tree_new(void);
void report_tree_free(struct report_tree *tree);
/* Adds a path of functions written "main;run;memcpy", all of the image "prog" at address 0. */
struct cct_node *report_tree_add(struct report_tree *tree, const char *path, uint64_t weight);

struct contexts report_tree_contexts(const struct report_tree *tree);
const struct view *view_named(const char *name);

/* The reports as text; the caller frees. */
char *report_view(struct report_tree *tree, const struct view_options *options);
char *report_folded(struct report_tree *tree);
char *report_heading(const struct view_heading *heading, const struct view_options *options);

#endif

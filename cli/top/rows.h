/*
 * rows.h - the rows of `fathom top`: a tree of contexts laid out for the view that was chosen, with what is folded, filtered
 * out or too light left out. Knows nothing of terminals.
 */
#ifndef FATHOM_CLI_TOP_ROWS_H
#define FATHOM_CLI_TOP_ROWS_H

#include "base/hash.h"
#include "hcct/cct.h"
#include "profile/frames.h"

enum rows_view {
    ROWS_TREE,    /* from the roots inwards */
    ROWS_CALLERS, /* each function with weight of its own, its callers below */
    ROWS_FLAT,    /* functions; recursion counts once in their totals */
    ROWS_VIEWS
};
extern const char *const rows_view_names[ROWS_VIEWS + 1];
enum rows_sort { ROWS_BY_TOTAL, ROWS_BY_SELF, ROWS_BY_NAME, ROWS_SORTS };
extern const char *const rows_sort_names[ROWS_SORTS + 1];

struct rows_options {
    enum rows_view view;
    enum rows_sort sort;
    double min_percent;         /* of the whole weight: lighter rows are left out */
    const char *filter;         /* only contexts with a function whose name contains it; "" all */
    const struct table *folded; /* keys of rows whose children are not shown */
};

struct row {
    uint64_t key; /* of its path: the same in the next picture */
    uint64_t self, total;
    double sure; /* the part of the total whose path is certain */
    uint32_t item;
    uint32_t level; /* of indentation: only forks indent */
    bool marked;    /* one of several rows at its level below their caller */
    bool folded, has_children;
    bool is_root; /* no row is its caller */
};

struct rows {
    struct row *at;
    size_t count, room;
    uint64_t whole; /* weight of everything */
    uint64_t rest;  /* of what is in no context of the tree */
};

/* tree: of two metrics, the weight and how much of it is certain. 0 or -ENOMEM; then *out is unchanged. */
int rows_make(struct cct *tree, const struct frames *frames, const struct rows_options *options,
              struct rows *out);
void rows_clear(struct rows *rows);

#endif

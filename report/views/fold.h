/*
 * fold.h - a tree for reading: frames that tell nothing are left out, and a function that calls itself is one branch, whatever
 * else its calls call; or all functions are left out.
 */
#ifndef FATHOM_REPORT_VIEWS_FOLD_H
#define FATHOM_REPORT_VIEWS_FOLD_H

#include "report/views/branches.h"

/* Before branches_arrange(): gives to a branch what is below it with the same item or INLINED_SEVERAL, and adds up what then
 * has the same callers. `times` becomes how often a branch's function stands in a row, at most. No weight is lost. */
int branches_fold(struct branches *branches, const struct frames *frames, struct fathom_error *err);
/* Likewise, gives to each level (profile/levels.h) what its functions weigh. Levels are certain. */
int branches_keep_levels(struct branches *branches, const struct frames *frames, struct fathom_error *err);

#endif

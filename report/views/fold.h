/*
 * fold.h - simplifies a tree for reading: leaves out frames without information, and makes a function that calls itself one branch,
 * whatever else its calls call; or leaves out all functions.
 */
#ifndef FATHOM_REPORT_VIEWS_FOLD_H
#define FATHOM_REPORT_VIEWS_FOLD_H

#include "report/views/branches.h"

/* Before branches_arrange(): merges into a branch the branches below it with the same item or INLINED_SEVERAL, and adds up those that then
 * have the same callers. `times` becomes the maximum number of direct recursions. No weight is lost. */
int branches_fold(struct branches *branches, const struct frames *frames, struct fathom_error *err);
/* Likewise, merges functions into their level (profile/levels.h). Levels are certain. */
int branches_keep_levels(struct branches *branches, const struct frames *frames, struct fathom_error *err);

#endif

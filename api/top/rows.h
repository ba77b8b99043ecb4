/* rows.h - the rows of fathom_top_rows(): a tree of contexts laid out for a view, without what is folded, filtered out or too light. */
#ifndef FATHOM_API_TOP_ROWS_H
#define FATHOM_API_TOP_ROWS_H

#include "api/fathom/top.h"
#include "hcct/cct.h"
#include "profile/frames.h"

/* tree: with two metrics, the weight and how much of it is certain. 0 or -ENOMEM, which leaves *out unchanged. */
int rows_make(struct cct *tree, const struct frames *frames, const struct fathom_top_show *show,
              struct fathom_top_rows *out);
void rows_clear(struct fathom_top_rows *rows);

#endif

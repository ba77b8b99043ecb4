/* path_row.h - a path on rows of its own below that of what it belongs to. */
#ifndef FATHOM_REPORT_VIEWS_PATH_ROW_H
#define FATHOM_REPORT_VIEWS_PATH_ROW_H

#include "report/views/views.h"

/* From the inner end outwards, on as many rows as the width needs: the node's path up to the root, if `end` is NULL. Else the node is the end of a path that
 * stands the other way round in the tree: from below `end` down to the node. A file's name stands behind the last of its functions in a row. */
void path_row_write(const struct drawing *drawing, const struct cct_node *node, const struct cct_node *end);

#endif

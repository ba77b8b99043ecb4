/* path_row.h - writes a path on separate rows below the row that it belongs to. */
#ifndef FATHOM_REPORT_VIEWS_PATH_ROW_H
#define FATHOM_REPORT_VIEWS_PATH_ROW_H

#include "report/views/views.h"

/* Writes a path from the inner end outwards, on as many rows as the width requires. end: NULL: the node's path up to the root; else the
 * path is in reverse order in the tree, from below `end` down to the node. A file's name is after the last of its consecutive functions. */
void path_row_write(const struct drawing *drawing, const struct cct_node *node, const struct cct_node *end);

#endif

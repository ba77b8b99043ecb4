/* accessed.h - views of what paths end in: a table of the memory, or the locks, and one of each with the paths that lead there. */
#ifndef FATHOM_REPORT_VIEWS_ACCESSED_H
#define FATHOM_REPORT_VIEWS_ACCESSED_H

#include "report/views/views.h"

/* What rows are called. */
struct accessed_wording {
    const char *what, *one, *many;            /* of what is accessed */
    const char *path, *one_path, *many_paths; /* of that with its path */
    bool weight;                              /* a column */
};

int accessed_write(const struct drawing *drawing, const struct accessed_wording *words,
                   struct fathom_error *err);

#endif

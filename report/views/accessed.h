/* accessed.h - views of what paths end in: a table of accessed memory or of locks, and a table of each with its paths. */
#ifndef FATHOM_REPORT_VIEWS_ACCESSED_H
#define FATHOM_REPORT_VIEWS_ACCESSED_H

#include "report/views/views.h"

/* Names of rows. */
struct accessed_wording {
    const char *what, *one, *many;            /* of accessed data */
    const char *path, *one_path, *many_paths; /* of accessed data with a path */
    bool weight;                              /* show a column of weights */
};

int accessed_write(const struct drawing *drawing, const struct accessed_wording *words,
                   struct fathom_error *err);

#endif

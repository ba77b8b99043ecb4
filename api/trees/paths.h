/* paths.h - prints the contexts of a counter's query, with the names of a trace. */
#ifndef FATHOM_API_TREES_PATHS_H
#define FATHOM_API_TREES_PATHS_H

#include <stdio.h>

#include "base/error.h"
#include "hcct/cct.h"
#include "hcct/trace.h"

/* The heaviest `rows` of those with a counter: weight, its error, the path by functions. 0 or -ENOMEM. */
int paths_print(FILE *out, struct cct *hot, const struct trace *trace, bool by_function, size_t rows,
                struct fathom_error *err);

#endif

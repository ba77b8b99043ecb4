/* hcct_paths.h - prints the contexts of a counter's query, with the names of a trace. */
#ifndef FATHOM_CLI_HCCT_PATHS_H
#define FATHOM_CLI_HCCT_PATHS_H

#include "base/error.h"
#include "hcct/cct.h"
#include "hcct/trace.h"

/* The heaviest `rows` of those with a counter: weight, its error, the path by functions. 0 or -ENOMEM. */
int hcct_paths_print(struct cct *hot, const struct trace *trace, bool by_function, size_t rows,
                     struct fathom_error *err);

#endif

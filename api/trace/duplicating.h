/* duplicating.h - duplicates a file, and writes what its places are beside it (streams/trace/site_list.h). */
#ifndef FATHOM_API_TRACE_DUPLICATING_H
#define FATHOM_API_TRACE_DUPLICATING_H

#include "api/fathom-streams.h"
#include "api/host.h"

/* Errors: duplicate_image()'s; of the outputs; -ENODATA: it has none of the functions that are chosen. */
int duplicating_write(const char *file, const char *output, const struct fathom_trace_code *code,
                      const struct host *host, struct fathom_error *err);

#endif

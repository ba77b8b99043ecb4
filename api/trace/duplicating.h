/* duplicating.h - duplicates the code of a file, and writes the list of its sites next to it (streams/trace/site_list.h). */
#ifndef FATHOM_API_TRACE_DUPLICATING_H
#define FATHOM_API_TRACE_DUPLICATING_H

#include "api/fathom-streams.h"
#include "api/host.h"

/* Errors: of duplicate_image(); of the outputs; -ENODATA: it has none of the chosen functions. */
int duplicating_write(const char *file, const char *output, const struct fathom_trace_code *code,
                      const struct host *host, struct fathom_error *err);

#endif

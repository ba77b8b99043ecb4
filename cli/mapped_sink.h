/*
 * mapped_sink.h - a collector's records on their way into a file that can be read elsewhere: mappings get the build-ids
 * of their files, and files that will not be found at their path are copied (mapped.h).
 */
#ifndef FATHOM_CLI_MAPPED_SINK_H
#define FATHOM_CLI_MAPPED_SINK_H

#include "base/log.h"
#include "perfdata/writer.h"

struct mapped_sink;

/* The events are the writer's. All are borrowed. */
int mapped_sink_new(struct writer *writer, const struct event *events, size_t count, const struct log *log,
                    struct mapped_sink **out, struct fathom_error *err);
void mapped_sink_free(struct mapped_sink *sink);
/* A collector_sink; the context is the sink. */
int mapped_sink_add(void *sink, const void *records, size_t size, struct fathom_error *err);
/* To be called at the end of the recording, before the writer is closed: the last copies, and the build-ids into the
 * header, where stock perf looks for them. */
int mapped_sink_finish(struct mapped_sink *sink, struct fathom_error *err);

#endif

/*
 * mapped_sink.h - a collector's records on their way into a file that can be read elsewhere: mappings get the build-ids
 * of their files, and files that will not be found at their path are copied (mapped.h).
 */
#ifndef FATHOM_CLI_MAPPED_SINK_H
#define FATHOM_CLI_MAPPED_SINK_H

#include "base/log.h"
#include "collector/rings/batch.h"
#include "perfdata/writer.h"

struct mapped_sink_input { /* all borrowed */
    const struct event *events;
    size_t count;
    const struct log *log;
    collector_sink *next; /* gets the records */
    void *context;        /* its */
};

struct mapped_sink;

int mapped_sink_new(const struct mapped_sink_input *input, struct mapped_sink **out,
                    struct fathom_error *err);
void mapped_sink_free(struct mapped_sink *sink);
collector_sink mapped_sink_add; /* context: the struct mapped_sink */
/* Makes the last copies. Call it at the end of the recording. */
void mapped_sink_finish(struct mapped_sink *sink);
/* Writes the build-ids into the header, where stock perf looks for them. Call it before the writer is closed. */
int mapped_sink_build_ids(const struct mapped_sink *sink, struct writer *writer, struct fathom_error *err);
/* Where the records go if they go into a file. context: a struct writer */
collector_sink mapped_sink_write;

#endif

/*
 * mapped_sink.h - passes on a collector's records, and makes them readable elsewhere: adds build-ids to mappings, copies files that will not
 * be found at their path (mapped.h), and finds names of code made at run time (code_files.h).
 */
#ifndef FATHOM_API_RECORD_MAPPED_SINK_H
#define FATHOM_API_RECORD_MAPPED_SINK_H

#include "base/log.h"
#include "collector/rings/batch.h"
#include "perfdata/writer.h"

struct mapped_sink_input { /* all borrowed */
    const struct event *events;
    size_t count;
    const struct log *log;   /* of copies of files that fail */
    collector_sink *next;    /* receives the records */
    void *context;           /* of next */
    const struct log *names; /* for code_files_new(), like the next */
    struct java_maps *java;
};

struct mapped_sink;

int mapped_sink_new(const struct mapped_sink_input *input, struct mapped_sink **out,
                    struct fathom_error *err);
void mapped_sink_free(struct mapped_sink *sink);
collector_sink mapped_sink_add; /* context: the struct mapped_sink */
/* Makes the last copies. Call it at the end of the recording. */
void mapped_sink_finish(struct mapped_sink *sink);
/* Writes the build-ids to the header, where stock perf looks for them. Call it before closing the writer. */
int mapped_sink_build_ids(const struct mapped_sink *sink, struct writer *writer, struct fathom_error *err);
/* Like code_files_look(). */
int mapped_sink_look(struct mapped_sink *sink, uint8_t **data, size_t *size, struct fathom_error *err);
/* Ends the search for names. *data is owned by the sink (image/made/code_names.h); NULL: none. */
int mapped_sink_told(struct mapped_sink *sink, const void **data, size_t *size, struct fathom_error *err);
/* Writes the same to a writer, which must be closed before the sink is freed. */
int mapped_sink_names(struct mapped_sink *sink, struct writer *writer, struct fathom_error *err);

#endif

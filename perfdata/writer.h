/*
 * writer.h - writes a standard perf.data file in file mode
 * (tools/perf/Documentation/perf.data-file-format.txt).
 *
 * The header is written first with a data size of 0 and again by writer_close(); a file whose writer was
 * killed in between stays readable by reader.h (and its records by stock perf after `fathom` rewrote the
 * header).
 */
#ifndef FATHOM_PERFDATA_WRITER_H
#define FATHOM_PERFDATA_WRITER_H

#include "perfdata/record.h"

struct writer;

/* Creates or replaces the file and writes header, attrs and ids. events are borrowed until writer_close().
 * -ESPIPE: a pipe or terminal, whose header cannot be written last; -EINVAL: decoder_new() refuses the
 * events. */
int writer_open(const char *path, const struct event *events, size_t count, struct writer **out,
                struct fathom_error *err);
/* Appends raw records (whole ones, one or several). Buffered. -EINVAL: they are not whole, and none is taken.
 * -ENOSPC and others: what was written before stays readable, to the last whole record, and no more is taken;
 * writer_close() completes the header. */
int writer_append(struct writer *writer, const void *data, size_t size, struct fathom_error *err);
/* Feature sections: the command line (argv), one build-id per image path (HEADER_BUILD_ID) and the formats of
 * tracepoints (HEADER_TRACING_DATA, at least one byte; copied), both for stock perf. */
int writer_command(struct writer *writer, int argc, char *const *argv, struct fathom_error *err);
int writer_build_id(struct writer *writer, const char *path, const uint8_t *id, size_t id_size,
                    struct fathom_error *err);
int writer_tracing_data(struct writer *writer, const void *data, size_t size, struct fathom_error *err);
uint64_t writer_size(const struct writer *writer); /* bytes of records so far */
/* Writes the features and the final header, syncs and frees. After an error the file is closed all the same.
 */
int writer_close(struct writer *writer, struct fathom_error *err);

#endif

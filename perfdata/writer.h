/*
 * writer.h - writes a standard perf.data file in file mode (tools/perf/Documentation/perf.data-file-format.txt), or in pipe
 * mode to a stream (base/outfile.h).
 *
 * The file appears with its first records and replaces an existing one. From then on its header says how far the records go: a
 * file whose writer was killed is readable, by reader.h and by stock perf, up to the last writer_flush(). Its features (command
 * line, names, build-ids) are written only at the end; without them, reader.h knows that the file is unfinished.
 */
#ifndef FATHOM_PERFDATA_WRITER_H
#define FATHOM_PERFDATA_WRITER_H

#include "base/outfile.h"
#include "perfdata/record.h"
#include "perfdata/scaling.h"

struct writer;
struct host;

/* A writer to an opened file that is still empty; it takes ownership of the file. events are borrowed until
 * writer_close(). -ENOTSUP: decoder_new() refuses them. writer_open() also opens the file. */
int writer_new(struct outfile *file, const struct event *events, size_t count, struct writer **out,
               struct fathom_error *err);
int writer_open(const char *path, const struct event *events, size_t count, struct writer **out,
                struct fathom_error *err);
/* Keeps the previous file as PATH.old, as stock perf does. */
void writer_keep_old(struct writer *writer);
/* Makes the file appear only when it is complete: for files that can be written again. */
void writer_only_whole(struct writer *writer);
bool writer_is_stream(const struct writer *writer);
/* Compresses the records; call it before the first. 0 or -ENOMEM. */
int writer_compress(struct writer *writer, struct fathom_error *err);
/* Appends raw records (whole ones, one or several). Buffered. -EINVAL: they are not whole, and none is appended. -ENOSPC and
 * others: what was written before stays readable, to the last whole record, and no more is accepted; writer_close() completes
 * the header. */
int writer_append(void *writer, const void *data, size_t size, struct fathom_error *err);
/* Writes the buffered records, so that they survive the writer's death. Errors as in writer_append(). */
int writer_flush(struct writer *writer, struct fathom_error *err);
/* Feature sections: the command line (argv), one build-id per image path (HEADER_BUILD_ID) and the formats of
 * tracepoints (HEADER_TRACING_DATA, at least one byte; copied), both for stock perf. A stream has only what
 * was set before its first record, except for build-ids. */
int writer_command(struct writer *writer, int argc, char *const *argv, struct fathom_error *err);
/* Records that the newest sample so far was taken just now, so that the file has the wall-clock time of its times. */
void writer_wall_clock(struct writer *writer);
/* How samples of some events were scaled; borrowed until writer_close(). A stream does not have it. */
void writer_scaling(struct writer *writer, const struct scaling *scaling);
/* Names of code made at run time (image/made/code_names.h), less than 60 MB; borrowed until writer_close(). */
void writer_code_names(struct writer *writer, const void *data, size_t size);
/* The machine that the recording is from (NULL: this one); borrowed. */
void writer_host(struct writer *writer, const struct host *host);
int writer_build_id(struct writer *writer, const char *path, const uint8_t *id, size_t id_size,
                    struct fathom_error *err);
int writer_tracing_data(struct writer *writer, const void *data, size_t size, struct fathom_error *err);
/* Bytes of records so far: those in the file, and those still buffered, before compression. */
uint64_t writer_size(const struct writer *writer);
/* Writes the features and the final header, syncs the file and frees the writer, even after an error; if nothing could be
 * written, the old file stays. */
int writer_close(struct writer *writer, struct fathom_error *err);
/* Frees the writer without completing the file: unflushed records are dropped, and if none were flushed, the old file stays. */
void writer_discard(struct writer *writer);

#endif

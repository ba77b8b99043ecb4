/*
 * chained.h - writes a recording whose samples have call chains, for stock perf and other readers of perf.data: one event, the
 * records of processes, and a chain for each sample, wherever that is from.
 *
 * Functions can be called in any order: records have times, by which readers sort them.
 */
#ifndef FATHOM_PERFDATA_CHAINED_H
#define FATHOM_PERFDATA_CHAINED_H

#include "base/outfile.h"
#include "perfdata/record.h"

#define CHAIN_MAX 8000 /* addresses per sample, including markers: a record has at most 64 KiB */

struct chained;
struct host;

/* What it is made from; borrowed by chained_new(). */
struct chained_source {
    const struct event *event; /* what was sampled */
    const char *command;       /* from reader_command(); NULL: none */
    const struct host *host;   /* reader_host(); NULL: this machine */
    const void *tracing;       /* reader_tracing_data(); NULL: none */
    size_t tracing_size;
};

/* Takes ownership of the file, which is still empty (base/outfile.h). -ENOMEM. */
int chained_new(struct outfile *file, const struct chained_source *source, struct chained **out,
                struct fathom_error *err);
/* Writes mappings, names, starts and ends of processes and threads, and losses; ignores others. Errors as for writer_append()
 * (perfdata/writer.h), also below. */
int chained_record(struct chained *chained, const struct record *record, struct fathom_error *err);
/* chain: addresses from the innermost outwards, with a PERF_CONTEXT_ marker before the first; at most CHAIN_MAX are written.
 * weight: any unsigned number (PERF_SAMPLE_WEIGHT). */
int chained_sample(struct chained *chained, const struct sample *sample, const uint64_t *chain, size_t count,
                   uint64_t weight, struct fathom_error *err);
/* Completes the file and frees the writer, even after an error. */
int chained_close(struct chained *chained, struct fathom_error *err);
/* Frees the writer without completing the file; NULL is allowed. */
void chained_discard(struct chained *chained);

#endif

/*
 * features.h - private to perfdata/: the sections after the records of a file: host, command line, event names, build-ids,
 * times. Collected while the records are written, serialised at the end.
 */
#ifndef FATHOM_PERFDATA_FEATURES_H
#define FATHOM_PERFDATA_FEATURES_H

#include <stdio.h>

#include "perfdata/format.h"
#include "perfdata/host.h"
#include "perfdata/record.h"
#include "perfdata/trailer.h"

struct features {
    char **command; /* copied argv */
    uint32_t command_count;
    uint8_t *build_ids; /* records of HEADER_BUILD_ID, concatenated */
    size_t build_ids_size, build_ids_capacity;
    uint8_t *tracing; /* HEADER_TRACING_DATA */
    size_t tracing_size;
    uint64_t first_time, last_time; /* of the samples, ns; 0: none yet */
    const struct host *host;        /* the recorded machine; borrowed; NULL: this one */
    struct trailer trailer;         /* its scaling is borrowed */
    int level;                      /* zstd's, for compressed records; 0: not compressed */
    uint64_t raw, packed;           /* bytes of records, and compressed bytes; 0: unknown yet */
};

void features_free(struct features *features);
int features_command(struct features *features, int argc, char *const *argv, struct fathom_error *err);
int features_build_id(struct features *features, const char *path, const uint8_t *id, size_t id_size,
                      struct fathom_error *err);
int features_tracing(struct features *features, const void *data, size_t size, struct fathom_error *err);

/* Notes a sample's time; 0: no time. */
static inline void features_time(struct features *features, uint64_t time)
{
    if (!time)
        return;
    if (!features->first_time || time < features->first_time)
        features->first_time = time;
    if (time > features->last_time)
        features->last_time = time;
}

struct feature_source { /* where features come from */
    const struct features *features;
    const struct event *events;
    size_t count;
    struct host host;
};

#define FEATURES_WRITTEN 14
extern const enum feature features_written[FEATURES_WRITTEN]; /* sorted by bit */

/* Fills in from->host. */
void feature_source_host(struct feature_source *from);
/* Writes one feature's bytes; nothing if it is absent. */
void feature_put(FILE *out, enum feature feature, const struct feature_source *from);

struct feature_bytes {
    uint8_t *data; /* table of sections, and sections; malloc'ed, the caller frees */
    size_t size;
    uint64_t bits[4]; /* the header's bit map */
};
/* Serialises the features for file offset `at`. */
int features_serialise(const struct features *features, const struct event *events, size_t count, uint64_t at,
                       struct feature_bytes *out, struct fathom_error *err);
/* stream.c: the start of a recording in pipe mode: magic, attrs with their ids, names, features as records, formats of
 * tracepoints; malloc'ed, owned by the caller. It lacks what is known only at the end. -E2BIG: an event has more ids than fit
 * into a record. */
int features_stream(const struct features *features, const struct event *events, size_t count, uint8_t **data,
                    size_t *size, struct fathom_error *err);
/* The end of one: build-ids, and the trailer (trailer.h), as records; malloc'ed, owned by the caller. */
int features_stream_end(const struct features *features, const struct event *events, size_t count,
                        uint8_t **data, size_t *size, struct fathom_error *err);

#endif

/*
 * part.h - one file of a recording: its collector, and the sinks that pass records to its writer. A recording has one part, or with
 * options->part_bytes or part_seconds a sequence of parts, each of which is a complete recording.
 */
#ifndef FATHOM_API_RECORD_PART_H
#define FATHOM_API_RECORD_PART_H

#include "api/fathom/record.h"
#include "api/host.h"
#include "api/record/phase_control.h"
#include "base/outfile.h"
#include "collector/collector.h"

struct part;

struct part_input {                                /* borrowed by the part */
    const struct fathom_recorder_options *options; /* `output` is not used */
    const struct host *host;
    struct phase_control *control;
    const struct allocations *allocations; /* NULL: they are not sampled */
    struct java_maps *java;                /* NULL: no HotSpot is asked for its code */
    const struct part
        *before; /* still records; this part continues with its target; NULL: none. Borrowed by part_open() */
};

/* Opens the events, and forks the command, which waits, or takes over that of the previous part. It takes ownership of *file. Errors as
 * fathom_recorder_open(). */
int part_open(const struct part_input *input, struct outfile **file, struct part **out,
              struct fathom_error *err);
void part_close(struct part *part); /* NULL is allowed */
struct collector *part_collector(const struct part *part);
/* Call it before the first records. 0 or negative. */
int part_begin(struct part *part, struct fathom_error *err);
/* Takes records, and an empty batch now and then. */
int part_add(struct part *part, const void *records, size_t size, struct fathom_error *err);
int part_flush(struct part *part, struct fathom_error *err); /* so that they survive this process */
uint64_t part_size(const struct part *part);                 /* bytes of records in the file so far */
/* Closes the file, even after a failure, so that what was recorded stays readable. After a failure before the first
 * sample, e.g. a missing command, the previous file remains. rc: result of the run so far, which is returned unless it is 0. Reports what
 * the file has and what it lacks. *nothing: it has no sample. */
int part_end(struct part *part, int rc, bool *nothing, struct fathom_error *err);
void part_keep(const struct part *part); /* after part_end(): stores stacks for later recordings, if wanted */
struct image_cache *part_images(struct part *part); /* after part_end(): like learning_images() */

#endif

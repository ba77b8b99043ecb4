/*
 * part.h - one file of a recording: its collector, and the way of the records to its writer. A recording has one, or with
 * options->part_bytes or part_seconds one after the other: each is a recording of its own.
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
    const struct fathom_recorder_options *options; /* `output` is not looked at */
    const struct host *host;
    struct phase_control *control;
    const struct allocations *allocations; /* NULL: they are not sampled */
    struct java_maps *java;                /* NULL: no HotSpot is asked for its code */
    const struct part *
        before; /* which still records, and whose target this one goes on with; NULL: none. Borrowed by part_open() */
};

/* Opens the events, and forks the command, which waits, or takes that of the part before. It takes *file. Errors as of
 * fathom_recorder_open(). */
int part_open(const struct part_input *input, struct outfile **file, struct part **out,
              struct fathom_error *err);
void part_close(struct part *part); /* NULL is allowed */
struct collector *part_collector(const struct part *part);
/* Before records come. 0 or negative. */
int part_begin(struct part *part, struct fathom_error *err);
/* Takes records, and an empty batch now and then. */
int part_add(struct part *part, const void *records, size_t size, struct fathom_error *err);
int part_flush(struct part *part, struct fathom_error *err); /* so that they survive this process */
uint64_t part_size(const struct part *part);                 /* bytes of records in the file so far */
/* Closes the file, even after a failure, so that what was recorded stays readable. A failure before the first sample, such as a
 * missing command, keeps the previous file. rc: of the run so far, and so of this, unless that fails first. Tells what the file has,
 * and what it lacks. *nothing: it has no sample. */
int part_end(struct part *part, int rc, bool *nothing, struct fathom_error *err);
void part_keep(const struct part *part); /* after that: stacks for later recordings, if they are to be kept */
struct image_cache *part_images(struct part *part); /* after that, as learning_images() */

#endif

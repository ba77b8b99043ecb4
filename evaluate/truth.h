/*
 * truth.h - the true paths that inferred ones are held against: from a sample's own unwound stack, or from a
 * second path map.
 *
 * By a map, the truth of a sample are the paths that the map has for the sample's CID, as in the ICPP paper
 * (section 8.4). Where they are several, each is true of a share of the sample: that of the samples which the
 * map's training saw there, or of the calls.
 *
 * Paths are numbered from 0 as they come up; equal ones get the same number. A sample is looked up once,
 * however often the recording is gone through.
 */
#ifndef FATHOM_EVALUATE_TRUTH_H
#define FATHOM_EVALUATE_TRUTH_H

#include "pathmap/pathmap.h"
#include "process/unwind.h"

struct truth;

/* Why there is none: how the unwinding ended, or this. */
enum { NO_TRUTH_IN_MAP = UNWIND_ENDS, NO_TRUTHS };
const char *no_truth_text(unsigned reason); /* "the truth map does not have its CID" */

struct true_share {
    uint32_t path;
    double share; /* of the sample; they sum up to 1 */
};

/* map: borrowed; NULL: unwound stacks. NULL: out of memory. */
struct truth *truth_new(const struct pathmap *map);
void truth_free(struct truth *truth);
/* The true paths of a sample, good until the next call; how many they are. 0 with *reason when there is none;
 * -ENOMEM, -EBADMSG. place and height: its CID; place->image is NULL when there is none. */
int truth_of(struct truth *truth, const struct process *process, const struct sample *sample,
             const struct place *place, uint64_t height, const struct true_share **shares, unsigned *reason,
             struct fathom_error *err);
/* The same for a CID of the map, which must be given; at least one. */
int truth_of_cid(struct truth *truth, uint32_t function, uint32_t height, const struct true_share **shares,
                 struct fathom_error *err);

/* A path from the root inwards, without the frames above the stack's base (process.h); its depth. */
size_t truth_path(const struct truth *truth, uint32_t path, const uint32_t **functions);
/* What the numbers in a path stand for. */
struct true_function {
    const char *image; /* the file's path */
    struct build_id build_id;
    uint64_t address; /* of its entry; NO_ADDRESS: code that no function owns */
    const char *name; /* mangled; NULL: unknown */
};
#define NO_ADDRESS UINT64_MAX
struct true_function truth_function(const struct truth *truth, uint32_t function);
/* Name to show. As snprintf. */
int truth_function_format(const struct truth *truth, uint32_t function, char *out, size_t size);
/* Whether true paths have the frames of this image. */
bool truth_covers(const struct truth *truth, const char *image, const struct build_id *id);

#endif

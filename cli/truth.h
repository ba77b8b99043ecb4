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
#ifndef FATHOM_CLI_TRUTH_H
#define FATHOM_CLI_TRUTH_H

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
struct true_frame {
    const struct image *image; /* NULL: a map's function whose binary is gone or of another build */
    uint32_t function;         /* IMAGE_NO_FUNCTION: code that no function owns */
};

/* map: borrowed; NULL: unwound stacks. images is borrowed. NULL: out of memory. */
struct truth *truth_new(const struct pathmap *map, struct image_cache *images);
void truth_free(struct truth *truth);
/* The true paths of a sample, good until the next call; how many they are. 0 with *reason when there is none;
 * -ENOMEM, -EBADMSG. place and height: its CID; place->image is NULL when there is none. */
int truth_of(struct truth *truth, const struct process *process, const struct sample *sample,
             const struct place *place, uint64_t height, const struct true_share **shares, unsigned *reason,
             struct fathom_error *err);
/* A path from the root inwards, without the frames above the stack's base (process.h); its depth. */
size_t truth_path(const struct truth *truth, uint32_t path, const struct true_frame **frames);
/* Whether true paths have the frames of this image. */
bool truth_covers(const struct truth *truth, const char *image, const struct build_id *id);

#endif

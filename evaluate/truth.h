/*
 * truth.h - the true paths that inferred ones are compared with: from a sample's own unwound stack, from what its call chain
 * proves (infer/chains/proof.h), or from a second path map.
 *
 * With a map, the true paths of a sample are those that the map has for its CID, as in the ICPP paper (section 8.4). If there
 * are several, each gets a share of the sample: its share of the samples that the map's training saw there or, without samples,
 * of the calls.
 *
 * Paths are numbered from 0 in the order in which they first occur; equal paths have one number. A sample is looked up only
 * once, however often the recording is read.
 */
#ifndef FATHOM_EVALUATE_TRUTH_H
#define FATHOM_EVALUATE_TRUTH_H

#include "infer/contexts/resolver.h"
#include "pathmap/map/pathmap.h"
#include "process/unwind.h"

struct truth;

/* Why a sample has no true path: how unwinding ended (enum unwind_end), or one of these. */
enum { NO_TRUTH_IN_MAP = UNWIND_ENDS, NO_TRUTH_IN_CHAIN, NO_TRUTHS };
const char *no_truth_text(unsigned reason); /* "the truth map does not have its CID" */

struct true_share {
    uint32_t path;
    double share; /* of the sample; all add up to 1 */
};

struct true_shares {
    const struct true_share *shares; /* valid until the next call */
    size_t count;
    unsigned reason; /* why there are none */
    bool part; /* the path has only the true one's innermost frames: the walk or the call chain ended early */
    bool derived; /* some frame was found by a row that was derived from code */
};

/* map: borrowed; NULL: the truth comes from unwound stacks. Returns NULL if out of memory. */
struct truth *truth_new(const struct pathmap *map);
void truth_free(struct truth *truth);
/* The true paths of a sample with this CID; cid->place.image is NULL if it has none. 0, -ENOMEM or -EBADMSG. */
int truth_of(struct truth *truth, const struct process *process, const struct sample *sample,
             const struct cid *cid, struct true_shares *out, struct fathom_error *err);
/* The same for a CID of the map (which the truth must have); there is at least one path. */
int truth_of_cid(struct truth *truth, uint32_t function, uint32_t height, struct true_shares *out,
                 struct fathom_error *err);

/* Returns a path's depth; *functions: its functions from the root inwards, without frames above the stack's
 * base (process.h). */
size_t truth_path(const struct truth *truth, uint32_t path, const uint32_t **functions);
/* What a number in a path stands for. */
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
/* Whether true paths include the frames of this image. */
bool truth_covers(const struct truth *truth, const char *image, const struct build_id *id);

#endif

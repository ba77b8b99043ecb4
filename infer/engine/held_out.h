/*
 * held_out.h - unwound stacks that a fold of cross-validation does not learn from: it infers their samples' paths from the rest, and
 * compares (calibration.h).
 *
 * Each fold holds out another quarter of the audit samples, and of the stacks that the recorder announced as new,
 * with the samples that it took for the same. Their paths go into a trie of their own, so that nothing learned has them.
 */
#ifndef FATHOM_INFER_ENGINE_HELD_OUT_H
#define FATHOM_INFER_ENGINE_HELD_OUT_H

#include "infer/model/calibration.h"
#include "infer/samples/trainer.h"
#include "pathmap/map/pathmap.h"

struct held_out;

/* number: of the fold, 0 to HELD_OUT_FOLDS - 1; each holds out others. NULL: out of memory. */
#define HELD_OUT_FOLDS 4u
struct held_out *held_out_new(unsigned number);
void held_out_free(struct held_out *held);
/* Makes paths as they are in a trie that this map was merged into. 0 or -ENOMEM. Before the first sample. */
int held_out_shape(struct held_out *held, const struct pathmap *map);
/* Takes a sample that is to be held out. audit: it is an audit sample. 1: it is, and is not to be learned from; 0: it
 * is not held out; -ENOMEM. */
int held_out_take(struct held_out *held, struct process *process, const struct sample *sample, bool audit,
                  struct fathom_error *err);
/* Call when all were taken. 0 or negative. */
int held_out_done(struct held_out *held, struct fathom_error *err);
/* Whether a node of another map has the path of the functions that the sample's stack has: 1 or 0; -ENOENT: the sample
 * is none of those held out. *stack: the same for each number of held_out_new(). */
int held_out_agrees(const struct held_out *held, const struct sample *sample, const struct pathmap *map,
                    uint32_t node, struct held_stack *stack);

#endif

/*
 * held_out.h - unwound stacks that a fold of cross-validation does not learn from: their samples' paths are inferred from the
 * rest, and compared with the stacks (calibration.h).
 *
 * Each fold holds out another quarter of the audit samples, and of the stacks that the recorder announced as new, with the
 * samples that it found to have the same stack. The stacks' bases are known from all of them.
 */
#ifndef FATHOM_INFER_ENGINE_HELD_OUT_H
#define FATHOM_INFER_ENGINE_HELD_OUT_H

#include "infer/model/calibration.h"
#include "infer/samples/observations.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie.h"

#define HELD_OUT_FOLDS 4u
/* Whether fold `number`, below HELD_OUT_FOLDS, holds out a sample. */
bool held_out_has(unsigned number, const struct learned *learned);

/* The paths of the held-out samples. */
struct held_out;

/* The samples' nodes belong to this trie (borrowed). NULL: out of memory. */
struct held_out *held_out_new(const struct trie *trie);
void held_out_free(struct held_out *held);
/* Notes a held-out sample; audit: whether it is an audit sample. 0 or -ENOMEM. */
int held_out_note(struct held_out *held, const struct observation *observation, bool audit);
/* Whether a node of a map over a copy of the trie (trie_copy_functions()) has the functions of the sample's path: 1 or 0;
 * -ENOENT: the sample's path is unknown; -ENOMEM. */
int held_out_agrees(struct held_out *held, const struct sample *sample, const struct pathmap *map,
                    uint32_t node, struct held_stack *stack);

#endif

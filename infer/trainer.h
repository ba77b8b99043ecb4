/*
 * trainer.h - unwound samples into a trie: how `train` and a recording's audit samples make a map.
 */
#ifndef FATHOM_INFER_TRAINER_H
#define FATHOM_INFER_TRAINER_H

#include "pathmap/trie.h"
#include "process/unwind.h"

struct trainer;

/* Borrows the trie. NULL: out of memory. */
struct trainer *trainer_new(struct trie *trie);
void trainer_free(struct trainer *trainer);

/* Unwinds the sample's dump and enters every prefix of its path with its height. A stack that was not unwound
 * to its root is counted (trie_statistics) and not entered. When the thread's base is unknown, an unwound
 * stack sets it (its outermost CFA). *end (may be NULL) tells how the walk ended. Returns the number of
 * frames entered. */
int trainer_add(struct trainer *trainer, struct process *process, const struct sample *sample,
                enum unwind_end *end, struct fathom_error *err);

#endif

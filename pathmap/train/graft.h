/*
 * graft.h - enters the frames of unhooked code between two hooked frames, such as qsort's between a function
 * and its comparison.
 *
 * The probe runtime saves the stack between the two when it first sees such a call (store.h); here it is
 * unwound with the CFI tables, and its frames are added to the trie. A node without a saved stack (a forked
 * child's, or one for which there was no room) gets the frames of another one between the same functions, at
 * the same distance and with the same return address.
 *
 * Frames without hooks have 1 pass: how often they were entered is unknown. Internal to pathmap/.
 */
#ifndef FATHOM_PATHMAP_TRAIN_GRAFT_H
#define FATHOM_PATHMAP_TRAIN_GRAFT_H

#include "image/cache.h"
#include "pathmap/map/trie.h"
#include "pathmap/train/store_file.h"

struct graft;

/* Both are borrowed; one for all stores of a trie. NULL: out of memory. */
struct graft *graft_new(struct trie *trie, struct image_cache *images);
void graft_free(struct graft *graft);
/* Sets the store whose nodes come next; borrowed until the next one or graft_free(). 0, -ENOMEM. A store with
 * invalid stacks counts as having none. */
int graft_begin(struct graft *graft, struct store_file *store);
/* Whether the runtime saved a stack for this node, as its caller has no hook. */
bool graft_has(const struct graft *graft, uint32_t number);
/* Enters the frames between `parent`, where the runtime saw the function called from, and this node of the
 * store. 1: *parent is now the innermost of them, and *site its call site; 0: they are unknown.
 * -ENOMEM. function: the trie's, of the node. */
int graft_enter(struct graft *graft, uint32_t number, const struct store_node *node, uint32_t function,
                uint32_t *parent, uint64_t *site);

#endif

/*
 * graft.h - the frames between two hooked ones that code without hooks lies between: qsort's, between a
 * function and its comparison.
 *
 * The probe runtime keeps the stack between the two when it meets such a call for the first time (store.h);
 * here it is unwound by the CFI tables, and its frames enter the trie. A node without a stack of its own (a
 * forked child's, or one that there was no room for) gets the frames that another one had between the same
 * functions, at the same distance and with the same return address.
 *
 * Frames without hooks have passes of 1: how often they were entered is not known. Internal to pathmap/.
 */
#ifndef FATHOM_PATHMAP_TRAIN_GRAFT_H
#define FATHOM_PATHMAP_TRAIN_GRAFT_H

#include "image/cache.h"
#include "pathmap/train/store_file.h"
#include "pathmap/map/trie.h"

struct graft;

/* Both borrowed; for all stores of one trie. NULL: out of memory. */
struct graft *graft_new(struct trie *trie, struct image_cache *images);
void graft_free(struct graft *graft);
/* The store whose nodes come next; borrowed until the next one or graft_free(). 0, -ENOMEM. A store whose
 * stacks make no sense has none. */
int graft_begin(struct graft *graft, struct store_file *store);
/* Whether the runtime kept a stack for this node: its caller has no hook. */
bool graft_has(const struct graft *graft, uint32_t number);
/* Enters the frames between `parent`, where the runtime saw the function called from, and this node of the
 * store. 1: *parent is now the innermost of them, and *site where it made the call; 0: they are not known.
 * -ENOMEM. function: the trie's, of the node. */
int graft_enter(struct graft *graft, uint32_t number, const struct store_node *node, uint32_t function,
                uint32_t *parent, uint64_t *site);

#endif

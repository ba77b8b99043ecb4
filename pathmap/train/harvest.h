/*
 * harvest.h - what a training session learned: the stores of its processes, summed up in a trie.
 *
 * A node of a store is one of the trie with the same function, height and call site; its entries count as
 * passes; self is left to samples. What lies between it and its parent in code without hooks is entered, too
 * (graft.h). Stores may be hostile (their writers are the trained programs): a node
 * that makes no sense is left out with what is below it, and counted.
 */
#ifndef FATHOM_PATHMAP_TRAIN_HARVEST_H
#define FATHOM_PATHMAP_TRAIN_HARVEST_H

#include <stdbool.h>
#include <stddef.h>

#include "image/cache.h"
#include "pathmap/wire/store.h"
#include "pathmap/map/trie.h"

struct harvest_image { /* an image that was looked at in some process */
    char *path;
    struct store_summary hooks; /* of the process that has the most */
};

/* Sums over all stores read into it. Starts as zeros but for `partial`; harvest_free() at the end. */
struct harvest {
    bool partial; /* functions were left out on purpose: no image is hooked in the sense of trie.h */
    uint64_t stores, threads;
    uint64_t unread; /* stores that could not be read: a full disk leaves empty ones */
    uint64_t calls;  /* entries that were counted */
    uint64_t nodes;
    uint64_t unsound;                               /* nodes left out as they make no sense */
    uint64_t dropped, dropped_depth, dropped_stack; /* entries that the runtime could not count (store.h) */
    int failure; /* errno of the first store that could not grow; 0: none */
    struct harvest_image *images;
    size_t image_count, image_room;
    struct graft *graft; /* what was learned of frames without hooks; borrows the trie and the images */
};

/* Adds a store to the trie, the same for all. images: for functions' names; they are left unknown where a
 * file cannot be opened. Errors: -ENOMSG: not a store; -ENOTSUP: another version's; -EBADMSG: damaged,
 * nothing was added; system errors; -ENOMEM: some of it may have been added. */
int harvest_store(struct harvest *harvest, struct trie *trie, struct image_cache *images, const char *path,
                  struct fathom_error *err);
/* All stores in a session's directory. Those that cannot be read are passed over; why, of the first, is told
 * through the log. */
int harvest_directory(struct harvest *harvest, struct trie *trie, struct image_cache *images,
                      const char *directory, const struct log *log, struct fathom_error *err);
void harvest_free(struct harvest *harvest);

struct harvest_progress {
    uint64_t calls, nodes, stores;
};

/* What the stores of a directory hold so far, for a line that tells of progress; reads all nodes. */
int harvest_progress(const char *directory, struct harvest_progress *out, struct fathom_error *err);

#endif

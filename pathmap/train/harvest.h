/*
 * harvest.h - adds up the results of a training session, the stores of its processes, in a trie.
 *
 * A node of a store becomes one of the trie with the same function, height and call site; its entries count as
 * passes. Only samples count as self, unless `own` is set. Frames of unhooked code between a node and its parent
 * are entered, too (graft.h). Stores may be hostile (their writers are the trained programs): an invalid node is
 * left out with its subtree, and counted.
 */
#ifndef FATHOM_PATHMAP_TRAIN_HARVEST_H
#define FATHOM_PATHMAP_TRAIN_HARVEST_H

#include <stdbool.h>
#include <stddef.h>

#include "image/cache.h"
#include "pathmap/map/trie.h"
#include "pathmap/wire/store.h"

struct harvest_image { /* an image that was examined in some process */
    char *path;
    struct store_summary hooks; /* of the process with the most hooks */
};

/* Sums over all stores read into it. Initialise with zeros except for `own` and `partial`; free with harvest_free(). */
struct harvest {
    bool own; /* weights of called functions also count as self, but not those of frames added around them */
    bool partial; /* functions were left out on purpose: no image is hooked in the sense of trie.h */
    uint64_t stores, threads;
    uint64_t unread;           /* unreadable stores: a full disk leaves empty ones */
    uint64_t calls;            /* counted entries, or ticks (store.h) */
    uint64_t purged, bound;    /* for stores with a limit, see store.h; `calls` excludes purged ones */
    uint64_t bursts_omitted;   /* because of their first contexts; sum over processes */
    uint64_t bursts, burst_ns; /* sums over processes; 0: calls were counted all the time */
    uint64_t nodes;
    uint64_t unsound;                               /* invalid nodes, left out */
    uint64_t dropped, dropped_depth, dropped_stack; /* entries that the runtime could not count (store.h) */
    int failure; /* errno of the first store that could not grow; 0: none */
    struct harvest_image *images;
    size_t image_count, image_capacity;
    struct graft *graft; /* knowledge about unhooked frames; borrows the trie and the images */
};

/* Adds a store to the trie, which must be the same in all calls. images: for functions' names, which remain
 * unknown if a file cannot be opened. Errors: -ENOMSG: not a store; -ENOTSUP: of another version; -EBADMSG:
 * damaged, nothing was added; system errors; -ENOMEM: some of it may have been added. */
int harvest_store(struct harvest *harvest, struct trie *trie, struct image_cache *images, const char *path,
                  struct fathom_error *err);
/* All stores in a session's directory. Unreadable ones are skipped; the reason for the first is logged. */
int harvest_directory(struct harvest *harvest, struct trie *trie, struct image_cache *images,
                      const char *directory, const struct log *log, struct fathom_error *err);
void harvest_free(struct harvest *harvest);

struct harvest_progress {
    uint64_t calls, nodes, stores;
};

/* What the stores of a directory contain so far, for the progress line; reads all nodes. */
int harvest_progress(const char *directory, struct harvest_progress *out, struct fathom_error *err);

#endif

/* train.h - a training, and its methods of seeing a program's calls, one file each. */
#ifndef FATHOM_API_TRAIN_TRAIN_H
#define FATHOM_API_TRAIN_TRAIN_H

#include <stdatomic.h>

#include "api/fathom/train.h"
#include "api/host.h"
#include "base/outfile.h"
#include "collector/collector.h"
#include "image/cache.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/map/trie.h"
#include "perfdata/order.h"

/* Events of the kernel, in the order of time. */
struct sampling {
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;      /* NULL, as the next two: not open */
    struct decoder *decoder;
    struct order *order;
};
/* Opens what `collect` tells. sampling_close() is called even after an error. */
int sampling_open(struct sampling *s, order_sink *sink, void *context, struct fathom_error *err);
void sampling_close(struct sampling *s);

struct fathom_train {
    struct fathom_train_options options;
    struct host host;
    enum fathom_train_way way; /* not FATHOM_TRAIN_AUTO */
    const struct train_way *how;
    void *own;                /* state of the method; NULL: none yet */
    struct sampling sampling; /* of a method that sees the command from outside */
    struct outfile *out;
    struct pathmap *old; /* with append: the existing map; NULL: none */
    struct image_cache *images;
    atomic_bool stop;
};

/* A method: the steps of fathom/train.h. open() sets `own` before anything else can fail. */
struct train_way {
    int (*open)(struct fathom_train *t, struct fathom_error *err);
    int (*start)(struct fathom_train *t, struct fathom_error *err);
    /* NULL, like status(): `sampling` is drained until the end, and progress() called with `own`. */
    int (*run)(struct fathom_train *t, struct fathom_error *err);
    int (*save)(struct fathom_train *t, struct fathom_error *err);
    int (*status)(const struct fathom_train *t);
    void (*close)(struct fathom_train *t);
    int (*progress)(void *own, struct fathom_error *err);
};
extern const struct train_way train_patch, train_uprobe, train_unwind;

/* append: opens the existing map before the training, so that a damaged one stops it. */
int train_open_map(struct fathom_train *t, struct fathom_error *err);
/* Writes the map, with `append` merged with the file's current contents, which other trainings may have written meanwhile
 * (the directory is locked); the old map is reopened. Returns 1 if that has another build of an image trained now, which is
 * reported, else 0. -ENODATA: nothing was learned; an existing map stays. */
int train_save(struct fathom_train *t, struct trie *trie, struct fathom_error *err);

#endif

/*
 * plan_cache.h - caches plans for later trainings (base/cache.h): an image is planned only once.
 *
 * A plan is found by the image's build-id, its file's size and time of modification, the options, and the
 * build-id of the program that built it: another build of Fathom may plan differently. A cached plan is
 * checked completely before it is used. Images without a build-id are planned each time.
 */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_CACHE_H
#define FATHOM_PATHMAP_TRAIN_PLAN_CACHE_H

#include "image/cache.h"
#include "pathmap/train/plan.h"

#define PLAN_CACHE_BYTES                                                                                     \
    (UINT64_C(512) << 20) /* of all plans together; that of cc1, a file of 33 MB, has 9 MB */

struct plan_cache;

struct plan_cache *plan_cache_open(void); /* NULL: out of memory */
void plan_cache_close(struct plan_cache *cache);
/* A plan as plan_build() makes it. */
struct plan_made {
    void *data; /* malloc'ed */
    size_t size;
    struct plan_summary summary; /* plan_summary_free() */
};

/* plan_build() for the image at path, which is opened (in `images`) if no plan is cached. options->skip must
 * be NULL. */
int plan_cache_get(struct plan_cache *cache, struct image_cache *images, const char *path,
                   const struct plan_options *options, struct plan_made *out, struct fathom_error *err);

#endif

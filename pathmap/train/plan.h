/*
 * plan.h - builds the plan by which the probe runtime hooks the functions of an image (pathmap/wire/plan.h).
 *
 * A hook must never change what the program does: if it cannot be shown that five bytes at an entry may be
 * replaced, a weaker kind of hook is used (see enum plan_kind), and if none is safe, the function is left out
 * and reported.
 */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_H
#define FATHOM_PATHMAP_TRAIN_PLAN_H

#include "image/image.h"
#include "pathmap/wire/plan.h"

struct plan_options {
    /* Whether not to hook a function, given by index; NULL: hook all. */
    bool (*skip)(void *context, const struct image *image, uint32_t function);
    void *context;
    bool breakpoints_only; /* BREAKPOINT everywhere: for tests of the runtime */
    bool sleds_only;       /* SLED, or no hook: functions without a sled are skipped */
    bool calls_only;       /* no hooks: only calls back through this image are followed */
};

struct plan_left_out {
    uint64_t function;  /* entry address */
    const char *name;   /* mangled, or NULL; owned by the image, or the summary's cache */
    const char *reason; /* continues "left out because"; constant, or owned by the cache */
};

struct plan_summary {
    uint32_t kinds[PLAN_KINDS]; /* functions by kind of hook */
    uint32_t left_out_count;    /* without those of options->skip and _start */
    struct plan_left_out *left_out;
    char *texts; /* of a cached summary: what left_out points to; else NULL */
};

/* data: malloc'ed, the caller frees. options and summary may be NULL; a summary is freed by
 * plan_summary_free(). -ENOMEM, or -EFBIG: too large for a plan. An image without functions has a plan
 * without hooks. */
int plan_build(const struct image *image, const struct plan_options *options, void **data, size_t *size,
               struct plan_summary *summary, struct fathom_error *err);
void plan_summary_free(struct plan_summary *summary);

#endif

/* plan_calls.h - the calls of an image as the probe runtime needs them: struct plan_call. Private to the plan
 * builder. */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_CALLS_H
#define FATHOM_PATHMAP_TRAIN_PLAN_CALLS_H

#include "image/image.h"
#include "pathmap/wire/plan.h"

struct plan_calls {
    struct plan_call *calls; /* malloc'ed, the caller frees; may be NULL if there are none */
    uint32_t count;
    uint64_t from; /* the origin of return addresses */
};
/* Finds all calls, in the order used by a plan. hooks ascend by address. 0 or -ENOMEM. */
int plan_calls_find(const struct image *image, const struct plan_hook *hooks, uint32_t hook_count,
                    struct plan_calls *out, struct fathom_error *err);

#endif

/* hot.c - hot contexts in bounded memory; see fathom/contexts.h. */
#include <errno.h>
#include <stdlib.h>

#include "api/counter.h"
#include "api/run.h"
#include "base/vec.h"
#include "profile/profile.h"

struct adding {
    struct profile *profile;
    const struct engine *engine;
};

/* The frames of one path. */
struct frames {
    struct fathom_frame *items;
    size_t capacity;
};

static int add_sample(void *context, const struct process *process, const struct sample *sample,
                      const struct resolved *r, struct fathom_error *err)
{
    struct adding *a = context;
    return profile_add(a->profile, engine_map(a->engine), process, sample, r, err);
}

/* Whether the frame is passed on: lines are not. */
static bool is_passed(const struct contexts *contexts, const struct cct_node *node)
{
    return frames_at(contexts->frames, node->item)->kind != FRAME_LINE;
}

/* Lists the frames from the root inwards. Returns their number, or -ENOMEM. */
static long path_of(const struct contexts *contexts, const struct cct_node *node, struct frames *frames)
{
    size_t depth = 0;
    for (const struct cct_node *n = node; cct_parent(n); n = cct_parent(n))
        depth += is_passed(contexts, n);
    if (!vec_reserve(frames->items, 0, frames->capacity, depth))
        return -ENOMEM;
    for (size_t at = depth; cct_parent(node); node = cct_parent(node)) {
        const struct frame *f = frames_at(contexts->frames, node->item);
        if (is_passed(contexts, node))
            frames->items[--at] = (struct fathom_frame){f->name, f->image, f->address};
    }
    return (long)depth;
}

static int pass_contexts(const struct contexts *contexts, fathom_hot_function *function, void *user,
                         struct fathom_error *err)
{
    struct cct_node *root = cct_root(contexts->tree);
    struct frames frames = {NULL, 0};
    int rc = 0;
    for (struct cct_node *node = root; node && rc == 0; node = cct_next(root, node)) {
        if (node == root || !node->self[0])
            continue;
        long depth = path_of(contexts, node, &frames);
        struct fathom_hot hot = {.weight = node->self[0],
                                 .error = cct_error(node),
                                 .total = cct_total(contexts->tree),
                                 .depth = (size_t)depth,
                                 .frames = frames.items};
        rc = depth < 0 ? error_memory(err) : function(user, &hot);
        if (depth >= 0 && rc < 0)
            error_set(err, -rc, "ended by the caller");
    }
    free(frames.items);
    return rc < 0 ? rc : 0;
}

static int check_options(const struct fathom_hot_options *o, struct fathom_error *err)
{
    if (!(o->phi > 0 && o->phi < 1) || !(o->eps >= 0 && o->eps < o->phi))
        return error_set(err, EINVAL, "phi %g must be above 0 and below 1, and eps %g below it", o->phi,
                         o->eps);
    if (counter_kind(o->counter) == HCCT_KINDS)
        return error_set(err, EINVAL, "there is no counter %d", (int)o->counter);
    return 0;
}

int fathom_hot_contexts(const char *recording, const char *map, const struct fathom_hot_options *options,
                        fathom_hot_function *function, void *user, struct fathom_error *error)
{
    struct run run = {0};
    struct profile *profile = NULL;
    struct contexts contexts;
    int rc = check_options(options, error);
    if (rc == 0)
        rc = run_open(&run, recording, map, error);
    if (rc == 0) {
        struct profile_options o = {.metrics = run.metrics,
                                    .eps = options->eps > 0 ? options->eps : options->phi / 5,
                                    .counter = counter_kind(options->counter),
                                    .phi = options->phi,
                                    .framing = {.inlined = FRAMING_INLINED}};
        profile = profile_new(&o, run.images);
        rc = profile ? 0 : error_memory(error);
    }
    if (rc == 0)
        rc = run_samples(&run, add_sample, &(struct adding){profile, run.engine}, error);
    if (rc == 0) {
        rc = profile_contexts(profile, options->phi, &contexts);
        if (rc < 0)
            rc = rc == -ERANGE
                     ? error_set(error, ERANGE,
                                 "this counter's error is not below phi %g; give a smaller eps", options->phi)
                     : error_memory(error);
    }
    if (rc == 0)
        rc = pass_contexts(&contexts, function, user, error);
    profile_free(profile);
    run_close(&run);
    return rc;
}

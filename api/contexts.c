/* contexts.c - the engine behind the public header; see fathom/contexts.h. */
#include "api/fathom/contexts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/known_frames.h"
#include "api/run.h"
#include "base/vec.h"
#include "config.h"
#include "infer/contexts/certainty.h"
#include "profile/framing.h"

/* Buffers for one path. */
struct path_buffer {
    uint32_t *path; /* map functions */
    size_t path_capacity;
    struct fathom_frame *frames;
    size_t count, frame_capacity;
};

struct fathom_walk {
    fathom_context_function *function;
    void *user;
    struct run run;
    struct framing *framing; /* adds inlined functions */
    struct known_frames known;
    struct path_buffer best, other; /* the context's most probable path, and another requested one */
    const struct sample *sample;    /* of the current context, like the next two */
    const struct process *process;
    const struct resolved *resolved;
};

const char *fathom_version(void)
{
    return PACKAGE_VERSION;
}

/* Converts items of the framing: functions, named as in the map, and functions inlined into them. */
static int take_frames(struct fathom_walk *w, const uint32_t *items, size_t count, struct path_buffer *to)
{
    size_t functions = 0;
    if (!vec_reserve(to->frames, to->count, to->frame_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct frame *f = frames_at(framing_frames(w->framing), items[i]);
        if (f->kind == FRAME_FUNCTION || f->kind == FRAME_PARTIAL) {
            const struct fathom_frame *frame = known_frames_at(&w->known, to->path[functions++]);
            if (!frame)
                return -ENOMEM;
            to->frames[to->count++] = *frame;
        } else if (f->kind == FRAME_INLINED && to->count) {
            to->frames[to->count] = (struct fathom_frame){f->name, to->frames[to->count - 1].image, 0};
            to->count++;
        }
    }
    return 0;
}

/* The frames of a node's path; for PATHMAP_NONE, of the sampled function, which is in to->frames[0]. 0, or -ENOMEM, -EBADMSG. */
static int known_path(struct fathom_walk *w, uint32_t node, struct path_buffer *to)
{
    const uint32_t *items;
    size_t count;
    const struct resolved *r = w->resolved;
    const struct pathmap *map = engine_map(w->run.engine);
    int rc = framing_begin(w->framing, w->process, w->sample, NULL);
    if (node != PATHMAP_NONE) {
        to->count = 0;
        if (rc == 0)
            rc = pathmap_read_path(map, node, &to->path, &to->path_capacity, NULL);
        if (rc >= 0)
            rc = framing_node(w->framing, node, UINT32_MAX, framing_sites(r), NULL);
    }
    if (rc == 0)
        rc = framing_end(w->framing, &r->cid.place, w->process, w->sample, &items, &count, NULL);
    return rc < 0 ? rc : take_frames(w, items, count, to);
}

int fathom_context_path(const struct fathom_context *context, unsigned rank, struct fathom_path *path)
{
    struct fathom_walk *w = context->walk;
    if (rank >= context->path_count)
        return -ERANGE;
    const struct candidate_path *candidate = &w->resolved->posterior[rank];
    int rc = known_path(w, candidate->node, &w->other);
    if (rc < 0)
        return rc;
    *path = (struct fathom_path){(double)candidate->probability, w->other.count, w->other.frames};
    return 0;
}

int fathom_context_metric(const struct fathom_context *context, unsigned number, struct fathom_metric *metric)
{
    const struct fathom_walk *w = context->walk;
    if (number >= w->run.metrics.count)
        return -ERANGE;
    const struct metric *m = w->run.metrics.at[number];
    *metric = (struct fathom_metric){m->name, metrics_unit(&w->run.metrics, number), m->value(w->sample)};
    return 0;
}

_Static_assert((int)FATHOM_PROVED == (int)CERTAINTY_PROVED &&
                   (int)FATHOM_INFERRED == (int)CERTAINTY_INFERRED &&
                   (int)FATHOM_UNKNOWN == (int)CERTAINTY_UNKNOWN,
               "the same numbers");

static int walk_sample(void *context, const struct process *process, const struct sample *sample,
                       const struct resolved *r, struct fathom_error *err)
{
    struct fathom_walk *w = context;
    if (!sample_counts(sample))
        return 0;
    struct fathom_context c = {
        .pid = sample->pid,
        .tid = sample->tid,
        .time = sample->time,
        .weight = sample->period,
        .probability = r->probability,
        .certainty = (enum fathom_certainty)certainty_of(r),
        .path_count = r->posterior_count,
        .walk = w,
    };
    if (!w->framing) {
        w->framing = framing_new(&(struct framing_options){.inlined = FRAMING_INLINED}, w->run.images);
        int used = w->framing ? framing_use(w->framing, engine_map(w->run.engine), err) : error_memory(err);
        if (used < 0)
            return used;
        w->known = (struct known_frames){.images = w->run.images, .map = engine_map(w->run.engine)};
    }
    w->resolved = r;
    w->sample = sample;
    w->process = process;
    char name[KNOWN_FRAMES_NAME];
    const struct place *place = &r->cid.place;
    int rc = 0;
    w->best.count = 0;
    if (r->kind != RESOLVED_UNKNOWN) {
        rc = known_path(w, r->node, &w->best);
    } else if (place->image && place->function != IMAGE_NO_FUNCTION) {
        image_function_format(place->image, place->function, name, sizeof name);
        w->best.frames[0] = (struct fathom_frame){name, image_path(place->image),
                                                  image_function(place->image, place->function)->address};
        w->best.count = 1;
        rc = known_path(w, PATHMAP_NONE, &w->best);
    }
    if (rc < 0)
        return rc == -ENOMEM ? error_memory(err)
                             : error_set(err, -rc, "the map is damaged: a path in it does not end");
    c.depth = w->best.count;
    c.frames = w->best.frames;
    rc = w->function(w->user, &c);
    return rc < 0 ? error_set(err, -rc, "ended by the caller") : 0;
}

static void walk_free(struct fathom_walk *w)
{
    known_frames_clear(&w->known);
    framing_free(w->framing);
    free(w->best.path);
    free(w->best.frames);
    free(w->other.path);
    free(w->other.frames);
    run_close(&w->run);
}

int fathom_contexts(const char *recording, const char *map, fathom_context_function *function, void *user,
                    struct fathom_error *error)
{
    struct fathom_walk w = {.function = function, .user = user};
    int rc = run_open(&w.run, recording, map, error);
    if (rc == 0 && !vec_reserve(w.best.frames, 0, w.best.frame_capacity, 64))
        rc = error_memory(error);
    if (rc == 0)
        rc = run_samples(&w.run, walk_sample, &w, error);
    walk_free(&w);
    return rc;
}

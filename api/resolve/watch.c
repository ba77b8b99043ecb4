/* watch.c - lists contexts that are on no path of a map; see fathom/watch.h. */
#include "api/fathom/watch.h"

#include <stdlib.h>
#include <string.h>

#include "api/resolve/resolving.h"
#include "base/error.h"
#include "base/vec.h"
#include "infer/model/first_seen.h"
#include "infer/model/trained.h"

struct fathom_anomaly {
    char *function, *image;
    uint64_t entry, address, height, times;
};

struct fathom_watch {
    struct fathom_resolver *resolver;
    struct fathom_anomaly **found; /* allocated one by one, as callers keep pointers to them */
    size_t count, capacity, most;
    struct fathom_watch_summary summary;
};

int fathom_watch_open(struct fathom_resolver *resolver, size_t most, struct fathom_watch **out,
                      struct fathom_error *error)
{
    struct fathom_watch *w = calloc(1, sizeof *w);
    if (!w)
        return error_memory(error);
    w->resolver = resolver;
    w->most = most ? most : FATHOM_WATCH_MOST;
    *out = w;
    return 0;
}

static void anomaly_free(struct fathom_anomaly *a)
{
    free(a->function);
    free(a->image);
    free(a);
}

void fathom_watch_close(struct fathom_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->count; i++)
        anomaly_free(w->found[i]);
    free(w->found);
    free(w);
}

static struct fathom_anomaly *find_known(const struct fathom_watch *w, const struct fathom_answer *answer)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->found[i]->height == fathom_answer_height(answer) &&
            w->found[i]->entry == fathom_answer_entry(answer, 0, 0) &&
            strcmp(w->found[i]->image, fathom_answer_image(answer, 0, 0)) == 0)
            return w->found[i];
    return NULL;
}

static int add_anomaly(struct fathom_watch *w, const struct fathom_answer *answer, struct fathom_error *err)
{
    struct fathom_anomaly *a = malloc(sizeof *a);
    if (!a)
        return error_memory(err);
    *a = (struct fathom_anomaly){.function = strdup(fathom_answer_function(answer, 0, 0)),
                                 .image = strdup(fathom_answer_image(answer, 0, 0)),
                                 .entry = fathom_answer_entry(answer, 0, 0),
                                 .address = fathom_answer_address(answer, 0, 0),
                                 .height = fathom_answer_height(answer),
                                 .times = 1};
    if (a->function && a->image && vec_push(w->found, w->count, w->capacity, a))
        return 1;
    anomaly_free(a);
    return error_memory(err);
}

int fathom_watch_check(struct fathom_watch *w, const struct fathom_point *point,
                       const struct fathom_answer **answer, struct fathom_error *error)
{
    const struct fathom_answer *a;
    int rc = fathom_resolver_resolve(w->resolver, point, &a, error);
    if (rc < 0)
        return rc;
    if (answer)
        *answer = a;
    w->summary.checked++;
    w->summary.not_told += fathom_answer_novelty(a) == FATHOM_NOT_TOLD;
    if (fathom_answer_novelty(a) != FATHOM_NEVER_SEEN)
        return 0;
    w->summary.never_seen++;
    struct fathom_anomaly *known = find_known(w, a);
    if (known)
        known->times++;
    else if (w->count >= w->most)
        w->summary.left_out++;
    else
        return add_anomaly(w, a, error);
    return 0;
}

size_t fathom_watch_count(const struct fathom_watch *w)
{
    return w->count;
}

const struct fathom_anomaly *fathom_watch_at(const struct fathom_watch *w, size_t index)
{
    return index < w->count ? w->found[index] : NULL;
}

const char *fathom_anomaly_function(const struct fathom_anomaly *a)
{
    return a->function;
}

const char *fathom_anomaly_image(const struct fathom_anomaly *a)
{
    return a->image;
}

uint64_t fathom_anomaly_address(const struct fathom_anomaly *a)
{
    return a->address;
}

uint64_t fathom_anomaly_entry(const struct fathom_anomaly *a)
{
    return a->entry;
}

uint64_t fathom_anomaly_height(const struct fathom_anomaly *a)
{
    return a->height;
}

uint64_t fathom_anomaly_times(const struct fathom_anomaly *a)
{
    return a->times;
}

void fathom_watch_summary(const struct fathom_watch *w, struct fathom_watch_summary *summary)
{
    *summary = w->summary;
}

void fathom_watch_chance(const struct fathom_watch *w, struct fathom_watch_chance *out)
{
    const struct pathmap *map = resolving_map(w->resolver);
    const struct first_seen seen = first_seen_of(map);
    const struct trained trained = trained_of(map);
    const bool inputs = trained.by == TRAINED_BY_INPUTS;
    *out = (struct fathom_watch_chance){.observations = seen.observations,
                                        .once = seen.once,
                                        .calls = seen.calls,
                                        .chance = seen.chance,
                                        .most = seen.most,
                                        .inputs = inputs ? trained.parts : 0,
                                        .next = inputs ? trained.unseen : 1,
                                        .next_most = inputs ? trained.unseen_most : 1};
}

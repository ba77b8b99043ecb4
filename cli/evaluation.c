/* evaluation.c - see evaluation.h. */
#include "cli/evaluation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"

/* A function of a covered image that the map does not know: no inferred path has it. */
#define NOT_IN_MAP (PATHMAP_NONE - 1)

/* What came of one true path under one CID. */
struct outcome {
    enum category category;
    uint64_t weight, right; /* events; on the right path */
};

struct evaluation {
    struct pipeline *pipeline;
    struct table *covered;   /* image -> 1: the map has it, 2: it has not */
    struct table *functions; /* map function -> 1: of a covered image */
    struct table *paths;     /* (true path, CID) hashed -> index of its outcome */
    struct table *right;     /* (true path, inferred node) hashed -> 1: the same path, 2: not */
    struct outcome *outcomes;
    size_t count, room; /* of outcomes */
    struct unwind_frame *frames;
    uint32_t *truth;    /* the true path: map functions from the root inwards */
    uint32_t *inferred; /* a candidate's */
    struct score score;
};

struct evaluation *evaluation_new(struct pipeline *pipeline)
{
    struct evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->pipeline = pipeline;
    e->covered = table_new();
    e->functions = table_new();
    e->paths = table_new();
    e->right = table_new();
    e->frames = calloc(UNWIND_MAX_FRAMES, sizeof *e->frames);
    e->truth = calloc(UNWIND_MAX_FRAMES, sizeof *e->truth);
    e->inferred = calloc(UNWIND_MAX_FRAMES, sizeof *e->inferred);
    if (!e->covered || !e->functions || !e->paths || !e->right || !e->frames || !e->truth || !e->inferred) {
        evaluation_free(e);
        return NULL;
    }
    return e;
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    table_free(e->covered);
    table_free(e->functions);
    table_free(e->paths);
    table_free(e->right);
    free(e->outcomes);
    free(e->frames);
    free(e->truth);
    free(e->inferred);
    free(e);
}

/* Whether frames of the image are compared: the map that is evaluated covers it. */
static bool image_covered(struct evaluation *e, const struct image *image)
{
    bool added, stale;
    uint64_t *place = table_put(e->covered, (uintptr_t)image, &added);
    if (!place)
        return false;
    if (added) {
        const struct pathmap *map = pipeline_map(e->pipeline);
        uint32_t number = pathmap_find_image(map, image_path(image), image_build_id(image), &stale);
        *place = number != PATHMAP_NONE && pathmap_covers(map, number) ? 1 : 2;
    }
    return *place == 1;
}

/* The true path into e->truth; returns its length. Frames above the base (clone3) are part of no path
 * (process/process.h). */
static size_t true_path(struct evaluation *e, const struct process *process, const struct sample *sample,
                        size_t frames)
{
    size_t depth = 0;
    uint64_t base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN)
        base = UINT64_MAX;
    for (size_t i = frames; i-- > 0;) {
        const struct place *place = &e->frames[i].place;
        if (e->frames[i].cfa > base || !place->image || !image_covered(e, place->image))
            continue;
        uint32_t function =
            place->function == IMAGE_NO_FUNCTION
                ? PATHMAP_NONE
                : resolver_function(pipeline_resolver(e->pipeline), place->image, place->function);
        e->truth[depth++] = function == PATHMAP_NONE ? NOT_IN_MAP : function;
    }
    return depth;
}

/* The same for a function of the map; asked once for each. */
static bool function_covered(struct evaluation *e, uint32_t function)
{
    bool added;
    uint64_t *place = table_put(e->functions, function, &added);
    if (!place)
        return false;
    if (added) {
        const struct pathmap *map = pipeline_map(e->pipeline);
        *place = pathmap_covers(map, pathmap_function(map, function).image);
    }
    return *place;
}

static bool node_is_true(struct evaluation *e, uint32_t node, size_t depth)
{
    const struct pathmap *map = pipeline_map(e->pipeline);
    int count = pathmap_path(map, node, e->inferred, UNWIND_MAX_FRAMES);
    if (count > UNWIND_MAX_FRAMES)
        return false;
    size_t kept = 0;
    for (int i = 0; i < count; i++) {
        if (function_covered(e, e->inferred[i]))
            e->inferred[kept++] = e->inferred[i];
    }
    return count >= 0 && kept == depth && memcmp(e->inferred, e->truth, depth * sizeof *e->truth) == 0;
}

/* Whether the true path is among those that have the CID, and alone. */
static enum category judge(struct evaluation *e, const struct resolved *r, size_t depth)
{
    if (r->kind == RESOLVED_UNKNOWN)
        return CATEGORY_MISSING;
    const struct pathmap *map = pipeline_map(e->pipeline);
    struct pathmap_node best = pathmap_node(map, r->node);
    uint32_t first, count = pathmap_find(map, best.function, best.height, &first), last = PATHMAP_NONE;
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t path = pathmap_node(map, i).path;
        if (path != last && node_is_true(e, i, depth))
            return r->paths == 1 ? CATEGORY_PRECISE : CATEGORY_AMBIGUOUS;
        last = path;
    }
    return CATEGORY_INCORRECT;
}

/* Whether the inferred path is the true one; asked once for each pair. */
static int is_right(struct evaluation *e, const struct resolved *r, size_t depth, struct fathom_error *err)
{
    if (r->kind == RESOLVED_UNKNOWN)
        return 0;
    bool added;
    uint64_t key = hash_u64(checksum_of(e->truth, depth * sizeof *e->truth) ^ r->node);
    uint64_t *place = table_put(e->right, key, &added);
    if (!place)
        return error_memory(err);
    if (added)
        *place = node_is_true(e, r->node, depth) ? 1 : 2;
    return *place == 1;
}

static uint64_t path_key(const struct evaluation *e, size_t depth, const struct cid *cid)
{
    uint64_t key = checksum_of(e->truth, depth * sizeof *e->truth);
    key = hash_u64(key ^ (uintptr_t)cid->place.image);
    return hash_u64(key ^ ((uint64_t)cid->place.function << 32) ^ cid->height);
}

/* The outcome of the true path under the sample's CID. NULL: out of memory. */
static struct outcome *outcome_of(struct evaluation *e, const struct resolved *r, size_t depth)
{
    bool added;
    uint64_t *place = table_put(e->paths, path_key(e, depth, &r->cid), &added);
    if (!place)
        return NULL;
    if (added) {
        if (e->count == e->room) {
            size_t room = e->room ? e->room * 2 : 256;
            struct outcome *outcomes = realloc(e->outcomes, room * sizeof *outcomes);
            if (!outcomes)
                return NULL;
            e->outcomes = outcomes;
            e->room = room;
        }
        *place = e->count;
        e->outcomes[e->count++] = (struct outcome){.category = judge(e, r, depth)};
    }
    return &e->outcomes[*place];
}

int evaluation_add(void *evaluation, const struct process *process, const struct sample *sample,
                   const struct resolved *resolved, struct fathom_error *err)
{
    struct evaluation *e = evaluation;
    e->score.samples++;
    enum unwind_end end = UNWIND_CUT;
    size_t frames = 0;
    if (process && sample->stack)
        frames = unwind_sample(process, sample, e->frames, UNWIND_MAX_FRAMES, &end);
    if (!frames || end != UNWIND_ROOT) {
        e->score.no_truth[end] += sample->period;
        return 0;
    }
    size_t depth = true_path(e, process, sample, frames);
    int right = is_right(e, resolved, depth, err);
    struct outcome *outcome = right < 0 ? NULL : outcome_of(e, resolved, depth);
    if (!outcome)
        return error_memory(err);
    outcome->weight += sample->period;
    outcome->right += right ? sample->period : 0;
    return 0;
}

void evaluation_score(const struct evaluation *e, struct score *out)
{
    *out = e->score;
    for (size_t i = 0; i < e->count; i++) {
        const struct outcome *o = &e->outcomes[i];
        out->paths[o->category]++;
        out->weight[o->category] += o->weight;
        out->right_paths += o->right * 2 > o->weight;
        out->right_weight += o->right;
        out->all_paths++;
        out->all_weight += o->weight;
    }
}

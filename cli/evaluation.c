/*
 * evaluation.c - see evaluation.h.
 *
 * A path is compared by its hash over the functions that count, root first, which for the map's nodes is
 * that of the parent carried on: each node's is computed once.
 */
#include "cli/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"

#define NO_HASH   0 /* not computed yet */
#define ROOT_HASH 1

struct evaluation {
    struct resolver *resolver; /* NULL before the first sample */
    struct truth *truth;
    struct table *numbers; /* true function -> what evaluation_translate() tells */
    struct table *found;   /* (CID, true path, answer) hashed -> index of the verdict */
    struct verdict *verdicts;
    size_t count, room;
    uint64_t *hashes;          /* by node */
    uint8_t *functions;        /* by map function: 0 not asked yet, 1 compared, 2 not */
    uint32_t *truths, *answer; /* scratch: paths that are compared frame by frame */
    size_t truths_room, answer_room;
    struct score score; /* what does not come from the verdicts */
};

struct evaluation *evaluation_new(struct truth *truth)
{
    struct evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->truth = truth;
    e->numbers = table_new();
    e->found = table_new();
    if (!e->numbers || !e->found) {
        evaluation_free(e);
        return NULL;
    }
    return e;
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    table_free(e->numbers);
    table_free(e->found);
    free(e->verdicts);
    free(e->hashes);
    free(e->functions);
    free(e->truths);
    free(e->answer);
    free(e);
}

/* What depends on the map, which is there with the first sample. */
static bool prepare(struct evaluation *e, struct resolver *resolver)
{
    const struct pathmap *map = resolver_map(resolver);
    e->resolver = resolver;
    e->hashes = calloc((size_t)pathmap_node_count(map) + 1, sizeof *e->hashes);
    e->functions = calloc((size_t)pathmap_function_count(map) + 1, sizeof *e->functions);
    return e->hashes && e->functions;
}

static bool reserve(uint32_t **array, size_t *room, size_t count)
{
    if (count <= *room)
        return true;
    uint32_t *bigger = realloc(*array, count * 2 * sizeof *bigger);
    if (!bigger)
        return false;
    *array = bigger;
    *room = count * 2;
    return true;
}

/* Whether the frames of an image of the resolver's map are compared. */
static bool image_compared(const struct evaluation *e, uint32_t number)
{
    const struct pathmap *map = resolver_map(e->resolver);
    struct pathmap_image image = pathmap_image(map, number);
    return pathmap_covers(map, number) && truth_covers(e->truth, image.path, &image.build_id);
}

bool evaluation_compares(struct evaluation *e, uint32_t function)
{
    if (e->functions[function] == 0) {
        uint32_t image = pathmap_function(resolver_map(e->resolver), function).image;
        e->functions[function] = image_compared(e, image) ? 1 : 2;
    }
    return e->functions[function] == 1;
}

uint32_t evaluation_translate(struct evaluation *e, uint32_t function)
{
    bool added;
    uint64_t *number = table_put(e->numbers, function, &added);
    if (!number)
        return PATHMAP_NONE;
    if (added) {
        const struct pathmap *map = resolver_map(e->resolver);
        struct true_function f = truth_function(e->truth, function);
        uint32_t image = pathmap_find_image(map, f.image, &f.build_id, NULL);
        uint32_t found = NOT_COMPARED;
        if (image != PATHMAP_NONE && image_compared(e, image)) {
            found = f.address == NO_ADDRESS ? PATHMAP_NONE : pathmap_find_function(map, image, f.address);
            found = found == PATHMAP_NONE ? NOT_IN_MAP : found;
        }
        *number = found;
    }
    return (uint32_t)*number;
}

static uint64_t hash_on(uint64_t hash, uint32_t function)
{
    hash = hash_u64(hash ^ ((uint64_t)function + 1));
    return hash == NO_HASH ? ROOT_HASH : hash;
}

/* The true path's functions that are compared, as the map's numbers, into e->truths. -1: out of memory. */
static ptrdiff_t translate(struct evaluation *e, uint32_t truth)
{
    const uint32_t *functions;
    size_t depth = truth_path(e->truth, truth, &functions), kept = 0;
    if (!reserve(&e->truths, &e->truths_room, depth))
        return -1;
    for (size_t i = 0; i < depth; i++) {
        uint32_t function = evaluation_translate(e, functions[i]);
        if (function == PATHMAP_NONE)
            return -1;
        if (function != NOT_COMPARED)
            e->truths[kept++] = function;
    }
    return (ptrdiff_t)kept;
}

/* The answer's, into e->answer. -1: out of memory. */
static ptrdiff_t recall(struct evaluation *e, uint32_t node)
{
    const struct pathmap *map = resolver_map(e->resolver);
    int depth = pathmap_path(map, node, e->answer, e->answer_room);
    if (depth < 0)
        return 0;
    if ((size_t)depth > e->answer_room) {
        if (!reserve(&e->answer, &e->answer_room, (size_t)depth))
            return -1;
        pathmap_path(map, node, e->answer, e->answer_room);
    }
    ptrdiff_t kept = 0;
    for (int i = 0; i < depth; i++) {
        if (evaluation_compares(e, e->answer[i]))
            e->answer[kept++] = e->answer[i];
    }
    return kept;
}

/* The hash of a node's path. -1: out of memory. */
static int hash_node(struct evaluation *e, uint32_t node, uint64_t *hash)
{
    const struct pathmap *map = resolver_map(e->resolver);
    size_t pending = 0;
    uint32_t at = node;
    for (; at != PATHMAP_NONE && e->hashes[at] == NO_HASH; at = pathmap_node(map, at).parent) {
        if (!reserve(&e->answer, &e->answer_room, pending + 1))
            return -1;
        e->answer[pending++] = at;
    }
    uint64_t carried = at == PATHMAP_NONE ? ROOT_HASH : e->hashes[at];
    while (pending-- > 0) {
        at = e->answer[pending];
        uint32_t function = pathmap_node(map, at).function;
        if (function != PATHMAP_NONE && evaluation_compares(e, function))
            carried = hash_on(carried, function);
        e->hashes[at] = carried;
    }
    *hash = carried;
    return 0;
}

/* Whether training saw the node, or inference alone made it up. */
static bool is_trained(struct pathmap_node node)
{
    return node.self > 0 || node.passes > 0;
}

/* Whether the path of hash `wanted` is among those of a resolved sample's CID, and alone. Where training saw
 * some of them and the right one is another, that one is among all. -1: out of memory. */
static int judge(struct evaluation *e, const struct resolved *r, uint64_t wanted, struct verdict *out)
{
    out->category = CATEGORY_MISSING;
    if (r->kind == RESOLVED_UNKNOWN)
        return 0;
    const struct pathmap *map = resolver_map(e->resolver);
    struct pathmap_node best = pathmap_node(map, r->node);
    uint32_t first, count = pathmap_find(map, best.function, best.height, &first), last = PATHMAP_NONE;
    uint32_t all = 0, trained = 0;
    bool among = false, right_trained = false;
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node node = pathmap_node(map, i);
        uint64_t hash;
        if (hash_node(e, i, &hash) < 0)
            return -1;
        all += node.path != last;
        trained += is_trained(node);
        among = among || hash == wanted;
        right_trained = right_trained || (hash == wanted && is_trained(node));
        last = node.path;
    }
    out->paths = among && trained && !right_trained ? all : r->paths;
    out->category = !among ? CATEGORY_INCORRECT : out->paths == 1 ? CATEGORY_PRECISE : CATEGORY_AMBIGUOUS;
    return 0;
}

/* Share of frames that agree (evaluation.h). */
static double agreement(const uint32_t *a, size_t a_depth, const uint32_t *b, size_t b_depth)
{
    size_t shorter = a_depth < b_depth ? a_depth : b_depth, longer = a_depth + b_depth - shorter;
    size_t outer = 0, inner = 0;
    while (outer < shorter && a[outer] == b[outer])
        outer++;
    while (inner < shorter - outer && a[a_depth - 1 - inner] == b[b_depth - 1 - inner])
        inner++;
    return longer ? (double)(outer + inner) / (double)longer : 1;
}

/* A new verdict but for its samples. -1: out of memory. */
static int decide(struct evaluation *e, struct judged_cid cid, const struct resolved *r, uint32_t truth,
                  struct verdict *out)
{
    *out = (struct verdict){.cid = cid, .truth = truth, .node = r->node, .reason = r->reason};
    ptrdiff_t depth = translate(e, truth);
    if (depth < 0)
        return -1;
    uint64_t wanted = ROOT_HASH, answered;
    for (ptrdiff_t i = 0; i < depth; i++)
        wanted = hash_on(wanted, e->truths[i]);
    if (judge(e, r, wanted, out) < 0)
        return -1;
    if (r->kind == RESOLVED_UNKNOWN)
        return 0;
    if (hash_node(e, r->node, &answered) < 0)
        return -1;
    out->right = answered == wanted;
    ptrdiff_t found = recall(e, r->node);
    if (found < 0)
        return -1;
    out->frames = agreement(e->truths, (size_t)depth, e->answer, (size_t)found);
    return 0;
}

static struct verdict *verdict_of(struct evaluation *e, struct judged_cid cid, const struct resolved *r,
                                  uint32_t truth)
{
    bool added;
    uint64_t words[] = {cid.function, cid.height, (uint64_t)r->reason << 32 | r->node, truth};
    uint64_t *place = table_put(e->found, checksum_of(words, sizeof words), &added);
    if (!place)
        return NULL;
    if (!added)
        return &e->verdicts[*place];
    if (e->count == e->room) {
        size_t room = e->room ? e->room * 2 : 256;
        struct verdict *verdicts = realloc(e->verdicts, room * sizeof *verdicts);
        if (!verdicts)
            return NULL;
        e->verdicts = verdicts;
        e->room = room;
    }
    *place = e->count;
    return decide(e, cid, r, truth, &e->verdicts[e->count]) < 0 ? NULL : &e->verdicts[e->count++];
}

static void count_bin(struct evaluation *e, double probability, double weight, bool right)
{
    unsigned number = probability >= 1 ? BINS - 1 : (unsigned)(probability * BINS);
    struct bin *bin = &e->score.bins[number];
    bin->weight += weight;
    bin->said += weight * probability;
    bin->right += right ? weight : 0;
}

int evaluation_count(struct evaluation *e, struct resolver *resolver, struct judged_cid cid,
                     const struct resolved *resolved, const struct true_share *shares, size_t count,
                     double weight, struct fathom_error *err)
{
    if (!e->resolver && !prepare(e, resolver))
        return error_memory(err);
    e->score.samples++;
    for (size_t i = 0; i < count; i++) {
        struct verdict *v = verdict_of(e, cid, resolved, shares[i].path);
        if (!v)
            return error_memory(err);
        double part = shares[i].share * weight;
        v->samples++;
        v->weight += part;
        v->said += part * resolved->probability;
        if (resolved->kind != RESOLVED_UNKNOWN)
            count_bin(e, resolved->probability, part, v->right);
    }
    return 0;
}

int evaluation_add(struct evaluation *e, struct resolver *resolver, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    const struct place *place = &resolved->cid.place;
    const struct true_share *shares;
    unsigned reason;
    int count = truth_of(e->truth, process, sample, place, resolved->cid.height, &shares, &reason, err);
    if (count < 0)
        return count;
    if (count == 0)
        e->score.no_truth[reason] += (double)sample->period;
    uint64_t function[] = {(uintptr_t)place->image, place->function};
    struct judged_cid cid = {checksum_of(function, sizeof function), resolved->cid.height};
    return evaluation_count(e, resolver, cid, resolved, shares, (size_t)count, (double)sample->period, err);
}

/* By true path and CID. */
static int compare_paths(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    if (x->truth != y->truth)
        return x->truth < y->truth ? -1 : 1;
    if (x->cid.height != y->cid.height)
        return x->cid.height < y->cid.height ? -1 : 1;
    return (x->cid.function > y->cid.function) - (x->cid.function < y->cid.function);
}

static void tally(struct tally *into, uint64_t paths, double weight)
{
    into->paths += paths;
    into->weight += weight;
}

/* The verdicts of one true path under one CID. */
static void score_path(struct score *s, const struct verdict *verdicts, size_t count)
{
    double weight = 0, right = 0;
    for (size_t i = 0; i < count; i++) {
        weight += verdicts[i].weight;
        right += verdicts[i].right ? verdicts[i].weight : 0;
        s->right_frames += verdicts[i].frames * verdicts[i].weight;
        s->said += verdicts[i].said;
    }
    enum category category = verdicts->category;
    tally(&s->category[category], 1, weight);
    tally(&s->all, 1, weight);
    tally(&s->right, right * 2 > weight, right);
    bool among = category == CATEGORY_PRECISE || category == CATEGORY_AMBIGUOUS;
    for (unsigned k = 1; among && k <= DEGREES; k++) {
        if (verdicts->paths <= k)
            tally(&s->within[k - 1], 1, weight);
    }
}

int evaluation_score(const struct evaluation *e, struct score *out, struct fathom_error *err)
{
    *out = e->score;
    struct verdict *sorted = malloc((e->count + 1) * sizeof *sorted);
    if (!sorted)
        return error_memory(err);
    if (e->count)
        memcpy(sorted, e->verdicts, e->count * sizeof *sorted);
    qsort(sorted, e->count, sizeof *sorted, compare_paths);
    for (size_t i = 0, end; i < e->count; i = end) {
        for (end = i + 1; end < e->count && compare_paths(&sorted[i], &sorted[end]) == 0;)
            end++;
        score_path(out, &sorted[i], end - i);
    }
    free(sorted);
    double answered = 0;
    for (unsigned i = 0; i < BINS; i++) {
        answered += out->bins[i].weight;
        out->calibration_error += fabs(out->bins[i].right - out->bins[i].said);
    }
    out->calibration_error /= answered > 0 ? answered : 1;
    return 0;
}

static int heavier_first(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    int paths = compare_paths(a, b);
    return paths ? paths : (x->node > y->node) - (x->node < y->node);
}

int evaluation_wrong(const struct evaluation *e, struct verdict **out, size_t *count,
                     struct fathom_error *err)
{
    struct verdict *wrong = malloc((e->count + 1) * sizeof *wrong);
    if (!wrong)
        return error_memory(err);
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!e->verdicts[i].right)
            wrong[kept++] = e->verdicts[i];
    }
    qsort(wrong, kept, sizeof *wrong, heavier_first);
    *out = wrong;
    *count = kept;
    return 0;
}

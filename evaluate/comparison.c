/*
 * comparison.c - see comparison.h.
 *
 * Paths are compared by a hash over the functions that count, root first. The hash of a node of the map continues that of its
 * parent, and is computed once.
 */
#include "evaluate/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

#define NO_HASH   0 /* not computed yet */
#define ROOT_HASH 1

struct comparison {
    struct truth *truth;
    const struct pathmap *map;
    enum comparison_scope scope;
    struct table *numbers;     /* true function -> result of comparison_translate() */
    uint64_t *hashes;          /* by node */
    uint8_t *functions;        /* by map function: 0: unknown yet, 1: compared, 2: not compared */
    uint32_t *truths, *answer; /* scratch: paths to compare frame by frame */
    size_t truths_capacity, answer_capacity;
};

struct comparison *comparison_new(struct truth *truth, const struct pathmap *map, enum comparison_scope scope)
{
    struct comparison *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->truth = truth;
    c->map = map;
    c->scope = scope;
    c->numbers = table_new();
    c->hashes = calloc((size_t)pathmap_node_count(map) + 1, sizeof *c->hashes);
    c->functions = calloc((size_t)pathmap_function_count(map) + 1, sizeof *c->functions);
    return whole_or_free(c, c->numbers && c->hashes && c->functions, comparison_free);
}

void comparison_free(struct comparison *c)
{
    if (!c)
        return;
    table_free(c->numbers);
    free(c->hashes);
    free(c->functions);
    free(c->truths);
    free(c->answer);
    free(c);
}

/* Whether the frames of an image in the resolver's map are compared. */
static bool image_compared(const struct comparison *c, uint32_t number)
{
    struct pathmap_image image = pathmap_image(c->map, number);
    return (c->scope == COMPARE_ALL || pathmap_covers(c->map, number)) &&
           truth_covers(c->truth, image.path, &image.build_id);
}

bool comparison_covers(struct comparison *c, uint32_t function)
{
    if (c->functions[function] == 0) {
        uint32_t image = pathmap_function(c->map, function).image;
        c->functions[function] = image_compared(c, image) ? 1 : 2;
    }
    return c->functions[function] == 1;
}

uint32_t comparison_translate(struct comparison *c, uint32_t function)
{
    bool added;
    uint64_t *number = table_put(c->numbers, function, &added);
    if (!number)
        return PATHMAP_NONE;
    if (added) {
        struct true_function f = truth_function(c->truth, function);
        uint32_t image = pathmap_find_image(c->map, f.image, &f.build_id, NULL);
        uint32_t found = c->scope == COMPARE_ALL ? NOT_IN_MAP : NOT_COMPARED;
        if (image != PATHMAP_NONE && image_compared(c, image)) {
            found = f.address == NO_ADDRESS ? PATHMAP_NONE : pathmap_find_function(c->map, image, f.address);
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

/* Stores the true path's functions that are compared, as the map's numbers, in c->truths. -1: out of memory. */
static ptrdiff_t translate_truth(struct comparison *c, uint32_t truth)
{
    const uint32_t *functions;
    size_t depth = truth_path(c->truth, truth, &functions), kept = 0;
    if (!vec_reserve(c->truths, 0, c->truths_capacity, depth))
        return -1;
    for (size_t i = 0; i < depth; i++) {
        uint32_t function = comparison_translate(c, functions[i]);
        if (function == PATHMAP_NONE)
            return -1;
        if (function != NOT_COMPARED)
            c->truths[kept++] = function;
    }
    return (ptrdiff_t)kept;
}

/* Stores those of the answer in c->answer. -1: out of memory. */
static ptrdiff_t translate_answer(struct comparison *c, uint32_t node)
{
    int depth = pathmap_read_path(c->map, node, &c->answer, &c->answer_capacity, NULL);
    if (depth < 0)
        return depth == -ENOMEM ? -1 : 0;
    ptrdiff_t kept = 0;
    for (int i = 0; i < depth; i++) {
        if (comparison_covers(c, c->answer[i]))
            c->answer[kept++] = c->answer[i];
    }
    return kept;
}

/* The hash of a node's path. -1: out of memory. */
static int hash_node(struct comparison *c, uint32_t node, uint64_t *hash)
{
    size_t pending = 0;
    uint32_t at = node;
    for (; at != PATHMAP_NONE && c->hashes[at] == NO_HASH; at = pathmap_node(c->map, at).parent) {
        if (!vec_push(c->answer, pending, c->answer_capacity, at))
            return -1;
    }
    uint64_t carried = at == PATHMAP_NONE ? ROOT_HASH : c->hashes[at];
    while (pending-- > 0) {
        at = c->answer[pending];
        uint32_t function = pathmap_node(c->map, at).function;
        if (function != PATHMAP_NONE && comparison_covers(c, function))
            carried = hash_on(carried, function);
        c->hashes[at] = carried;
    }
    *hash = carried;
    return 0;
}

/* Whether training saw the node; if not, inference composed it. */
static bool is_trained(struct pathmap_node node)
{
    return node.self > 0 || node.passes > 0;
}

/* Compares the paths of a resolved sample's CID with the one that has the hash `wanted`. -1: out of memory. */
static int compare_paths(struct comparison *c, const struct resolved *r, uint64_t wanted,
                         struct compared *out)
{
    struct pathmap_node best = pathmap_node(c->map, r->node);
    uint32_t first, count = pathmap_find(c->map, best.function, best.height, &first), last = PATHMAP_NONE;
    uint32_t all = 0, trained = 0;
    bool right_trained = false;
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node node = pathmap_node(c->map, i);
        uint64_t hash;
        if (hash_node(c, i, &hash) < 0)
            return -1;
        all += node.path != last;
        trained += is_trained(node);
        out->among = out->among || hash == wanted;
        right_trained = right_trained || (hash == wanted && is_trained(node));
        last = node.path;
    }
    out->paths = out->among && trained && !right_trained ? all : r->paths;
    return 0;
}

/* The share of frames that agree (comparison.h). */
static double frame_agreement(const uint32_t *a, size_t a_depth, const uint32_t *b, size_t b_depth)
{
    size_t shorter = a_depth < b_depth ? a_depth : b_depth, longer = a_depth + b_depth - shorter;
    size_t outer = 0, inner = 0;
    while (outer < shorter && a[outer] == b[outer])
        outer++;
    while (inner < shorter - outer && a[a_depth - 1 - inner] == b[b_depth - 1 - inner])
        inner++;
    return longer ? (double)(outer + inner) / (double)longer : 1;
}

int comparison_make(struct comparison *c, const struct resolved *r, uint32_t true_path, struct compared *out)
{
    struct compared made = {0};
    *out = made;
    if (r->kind == RESOLVED_UNKNOWN)
        return 0;
    ptrdiff_t depth = translate_truth(c, true_path);
    if (depth < 0)
        return -ENOMEM;
    uint64_t wanted = ROOT_HASH, answered;
    for (ptrdiff_t i = 0; i < depth; i++)
        wanted = hash_on(wanted, c->truths[i]);
    if (compare_paths(c, r, wanted, &made) < 0 || hash_node(c, r->node, &answered) < 0)
        return -ENOMEM;
    made.right = answered == wanted;
    ptrdiff_t found = translate_answer(c, r->node);
    if (found < 0)
        return -ENOMEM;
    made.frames = frame_agreement(c->truths, (size_t)depth, c->answer, (size_t)found);
    *out = made;
    return 0;
}

int comparison_inner(struct comparison *c, const struct resolved *r, uint32_t true_path, bool *right)
{
    ptrdiff_t depth = translate_truth(c, true_path), found = depth < 0 ? -1 : translate_answer(c, r->node);
    if (found < 0)
        return -ENOMEM;
    const ptrdiff_t shown = found - r->partial, frames = r->partial && shown < depth ? shown : depth;
    *right = found >= frames;
    for (ptrdiff_t i = 1; i <= frames && *right; i++)
        *right = c->truths[depth - i] == c->answer[found - i];
    return 0;
}

/* agreement.c - see agreement.h. */
#include "profile/agreement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { MEANT_PERCENT = 99 }; /* of the probability below: the paths counted */

struct entry {
    uint32_t node;      /* by rank: in the order of the paths' functions */
    uint32_t in_common; /* by rank: outermost functions in common with the previous one; 0 for the first */
    uint32_t by_node;   /* ranks in the order of the nodes */
};

struct agreement {
    uint32_t count;
    struct entry at[];
};

struct reading {
    uint32_t node;
    uint32_t *functions; /* from the root inwards */
    uint32_t depth;
};

static uint32_t depth_in_common(const struct reading *a, const struct reading *b)
{
    uint32_t depth = 0;
    while (depth < a->depth && depth < b->depth && a->functions[depth] == b->functions[depth])
        depth++;
    return depth;
}

static int compare_readings(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    uint32_t depth = depth_in_common(x, y);
    if (depth < x->depth && depth < y->depth)
        return x->functions[depth] < y->functions[depth] ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_ranks(const void *a, const void *b, void *entries)
{
    const struct entry *at = entries;
    uint32_t x = at[*(const uint32_t *)a].node, y = at[*(const uint32_t *)b].node;
    return (x > y) - (x < y);
}

static int read_path(const struct pathmap *map, uint32_t node, struct reading *out, struct fathom_error *err)
{
    size_t room = 0;
    int depth = pathmap_read_path(map, node, &out->functions, &room, err);
    if (depth < 0)
        return depth;
    out->node = node;
    out->depth = (uint32_t)depth;
    return 0;
}

static void put_in_order(struct agreement *a, struct reading *readings)
{
    uint32_t ranks[CANDIDATES_MAX];
    qsort(readings, a->count, sizeof *readings, compare_readings);
    for (uint32_t i = 0; i < a->count; i++) {
        a->at[i].node = readings[i].node;
        a->at[i].in_common = i ? depth_in_common(&readings[i - 1], &readings[i]) : 0;
        ranks[i] = i;
    }
    qsort_r(ranks, a->count, sizeof *ranks, compare_ranks, a->at);
    for (uint32_t i = 0; i < a->count; i++)
        a->at[i].by_node = ranks[i];
}

int agreement_new(const struct pathmap *map, const struct candidate_path *paths, uint32_t count,
                  struct agreement **out, struct fathom_error *err)
{
    struct reading readings[CANDIDATES_MAX] = {0};
    struct agreement *a = calloc(1, sizeof *a + count * sizeof a->at[0]);
    int rc = a ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = read_path(map, paths[i].node, &readings[i], err);
    if (rc == 0) {
        a->count = count;
        put_in_order(a, readings);
        *out = a;
        a = NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        free(readings[i].functions);
    free(a);
    return rc;
}

void agreement_free(struct agreement *a)
{
    free(a);
}

static uint32_t rank_of(const struct agreement *a, uint32_t node)
{
    return a->at[lower_bound(i, 0, a->count - 1, a->at[a->at[i].by_node].node < node)].by_node;
}

/* Paths first .. last by rank; they share the outermost `depth` functions (a single path: all of its
 * functions). */
struct range {
    uint32_t first, last, fork, depth;
    double probability;
};

/* Extends the range by the neighbours that have most in common with it. false: none has anything in common.
 */
static bool widen(const struct agreement *a, const double *probabilities, struct range *range)
{
    uint32_t before = range->first > 0 ? a->at[range->first].in_common : 0;
    uint32_t after = range->last + 1 < a->count ? a->at[range->last + 1].in_common : 0;
    uint32_t depth = before > after ? before : after;
    if (depth == 0)
        return false;
    range->fork = before > after ? range->first : range->last + 1;
    range->depth = depth;
    while (range->first > 0 && a->at[range->first].in_common >= depth)
        range->probability += probabilities[--range->first];
    while (range->last + 1 < a->count && a->at[range->last + 1].in_common >= depth)
        range->probability += probabilities[++range->last];
    /* A common beginning has one number, independent of the path that it is reached from. */
    for (uint32_t i = range->first + 1; i <= range->last; i++) {
        if (a->at[i].in_common == depth) {
            range->fork = i;
            break;
        }
    }
    return true;
}

/* The path that every range with more than half of the probability contains. */
static uint32_t median(const double *probabilities, uint32_t count)
{
    double all = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++)
        all += probabilities[i];
    for (uint32_t i = 0; i < count; i++) {
        seen += probabilities[i];
        if (seen >= all / 2)
            return i;
    }
    return count - 1;
}

static uint32_t count_meant(const double *probabilities, const struct range *range)
{
    double left[CANDIDATES_MAX], sum = 0, seen = 0;
    uint32_t count = 0;
    for (uint32_t i = range->first; i <= range->last; i++)
        sum += left[i] = probabilities[i];
    do {
        uint32_t most = range->first;
        for (uint32_t i = range->first; i <= range->last; i++)
            most = left[i] > left[most] ? i : most;
        seen += left[most];
        left[most] = -1;
    } while (++count <= range->last - range->first && seen * 100 < MEANT_PERCENT * sum);
    return count;
}

void agreement_find(const struct agreement *a, const struct candidate_path *paths, uint32_t count,
                    double wanted, struct agreed *out)
{
    double probabilities[CANDIDATES_MAX] = {0};
    for (uint32_t i = 0; i < count; i++)
        probabilities[rank_of(a, paths[i].node)] = (double)paths[i].probability;
    bool first_enough = (double)paths[0].probability >= wanted;
    uint32_t centre = first_enough ? rank_of(a, paths[0].node) : median(probabilities, a->count);
    struct range range = {centre, centre, 0, 0, probabilities[centre]};
    bool more = true;
    out->whole = range.probability >= wanted;
    while (range.probability < wanted && (more = widen(a, probabilities, &range)))
        continue;
    if (!more) /* too few have anything in common but the root, which all paths share */
        range = (struct range){.last = a->count - 1, .probability = 1};
    out->node = a->at[centre].node;
    out->depth = range.depth;
    out->fork = range.fork;
    out->paths = out->whole ? 1 : count_meant(probabilities, &range);
    out->probability = range.probability;
    out->step_count = 0;
    for (double before = range.probability; more && widen(a, probabilities, &range);
         before = range.probability) {
        if (range.probability > before)
            out->steps[out->step_count++] = (struct agreed_step){range.fork, range.depth, range.probability};
    }
}

/* agreement.c - see agreement.h. */
#include "profile/agreement.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

enum {
    MEANT_PERCENT = 99, /* share of a beginning's probability that the counted paths make up */
    POWERS = PATHMAP_CALLS + 1
};

struct entry {
    uint32_t node; /* by rank: ranks are in the order of the paths' functions */
    /* by rank: how many outermost functions it shares with the previous one; 0 for the first */
    uint32_t in_common;
    uint32_t depth; /* by rank: number of functions */
    /* by rank: how many of them, from the outermost on, were seen and not only inferred */
    uint32_t seen;
    uint32_t calls;   /* by rank: number of distinct calls among the others */
    uint32_t by_node; /* ranks, sorted by node */
};

struct agreement {
    uint32_t count;
    struct entry at[];
};

struct reading {
    uint32_t node;
    uint32_t *functions; /* scratch: from the root inwards */
    uint32_t depth;
    uint32_t unseen, calls;
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
    return order_of(x->depth, y->depth) ?: order_of(x->node, y->node);
}

static int compare_ranks(const void *a, const void *b, void *entries)
{
    const struct entry *at = entries;
    uint32_t x = at[*(const uint32_t *)a].node, y = at[*(const uint32_t *)b].node;
    return order_of(x, y);
}

static int read_path(const struct pathmap *map, uint32_t node, struct reading *out, struct fathom_error *err)
{
    size_t capacity = 0;
    int depth = pathmap_read_path(map, node, &out->functions, &capacity, err);
    if (depth < 0)
        return depth;
    out->node = node;
    out->depth = (uint32_t)depth;
    out->unseen = pathmap_unseen(map, node, &out->calls);
    return 0;
}

static void put_in_order(struct agreement *a, struct reading *readings)
{
    uint32_t ranks[CANDIDATES_MAX];
    qsort(readings, a->count, sizeof *readings, compare_readings);
    for (uint32_t i = 0; i < a->count; i++) {
        a->at[i].node = readings[i].node;
        a->at[i].depth = readings[i].depth;
        a->at[i].seen = readings[i].depth - readings[i].unseen;
        a->at[i].calls = readings[i].calls;
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

/* One sample's probabilities, by rank. */
struct chances {
    double whole[CANDIDATES_MAX];  /* of each path */
    double before[CANDIDATES_MAX]; /* the same before it was reduced for calls that were never seen */
    double rate;                   /* factor for each such call */
    double seen;                   /* factor for all frames that were seen */
    double powers[POWERS];         /* powers of `rate` */
    double seen_powers[POWERS];    /* powers of `seen` */
};

static void read_chances(const struct agreement *a, const struct resolved *sample, struct chances *out)
{
    *out = (struct chances){.rate = sample->rate < 1 ? sample->rate : 1,
                            .seen = sample->seen < 1 ? sample->seen : 1};
    double factor = sample->factor, power = 1, seen = 1;
    for (uint32_t k = 0; k < POWERS; k++, power *= out->rate, seen *= out->seen) {
        out->powers[k] = power;
        out->seen_powers[k] = seen;
    }
    for (uint32_t i = 0; i < sample->posterior_count; i++) {
        uint32_t rank = rank_of(a, sample->posterior[i].node);
        out->whole[rank] = (double)sample->posterior[i].probability;
        out->before[rank] = factor > 0 ? out->whole[rank] / factor : 0;
    }
}

/* A rate to the k-th power, with k limited as in calibration.h. */
static double rate_power(const double *powers, uint32_t k)
{
    return powers[k < POWERS ? k : POWERS - 1];
}

/* The probability that the seen frames of the path are right to a depth; if any are wrong, all further in are. */
static double chance_seen(const struct entry *path, const struct chances *chances, uint32_t depth)
{
    uint32_t outside = path->seen > depth ? path->seen - depth - 1 : 0;
    return 1 - (1 - chances->seen) * rate_power(chances->seen_powers, outside);
}

/* The probability that the sample's path begins like this one to a depth. */
static double beginning_chance(const struct agreement *a, const struct chances *chances, uint32_t rank,
                               uint32_t depth)
{
    const struct entry *path = &a->at[rank];
    double before = chances->before[rank] * chance_seen(path, chances, depth);
    if (path->seen == path->depth)
        return before;
    if (depth < path->seen)
        return before * (1 - (1 - chances->rate) * rate_power(chances->powers, path->seen - depth));
    uint32_t calls = depth < path->depth ? depth - path->seen + 1 : path->calls;
    return before * rate_power(chances->powers, calls < path->calls ? calls : path->calls);
}

/* Paths `first` to `last` by rank; they share the outermost `depth` functions. */
struct range {
    uint32_t first, last, fork, depth;
    double probability;
};

/* The paths that begin like the centre to a depth. */
static struct range range_at(const struct agreement *a, const struct chances *chances, uint32_t centre,
                             uint32_t depth)
{
    struct range range = {centre, centre, 0, depth, beginning_chance(a, chances, centre, depth)};
    while (range.first > 0 && a->at[range.first].in_common >= depth)
        range.probability += beginning_chance(a, chances, --range.first, depth);
    while (range.last + 1 < a->count && a->at[range.last + 1].in_common >= depth)
        range.probability += beginning_chance(a, chances, ++range.last, depth);
    /* A shared beginning has one number, whatever path it is reached from. */
    range.fork = a->count + range.first;
    for (uint32_t i = range.first + 1; i <= range.last && range.fork >= a->count; i++)
        range.fork = a->at[i].in_common == depth ? i : range.fork;
    return range;
}

static int deepest_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return order_of(y, x);
}

/* Collects the depths to evaluate, descending: where other paths diverge from the centre, and 0, 1, 2, 4... frames to both
 * sides of its first call that was never seen, or if there is none, outside of its last call. Returns their number. */
static uint32_t find_depths(const struct agreement *a, const struct chances *chances, uint32_t centre,
                            uint32_t *depths)
{
    uint32_t count = 0, kept = 0, common = UINT32_MAX;
    for (uint32_t i = centre; i > 0; i--)
        depths[count++] = common = a->at[i].in_common < common ? a->at[i].in_common : common;
    common = UINT32_MAX;
    for (uint32_t i = centre + 1; i < a->count; i++)
        depths[count++] = common = a->at[i].in_common < common ? a->at[i].in_common : common;
    const struct entry *own = &a->at[centre];
    uint32_t unseen = chances->rate < 1 ? own->depth - own->seen : 0;
    for (uint32_t calls = 0; calls < unseen && count < AGREED_STEPS - 20; calls += calls ? calls : 1)
        depths[count++] = own->seen + calls;
    bool doubted = unseen || chances->seen < 1;
    for (uint32_t frames = 1; doubted && frames < own->seen && count < AGREED_STEPS; frames += frames)
        depths[count++] = own->seen - frames;
    qsort(depths, count, sizeof *depths, deepest_first);
    for (uint32_t i = 0; i < count && depths[i] > 0; i++)
        if (kept == 0 || depths[kept - 1] != depths[i])
            depths[kept++] = depths[i];
    return kept;
}

/* The path contained in every range that has more than half of the probability. */
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

void agreement_find(const struct agreement *a, const struct resolved *sample, double wanted,
                    struct agreed *out)
{
    struct chances chances;
    uint32_t depths[AGREED_STEPS], best = rank_of(a, sample->posterior[0].node), next = 0;
    read_chances(a, sample, &chances);
    out->whole = chances.whole[best] >= wanted;
    uint32_t centre = out->whole ? best : median(chances.before, a->count);
    uint32_t count = find_depths(a, &chances, centre, depths);
    struct range range = {centre, centre, 0, 0, chances.whole[centre]};
    while (range.probability < wanted && next < count)
        range = range_at(a, &chances, centre, depths[next++]);
    if (range.probability < wanted) /* nothing but the root, which all paths share, is probable enough */
        range = (struct range){.last = a->count - 1, .probability = 1};
    out->node = a->at[centre].node;
    out->depth = range.depth;
    out->fork = range.fork;
    out->paths = out->whole ? 1 : count_meant(chances.before, &range);
    out->probability = range.probability;
    out->step_count = 0;
    for (double before = range.probability; next < count && range.probability < 1;
         before = range.probability) {
        range = range_at(a, &chances, centre, depths[next++]);
        if (range.probability > before)
            out->steps[out->step_count++] = (struct agreed_step){range.fork, range.depth, range.probability};
    }
}

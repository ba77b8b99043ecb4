/*
 * map_votes.c - see map_votes.h.
 *
 * A sample at CFA c in a function that the map knows at heights h1, h2, ... has its stack's base at c + h1, or c + h2, ...:
 * each gets a vote. Samples of other functions and heights agree only on the correct one. Once a base leads clearly, further
 * samples are only compared with it.
 */
#include "infer/bases/map_votes.h"

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

#define HEIGHTS_MAX 4096 /* per function */
#define ROUND       1024 /* samples of a thread between checks for a leader */
#define NO_LEADER   SIZE_MAX
#define LEAST_NEW   16 /* a function may be seen at this many further heights at least */
#define LEAD_BITS   10 /* the winner must be 2^10 times as likely as the next */
/* and lead by a quarter of its score: heights in a recursion are not independent evidence */
#define LEAD_PART 4

/* A height at which a function can be, and the weight of a vote for it: at least 1. */
struct level {
    uint32_t height;
    double weight;
};

struct levels {
    uint32_t count;
    struct level levels[];
};

struct candidate {
    uint64_t base, low; /* low: lowest SP of the samples that voted for it */
    uint64_t votes;
    double product; /* product of its votes' weights: in [0.5, 1), times 2^exponent */
    int64_t exponent;
};

struct ballot {
    uint64_t samples;    /* number of samples that voted */
    size_t leader;       /* index of the candidate that the samples of a round agreed on, or NO_LEADER */
    struct table *index; /* base -> index in candidates */
    struct candidate *candidates;
    size_t count, capacity; /* candidates in use and allocated */
};

struct map_votes {
    struct resolver *resolver; /* borrowed */
    struct table *levels;      /* map function -> struct levels * */
    struct table *ballots;     /* pid << 32 | tid -> struct ballot * */
};

struct map_votes *map_votes_new(struct resolver *resolver)
{
    struct map_votes *b =
        allocate(struct map_votes, .resolver = resolver, .levels = table_new(), .ballots = table_new());
    return whole_or_free(b, b->levels && b->ballots, map_votes_free);
}

static void ballot_free(struct ballot *ballot)
{
    table_free(ballot->index);
    free(ballot->candidates);
    free(ballot);
}

void map_votes_free(struct map_votes *b)
{
    if (!b)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (b->levels && table_next(b->levels, &cursor, &key, &value))
        free((struct levels *)(uintptr_t)value);
    cursor = 0;
    while (b->ballots && table_next(b->ballots, &cursor, &key, &value))
        ballot_free((struct ballot *)(uintptr_t)value);
    table_free(b->levels);
    table_free(b->ballots);
    free(b);
}

static int level_compare(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    return order_of(y->weight, x->weight) ?: order_of(x->height, y->height);
}

/* The function's distinct heights, the most probable first. A height counts its training samples plus a share of one more by
 * its walks, as in resolver.h; if training took no samples, only the walks count. NULL: out of memory. */
static struct levels *levels_new(const struct pathmap *map, uint32_t function)
{
    uint32_t first, nodes = pathmap_function_nodes(map, function, &first);
    struct levels *all = malloc(sizeof *all + nodes * sizeof all->levels[0]);
    if (!all)
        return NULL;
    double self = 0, passes = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node node = pathmap_node(map, first + i);
        self += (double)node.self;
        passes += (double)node.passes;
    }
    all->count = 0;
    for (uint32_t i = 0; i < nodes; i++) { /* in order of height */
        struct pathmap_node node = pathmap_node(map, first + i);
        double seen = self > 0 ? (double)node.self : (double)node.passes;
        double prior = passes > 0 ? (double)node.passes / passes : 1.0 / nodes;
        struct level *last = &all->levels[all->count ? all->count - 1 : 0];
        if (all->count && last->height == node.height)
            last->weight += seen + prior;
        else
            all->levels[all->count++] = (struct level){node.height, seen + prior};
    }
    double unseen = all->count > LEAST_NEW ? all->count : LEAST_NEW;
    for (uint32_t i = 0; i < all->count; i++) {
        all->levels[i].weight *= 2 * unseen;
        if (all->levels[i].weight < 1)
            all->levels[i].weight = 1;
    }
    qsort(all->levels, all->count, sizeof all->levels[0], level_compare);
    if (all->count > HEIGHTS_MAX)
        all->count = HEIGHTS_MAX;
    return all;
}

static const struct levels *map_votes_levels(struct map_votes *b, uint32_t function)
{
    uint64_t *value = table_find(b->levels, function);
    if (value)
        return (const struct levels *)(uintptr_t)*value;
    struct levels *levels = levels_new(resolver_map(b->resolver), function);
    return whole_or_free(levels, table_set(b->levels, function, (uintptr_t)levels), free);
}

static uint64_t ballot_key(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

static struct ballot *map_votes_ballot(struct map_votes *b, uint32_t pid, uint32_t tid)
{
    uint64_t *value = table_find(b->ballots, ballot_key(pid, tid));
    if (value)
        return (struct ballot *)(uintptr_t)*value;
    struct ballot *ballot = allocate(struct ballot, .leader = NO_LEADER, .index = table_new());
    return whole_or_free(
        ballot, ballot->index && table_set(b->ballots, ballot_key(pid, tid), (uintptr_t)ballot), ballot_free);
}

static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return order_of(y->votes, x->votes) ?: order_of(x->base, y->base);
}

/* Drops the half with the fewest votes. A base with the votes of half of the samples stays: a sample has at
 * most HEIGHTS_MAX votes, so there are at most 2 * HEIGHTS_MAX such bases. */
static bool ballot_prune(struct ballot *ballot)
{
    struct table *index = table_new();
    if (!index)
        return false;
    qsort(ballot->candidates, ballot->count, sizeof *ballot->candidates, candidate_compare);
    ballot->count /= 2;
    for (size_t i = 0; i < ballot->count; i++)
        if (!table_set(index, ballot->candidates[i].base, i)) {
            table_free(index);
            return false;
        }
    table_free(ballot->index);
    ballot->index = index;
    return true;
}

_Static_assert(MAP_VOTES_CANDIDATES / 2 > 2 * HEIGHTS_MAX, "pruning keeps every base that can win");

/* The candidate for a base, created if new; NULL: out of memory. */
static struct candidate *ballot_candidate(struct ballot *ballot, uint64_t base)
{
    uint64_t *value = table_find(ballot->index, base);
    if (value)
        return &ballot->candidates[*value];
    if (ballot->count == MAP_VOTES_CANDIDATES && !ballot_prune(ballot))
        return NULL;
    if (!vec_reserve(ballot->candidates, ballot->count, ballot->capacity, 1))
        return NULL;
    if (!table_set(ballot->index, base, ballot->count))
        return NULL;
    ballot->candidates[ballot->count] = (struct candidate){base, UINT64_MAX, 0, 0.5, 1};
    return &ballot->candidates[ballot->count++];
}

static void candidate_vote(struct candidate *candidate, uint64_t sp, double weight)
{
    int exponent;
    candidate->votes++;
    candidate->product = frexp(candidate->product * weight, &exponent);
    candidate->exponent += exponent;
    if (sp < candidate->low)
        candidate->low = sp;
}

/* The candidate with the best score, if it has the votes of half of the samples and leads clearly; else
 * NO_LEADER. */
static size_t ballot_leader(const struct ballot *ballot)
{
    size_t best = NO_LEADER;
    int64_t most = INT64_MIN, second = INT64_MIN;
    for (size_t i = 0; i < ballot->count; i++) {
        int64_t score = ballot->candidates[i].exponent;
        if (score > most) {
            second = most;
            most = score;
            best = i;
        } else if (score > second) {
            second = score;
        }
    }
    if (best == NO_LEADER)
        return NO_LEADER;
    if (second != INT64_MIN && (most - second <= LEAD_BITS || most - second <= most / LEAD_PART))
        return NO_LEADER;
    uint64_t votes = ballot->candidates[best].votes;
    return votes >= MAP_VOTES_QUORUM && votes >= ballot->samples - ballot->samples / 2 ? best : NO_LEADER;
}

int map_votes_vote(struct map_votes *b, const struct sample *sample, const struct leaf_frame *frame,
                   struct fathom_error *err)
{
    const uint64_t cfa = frame->cfa;
    uint32_t function = resolver_frame(b->resolver, frame);
    if (function == PATHMAP_NONE)
        return 0;
    struct ballot *ballot = map_votes_ballot(b, sample->pid, sample->tid);
    const struct levels *levels = map_votes_levels(b, function);
    if (!ballot || !levels)
        return error_memory(err);
    if (levels->count == 0)
        return 0;
    if (ballot->samples++ % ROUND == ROUND - 1)
        ballot->leader = ballot_leader(ballot);
    if (ballot->leader != NO_LEADER) {
        struct candidate *leader = &ballot->candidates[ballot->leader];
        uint32_t first;
        if (leader->base >= cfa && leader->base - cfa <= UINT32_MAX &&
            pathmap_find(resolver_map(b->resolver), function, (uint32_t)(leader->base - cfa), &first))
            candidate_vote(leader, sample->sp, 1);
        return 1;
    }
    for (uint32_t i = 0; i < levels->count; i++) {
        uint64_t base;
        if (__builtin_add_overflow(cfa, levels->levels[i].height, &base) || base % 8)
            continue;
        struct candidate *candidate = ballot_candidate(ballot, base);
        if (!candidate)
            return error_memory(err);
        candidate_vote(candidate, sample->sp, levels->levels[i].weight);
    }
    return 1;
}

bool map_votes_winner(const struct map_votes *b, uint32_t pid, uint32_t tid, uint64_t *low, uint64_t *base)
{
    uint64_t *value = table_find(b->ballots, ballot_key(pid, tid));
    if (!value)
        return false;
    const struct ballot *ballot = (const struct ballot *)(uintptr_t)*value;
    size_t leader = ballot_leader(ballot);
    if (leader == NO_LEADER)
        return false;
    *low = ballot->candidates[leader].low;
    *base = ballot->candidates[leader].base;
    return true;
}

/* shared_votes.c - see shared_votes.h. */
#include "infer/bases/shared_votes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/sort.h"
#include "infer/bases/shared_layout.h"
#include "infer/bases/shared_positions.h"

#define VOTES_MAX         (1u << 22) /* per process */
#define CHECKED_POSITIONS 256u       /* positions of a winner to check against other bases */
#define FEW_POSITIONS     16u        /* of a poll: with more, misses are not chance and take long to check */
#define CHANCE            1e-4 /* less probable than this is no chance: a recording makes some hundred checks */

/* A position's vote for a base. */
struct vote {
    uint64_t base;
    uint32_t position;
};

/* The votes for one base; they are consecutive. */
struct poll {
    size_t first, count;
};

struct shared_votes {
    struct resolver *resolver; /* borrowed */
    struct shared_levels *levels;
    struct position_table positions;
};

struct shared_votes *shared_votes_new(struct resolver *resolver, struct image_cache *images)
{
    struct shared_votes *v = allocate(struct shared_votes, .resolver = resolver,
                                      .levels = shared_levels_new(resolver_map(resolver), images),
                                      .positions = {.index = table_new(), .most = SHARED_POSITIONS});
    return whole_or_free(v, v->levels && v->positions.index, shared_votes_free);
}

void shared_votes_free(struct shared_votes *v)
{
    if (!v)
        return;
    shared_levels_free(v->levels);
    position_table_clear(&v->positions);
    free(v);
}

int shared_votes_add(struct shared_votes *v, const struct sample *sample, const struct leaf_frame *frame,
                     struct fathom_error *err)
{
    const uint64_t cfa = frame->cfa;
    uint32_t function = resolver_frame(v->resolver, frame);
    if (function == PATHMAP_NONE)
        return 0;
    return position_table_note(&v->positions, sample->pid, function, cfa, sample->sp) < 0 ? error_memory(err)
                                                                                          : 0;
}

/* An election among the positions of one process. */
struct election {
    struct positions positions;
    struct vote *cast; /* in order of base */
    size_t cast_count;
    uint64_t *scratch; /* CHECKED_POSITIONS * SHARED_LEVELS */
};

static int compare_votes(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;
    return order_of(x->base, y->base) ?: order_of(x->position, y->position);
}

/* Every remaining position votes for the bases at which its height would be known. */
static int cast_votes(struct election *e)
{
    size_t all = 0;
    for (size_t i = 0; i < e->positions.count; i++) {
        const struct levels *levels =
            shared_levels_of(e->positions.levels, e->positions.positions[i].function);
        if (!levels)
            return -ENOMEM;
        all += e->positions.positions[i].taken ? 0 : levels->count;
    }
    if (all > VOTES_MAX)
        all = VOTES_MAX;
    e->cast = malloc((all + 1) * sizeof *e->cast);
    if (!e->cast)
        return -ENOMEM;
    for (size_t i = 0; i < e->positions.count; i++) {
        const struct position *position = &e->positions.positions[i];
        const struct levels *levels = shared_levels_of(e->positions.levels, position->function);
        for (uint32_t l = 0; !position->taken && l < levels->count && e->cast_count < all; l++)
            e->cast[e->cast_count++] = (struct vote){position->cfa + levels->of[l].height, (uint32_t)i};
    }
    qsort(e->cast, e->cast_count, sizeof *e->cast, compare_votes);
    return 0;
}

static int compare_polls(const void *a, const void *b)
{
    const struct poll *x = a, *y = b;
    return order_of(y->count, x->count) ?: order_of(x->first, y->first);
}

/* The bases with enough votes, by votes, descending. NULL: out of memory. */
static struct poll *make_polls(const struct election *e, size_t *count)
{
    struct poll *polls = malloc((e->cast_count / SHARED_QUORUM + 1) * sizeof *polls);
    *count = 0;
    for (size_t i = 0, end; polls && i < e->cast_count; i = end) {
        for (end = i + 1; end < e->cast_count && e->cast[end].base == e->cast[i].base;)
            end++;
        if (end - i >= SHARED_QUORUM)
            polls[(*count)++] = (struct poll){i, end - i};
    }
    if (polls)
        qsort(polls, *count, sizeof *polls, compare_polls);
    return polls;
}

/* How many of the poll's first CHECKED_POSITIONS positions another base explains: those whose height below it is in the map,
 * and those that training may have missed there by chance. Chance is judged by how often training saw them below the poll's
 * base, compared with the positions known below both. */
static size_t count_explained(const struct election *e, const struct poll *poll, uint64_t rival)
{
    uint64_t base = e->cast[poll->first].base;
    size_t checked = poll->count < CHECKED_POSITIONS ? poll->count : CHECKED_POSITIONS, count = 0;
    double here = 0, there = 0, at_base, at_rival;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < checked; i++) {
            const struct position *position = &e->positions.positions[e->cast[poll->first + i].position];
            const struct levels *levels = shared_levels_of(e->positions.levels, position->function);
            bool possible = rival >= position->cfa,
                 known = levels_find(levels, rival - position->cfa, &at_rival);
            levels_find(levels, base - position->cfa, &at_base);
            if (round == 0 && possible && known) {
                here += at_base;
                there += at_rival;
            }
            /* The probability that, at equal rates, all were seen here. */
            count +=
                possible &&
                (known ? round == 0 : round == 1 && here > 0 && pow(here / (here + there), at_base) > CHANCE);
        }
    }
    return count;
}

/* The most positions that any other base explains. */
static size_t best_rival(const struct election *e, const struct poll *poll)
{
    uint64_t base = e->cast[poll->first].base;
    size_t count = 0, most = 0;
    for (size_t i = 0; i < poll->count && i < CHECKED_POSITIONS; i++) {
        const struct position *position = &e->positions.positions[e->cast[poll->first + i].position];
        const struct levels *levels = shared_levels_of(e->positions.levels, position->function);
        for (uint32_t l = 0; l < levels->count; l++) {
            if (position->cfa + levels->of[l].height != base)
                e->scratch[count++] = position->cfa + levels->of[l].height;
        }
    }
    sort_numbers(e->scratch, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && e->scratch[end] == e->scratch[i];)
            end++;
        size_t positions = poll->count <= FEW_POSITIONS ? count_explained(e, poll, e->scratch[i]) : end - i;
        most = positions > most ? positions : most;
    }
    return most;
}

/* Whether the base wins (see shared_votes.h). *low: the lowest SP of the positions that voted for it. */
static bool is_won(const struct election *e, const struct poll *poll, uint64_t *low)
{
    const struct vote *votes = e->cast + poll->first;
    uint64_t base = votes->base, lowest = UINT64_MAX, agree = 0, all = 0;
    bool several = false;
    for (size_t i = 0; i < poll->count; i++) {
        const struct position *position = &e->positions.positions[votes[i].position];
        if (position->taken)
            return false;
        several = several || position->function != e->positions.positions[votes->position].function;
        agree += position->samples;
        if (position->low < lowest)
            lowest = position->low;
    }
    for (size_t i = positions_above(&e->positions, lowest);
         i < e->positions.count && e->positions.positions[i].cfa <= base; i++) {
        if (e->positions.positions[i].taken)
            return false;
        all += e->positions.positions[i].samples;
    }
    size_t checked = poll->count < CHECKED_POSITIONS ? poll->count : CHECKED_POSITIONS;
    if (!several || agree < all - all / 2)
        return false;
    size_t rival = best_rival(e, poll);
    *low = lowest;
    return rival + 2 <= checked && rival * 4 <= checked * 3;
}

static int settle_process(struct election *e, struct shared_stacks *stacks, uint64_t *won)
{
    struct shared_stack *known;
    uint32_t pid = e->positions.positions[0].owner;
    size_t count = shared_stacks_of(stacks, pid, &known), polls_count;
    for (size_t i = 0; i < count; i++)
        known[i].low = positions_occupy(&e->positions, known[i].low, known[i].base);
    if (cast_votes(e) < 0)
        return -ENOMEM;
    struct poll *polls = make_polls(e, &polls_count);
    if (!polls)
        return -ENOMEM;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < polls_count; i++) {
        uint64_t low, base = e->cast[polls[i].first].base;
        if (!is_won(e, &polls[i], &low))
            continue;
        low = positions_occupy(&e->positions, low, base);
        (*won)++;
        rc = shared_stacks_add(stacks, pid, low, base) ? 0 : -ENOMEM;
    }
    free(polls);
    return rc < 0 ? rc : shared_layout_settle(&e->positions, stacks, won);
}

int shared_votes_settle(struct shared_votes *v, struct shared_stacks *stacks, uint64_t *won)
{
    const struct position_table *t = &v->positions;
    if (t->count == 0)
        return 0;
    uint64_t *scratch = malloc(CHECKED_POSITIONS * SHARED_LEVELS * sizeof *scratch);
    int rc = scratch ? 0 : -ENOMEM;
    position_table_sort(&v->positions);
    for (size_t i = 0, end; rc == 0 && i < t->count; i = end) {
        for (end = i + 1; end < t->count && t->at[end].owner == t->at[i].owner;)
            end++;
        struct election election = {{v->levels, t->at + i, end - i}, NULL, 0, scratch};
        rc = settle_process(&election, stacks, won);
        free(election.cast);
    }
    free(scratch);
    return rc;
}

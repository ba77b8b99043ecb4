/* shared_votes.c - see shared_votes.h. */
#include "infer/shared_votes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "infer/locate.h"

#define NEAR         4096u      /* bytes: what lies this little below a stack is on it */
#define FAR          65536u     /* a sample further down than this is not, even if its height is known */
#define VOTES_MAX    (1u << 22) /* per process */
#define RIVALS_SPOTS 256u       /* of a winner, that are asked for other bases */

/* A function at a place on a stack. */
struct spot {
    uint32_t pid, function; /* of the map */
    uint64_t cfa, low;      /* low: the lowest SP of a sample */
    uint64_t samples;
    bool taken; /* its stack is known */
};

/* Heights at which a function can be on a stack of no thread. */
struct levels {
    uint32_t count;
    uint32_t heights[];
};

/* A spot's word for a base. */
struct vote {
    uint64_t base;
    uint32_t spot;
};

/* Votes for one base: side by side. */
struct poll {
    size_t first, count;
};

struct shared_votes {
    struct resolver *resolver;  /* borrowed */
    struct image_cache *images; /* borrowed */
    struct table *roots;        /* map nodes that begin on a stack of no thread */
    struct table *levels;       /* map function -> struct levels * */
    struct table *index;        /* spot, hashed -> its place */
    struct spot *spots;
    size_t count, room;
};

/* Whether a path that begins so is on a stack of no thread: there the outermost function has height 0, as has
 * the function that clone3 calls, but that returns into clone3. */
static bool is_shared_root(struct shared_votes *v, const struct pathmap_node *node)
{
    struct image *image;
    uint32_t index;
    uint64_t thread_return;
    if (node->parent != PATHMAP_NONE || node->height != 0 || node->function == PATHMAP_NONE)
        return false;
    return !locate_function(v->images, resolver_map(v->resolver), node->function, &image, &index) ||
           !image_thread_return(image, &thread_return) || thread_return != node->site;
}

static bool find_roots(struct shared_votes *v)
{
    const struct pathmap *map = resolver_map(v->resolver);
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        if (is_shared_root(v, &node) && !table_put(v->roots, i, NULL))
            return false;
    }
    return true;
}

struct shared_votes *shared_votes_new(struct resolver *resolver, struct image_cache *images)
{
    struct shared_votes *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->resolver = resolver;
    v->images = images;
    v->roots = table_new();
    v->levels = table_new();
    v->index = table_new();
    if (!v->roots || !v->levels || !v->index || !find_roots(v)) {
        shared_votes_free(v);
        v = NULL;
    }
    return v;
}

void shared_votes_free(struct shared_votes *v)
{
    if (!v)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (v->levels && table_next(v->levels, &cursor, &key, &value))
        free((struct levels *)(uintptr_t)value);
    table_free(v->roots);
    table_free(v->levels);
    table_free(v->index);
    free(v->spots);
    free(v);
}

int shared_votes_add(struct shared_votes *v, const struct process *process, const struct sample *sample,
                     struct fathom_error *err)
{
    struct place place;
    uint64_t cfa;
    enum unknown_reason reason;
    if (!cid_cfa(process, sample, &place, &cfa, &reason))
        return 0;
    uint32_t function = resolver_function(v->resolver, place.image, place.function);
    if (function == PATHMAP_NONE)
        return 0;
    bool added;
    uint64_t words[] = {(uint64_t)sample->pid << 32 | function, cfa};
    uint64_t key = checksum_of(words, sizeof words);
    uint64_t *known = table_find(v->index, key);
    if (known) {
        struct spot *spot = &v->spots[*known];
        spot->samples++;
        if (sample->sp < spot->low)
            spot->low = sample->sp;
        return 0;
    }
    if (v->count == SHARED_SPOTS)
        return 0;
    if (v->count == v->room) {
        size_t room = v->room ? v->room * 2 : 256;
        struct spot *spots = realloc(v->spots, room * sizeof *spots);
        if (!spots)
            return error_memory(err);
        v->spots = spots;
        v->room = room;
    }
    uint64_t *place_of = table_put(v->index, key, &added);
    if (!place_of)
        return error_memory(err);
    *place_of = v->count;
    v->spots[v->count++] = (struct spot){sample->pid, function, cfa, sample->sp, 1, false};
    return 0;
}

struct level {
    uint32_t height;
    uint64_t passes;
};

static int compare_levels(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->passes != y->passes)
        return x->passes > y->passes ? -1 : 1;
    return x->height < y->height ? -1 : x->height > y->height;
}

static bool begins_shared(const struct shared_votes *v, uint32_t node)
{
    const struct pathmap *map = resolver_map(v->resolver);
    for (;;) {
        uint32_t parent = pathmap_node(map, node).parent;
        if (parent == PATHMAP_NONE)
            return table_find(v->roots, node) != NULL;
        node = parent;
    }
}

/* NULL: out of memory. */
static struct levels *levels_new(const struct shared_votes *v, uint32_t function)
{
    const struct pathmap *map = resolver_map(v->resolver);
    uint32_t first, nodes = pathmap_function_nodes(map, function, &first), count = 0;
    struct level *all = malloc((nodes + 1) * sizeof *all);
    if (!all)
        return NULL;
    for (uint32_t i = first; i < first + nodes; i++) { /* in order of height */
        if (!begins_shared(v, i))
            continue;
        struct pathmap_node node = pathmap_node(map, i);
        if (!count || all[count - 1].height != node.height)
            all[count++] = (struct level){node.height, 0};
        all[count - 1].passes += node.passes + 1;
    }
    qsort(all, count, sizeof *all, compare_levels);
    if (count > SHARED_LEVELS)
        count = SHARED_LEVELS;
    struct levels *levels = malloc(sizeof *levels + count * sizeof levels->heights[0]);
    if (levels) {
        levels->count = count;
        for (uint32_t i = 0; i < count; i++)
            levels->heights[i] = all[i].height;
    }
    free(all);
    return levels;
}

static const struct levels *levels_of(struct shared_votes *v, uint32_t function)
{
    uint64_t *place = table_put(v->levels, function, NULL);
    if (place && !*place)
        *place = (uintptr_t)levels_new(v, function);
    return place ? (const struct levels *)(uintptr_t)*place : NULL;
}

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->cfa != y->cfa)
        return x->cfa < y->cfa ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* The spots of one process, in order of their CFAs. */
struct ground {
    struct shared_votes *votes;
    struct spot *spots;
    size_t count;
    struct vote *cast; /* in order of base */
    size_t cast_count;
    uint64_t *scratch; /* RIVALS_SPOTS * SHARED_LEVELS */
};

/* The first spot whose CFA is above the address. */
static size_t spot_above(const struct ground *g, uint64_t address)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->spots[middle].cfa > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether the map knows the spot's height below this base. */
static bool fits(const struct ground *g, const struct spot *spot, uint64_t base)
{
    const struct levels *levels = levels_of(g->votes, spot->function);
    for (uint32_t i = 0; levels && i < levels->count; i++) {
        if (spot->cfa + levels->heights[i] == base)
            return true;
    }
    return false;
}

static void take(struct spot *spot, uint64_t *low)
{
    spot->taken = true;
    if (spot->low < *low)
        *low = spot->low;
}

/* Takes the spots that are on a stack; returns how far down it reaches. */
static uint64_t occupy(struct ground *g, uint64_t low, uint64_t base)
{
    size_t end = spot_above(g, base), i = end;
    while (i > 0 && g->spots[i - 1].cfa > low)
        take(&g->spots[--i], &low);
    while (i > 0) {
        struct spot *spot = &g->spots[--i];
        uint64_t below = spot->cfa < low ? low - spot->cfa : 0;
        if (spot->taken || below > FAR)
            break;
        if (below <= NEAR || fits(g, spot, base))
            take(spot, &low);
    }
    return low;
}

static int compare_votes(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->spot < y->spot ? -1 : x->spot > y->spot;
}

/* Every spot that is left names the bases at which its height would be known. */
static int cast_votes(struct ground *g)
{
    size_t all = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct levels *levels = levels_of(g->votes, g->spots[i].function);
        if (!levels)
            return -ENOMEM;
        all += g->spots[i].taken ? 0 : levels->count;
    }
    if (all > VOTES_MAX)
        all = VOTES_MAX;
    g->cast = malloc((all + 1) * sizeof *g->cast);
    if (!g->cast)
        return -ENOMEM;
    for (size_t i = 0; i < g->count; i++) {
        const struct spot *spot = &g->spots[i];
        const struct levels *levels = levels_of(g->votes, spot->function);
        for (uint32_t l = 0; !spot->taken && l < levels->count && g->cast_count < all; l++)
            g->cast[g->cast_count++] = (struct vote){spot->cfa + levels->heights[l], (uint32_t)i};
    }
    qsort(g->cast, g->cast_count, sizeof *g->cast, compare_votes);
    return 0;
}

static int compare_polls(const void *a, const void *b)
{
    const struct poll *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The bases that enough spots name, those with the most first. NULL: out of memory. */
static struct poll *make_polls(const struct ground *g, size_t *count)
{
    struct poll *polls = malloc((g->cast_count / SHARED_QUORUM + 1) * sizeof *polls);
    *count = 0;
    for (size_t i = 0, end; polls && i < g->cast_count; i = end) {
        for (end = i + 1; end < g->cast_count && g->cast[end].base == g->cast[i].base;)
            end++;
        if (end - i >= SHARED_QUORUM)
            polls[(*count)++] = (struct poll){i, end - i};
    }
    if (polls)
        qsort(polls, *count, sizeof *polls, compare_polls);
    return polls;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* How many of the poll's spots, of the first RIVALS_SPOTS, the best other base explains. */
static size_t best_rival(const struct ground *g, const struct poll *poll)
{
    uint64_t base = g->cast[poll->first].base;
    size_t count = 0, most = 0;
    for (size_t i = 0; i < poll->count && i < RIVALS_SPOTS; i++) {
        const struct spot *spot = &g->spots[g->cast[poll->first + i].spot];
        const struct levels *levels = levels_of(g->votes, spot->function);
        for (uint32_t l = 0; l < levels->count; l++) {
            if (spot->cfa + levels->heights[l] != base)
                g->scratch[count++] = spot->cfa + levels->heights[l];
        }
    }
    qsort(g->scratch, count, sizeof *g->scratch, compare_words);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && g->scratch[end] == g->scratch[i];)
            end++;
        if (end - i > most)
            most = end - i;
    }
    return most;
}

/* Whether the base wins: see shared_votes.h. *low: the lowest SP of those that voted for it. */
static bool is_won(const struct ground *g, const struct poll *poll, uint64_t *low)
{
    const struct vote *votes = g->cast + poll->first;
    uint64_t base = votes->base, lowest = UINT64_MAX, agree = 0, all = 0;
    bool several = false;
    for (size_t i = 0; i < poll->count; i++) {
        const struct spot *spot = &g->spots[votes[i].spot];
        if (spot->taken)
            return false;
        several = several || spot->function != g->spots[votes->spot].function;
        agree += spot->samples;
        if (spot->low < lowest)
            lowest = spot->low;
    }
    for (size_t i = spot_above(g, lowest); i < g->count && g->spots[i].cfa <= base; i++) {
        if (g->spots[i].taken)
            return false;
        all += g->spots[i].samples;
    }
    size_t asked = poll->count < RIVALS_SPOTS ? poll->count : RIVALS_SPOTS;
    if (!several || agree < all - all / 2)
        return false;
    size_t rival = best_rival(g, poll);
    *low = lowest;
    return rival + 2 <= asked && rival * 4 <= asked * 3;
}

static int settle_process(struct ground *g, struct shared_stacks *stacks, uint64_t *won)
{
    struct shared_stack *known;
    uint32_t pid = g->spots[0].pid;
    size_t count = shared_stacks_of(stacks, pid, &known), polls_count;
    for (size_t i = 0; i < count; i++)
        known[i].low = occupy(g, known[i].low, known[i].base);
    if (cast_votes(g) < 0)
        return -ENOMEM;
    struct poll *polls = make_polls(g, &polls_count);
    if (!polls)
        return -ENOMEM;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < polls_count; i++) {
        uint64_t low, base = g->cast[polls[i].first].base;
        if (!is_won(g, &polls[i], &low))
            continue;
        low = occupy(g, low, base);
        (*won)++;
        rc = shared_stacks_add(stacks, pid, low, base) ? 0 : -ENOMEM;
    }
    free(polls);
    return rc;
}

int shared_votes_settle(struct shared_votes *v, struct shared_stacks *stacks, uint64_t *won)
{
    if (v->count == 0)
        return 0;
    uint64_t *scratch = malloc(RIVALS_SPOTS * SHARED_LEVELS * sizeof *scratch);
    int rc = scratch ? 0 : -ENOMEM;
    qsort(v->spots, v->count, sizeof *v->spots, compare_spots);
    for (size_t i = 0, end; rc == 0 && i < v->count; i = end) {
        for (end = i + 1; end < v->count && v->spots[end].pid == v->spots[i].pid;)
            end++;
        struct ground ground = {v, v->spots + i, end - i, NULL, 0, scratch};
        rc = settle_process(&ground, stacks, won);
        free(ground.cast);
    }
    free(scratch);
    return rc;
}

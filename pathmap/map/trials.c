/* trials.c - see trials.h. */
#include "pathmap/map/trials.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "pathmap/map/order.h"
#include "pathmap/map/pathmap.h"

_Static_assert(TRIAL_SLICES <= 8, "a byte has a bit for each part");
_Static_assert(TRIAL_SLICES >= 2, "there are no more parts");

/* The samples of the parts, by the trie's nodes. */
struct samples {
    const struct trie *trie;
    unsigned parts;
    uint64_t *self;  /* [node * parts + part]: samples that ended there */
    uint64_t *walks; /* the same: samples that ended there or further in */
    uint8_t *apart;  /* by node: bits of the parts that have it in files no other part has; NULL: none */
};

static bool samples_init(struct samples *s, const struct trie *trie, unsigned parts)
{
    *s = (struct samples){.trie = trie, .parts = parts};
    s->self = calloc(trie->node_count, parts * sizeof *s->self);
    s->walks = calloc(trie->node_count, parts * sizeof *s->walks);
    return s->self && s->walks;
}

static void samples_clear(struct samples *s)
{
    free(s->self);
    free(s->walks);
    free(s->apart);
}

/* Sums up from callees to callers, which have smaller numbers. */
static void count_walks(struct samples *s)
{
    for (uint32_t i = s->trie->node_count; i-- > 0;) {
        uint32_t parent = s->trie->nodes[i].parent;
        for (unsigned k = 0; k < s->parts; k++) {
            uint64_t *walks = &s->walks[(size_t)i * s->parts + k];
            *walks = add_saturating(*walks, s->self[(size_t)i * s->parts + k]);
            if (i != TRIE_ROOT) {
                uint64_t *above = &s->walks[(size_t)parent * s->parts + k];
                *above = add_saturating(*above, *walks);
            }
        }
    }
}

static uint64_t of_others(const uint64_t *by_part, unsigned parts, unsigned part)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < parts; k++)
        sum = k == part ? sum : add_saturating(sum, by_part[k]);
    return sum;
}

static uint32_t image_of(const struct trie *trie, uint32_t node)
{
    return trie->functions[trie->nodes[node].function].image;
}

static bool find_apart(struct samples *s)
{
    const struct trie *trie = s->trie;
    uint64_t *walks = calloc(trie->image_count + 1ul, s->parts * sizeof *walks);
    s->apart = calloc(trie->node_count, sizeof *s->apart);
    for (uint32_t i = TRIE_ROOT + 1; walks && i < trie->node_count; i++)
        for (unsigned k = 0; k < s->parts; k++) {
            uint64_t *all = &walks[(size_t)image_of(trie, i) * s->parts + k];
            *all = add_saturating(*all, s->walks[(size_t)i * s->parts + k]);
        }
    for (uint32_t i = TRIE_ROOT + 1; walks && s->apart && i < trie->node_count; i++) {
        const uint64_t *all = &walks[(size_t)image_of(trie, i) * s->parts];
        s->apart[i] = s->apart[trie->nodes[i].parent];
        for (unsigned k = 0; k < s->parts; k++)
            s->apart[i] |= (uint8_t)((of_others(all, s->parts, k) == 0) << k);
    }
    bool fine = walks && s->apart;
    free(walks);
    return fine;
}

/* Nodes of one function path, or of one CID: nodes[first] to nodes[last - 1]. */
struct group {
    const uint32_t *nodes;
    uint32_t first, last;
};

/* How many samples of all parts but one end in a group, and how many pass through it. */
struct support {
    uint64_t self, walks;
};

static struct support support_of(const struct samples *s, struct group g, unsigned part)
{
    struct support sum = {0, 0};
    for (uint32_t i = g.first; i < g.last; i++) {
        size_t at = (size_t)g.nodes[i] * s->parts;
        sum.self = add_saturating(sum.self, of_others(&s->self[at], s->parts, part));
        sum.walks = add_saturating(sum.walks, of_others(&s->walks[at], s->parts, part));
    }
    return sum;
}

static bool is_more(struct support a, struct support b)
{
    return a.self != b.self ? a.self > b.self : a.walks > b.walks;
}

static struct group next_path(const struct order *order, struct group cid, uint32_t from)
{
    struct group path = {cid.nodes, from, from + 1};
    while (path.last < cid.last && order->path[cid.nodes[path.last]] == order->path[cid.nodes[from]])
        path.last++;
    return path;
}

/* What the other parts know about a CID. */
struct known {
    struct support best, second, all; /* of one path; of all paths */
};

static struct known known_of(const struct samples *s, const struct order *order, struct group cid,
                             unsigned part)
{
    struct known k = {{0, 0}, {0, 0}, {0, 0}};
    for (struct group path = {cid.nodes, 0, cid.first}; path.last < cid.last;) {
        path = next_path(order, cid, path.last);
        struct support support = support_of(s, path, part);
        k.second = is_more(support, k.best) ? k.best : is_more(support, k.second) ? support : k.second;
        k.best = is_more(support, k.best) ? support : k.best;
        k.all.self = add_saturating(k.all.self, support.self);
        k.all.walks = add_saturating(k.all.walks, support.walks);
    }
    return k;
}

/* Predicts a part's samples in a CID. *expected grows by the sum of their probabilities. */
static void try_part(const struct samples *s, const struct order *order, struct group cid, unsigned part,
                     struct trial *out, double *expected)
{
    struct known k = known_of(s, order, cid, part);
    double probability = k.best.walks ? ((double)k.best.self + (double)k.best.walks / (double)k.all.walks) /
                                            ((double)k.all.self + 1)
                                      : 0;
    for (struct group path = {cid.nodes, 0, cid.first}; path.last < cid.last;) {
        path = next_path(order, cid, path.last);
        struct support support = support_of(s, path, part);
        uint64_t own = 0;
        for (uint32_t i = path.first; i < path.last; i++)
            if (!s->apart || !(s->apart[path.nodes[i]] >> part & 1))
                own = add_saturating(own, s->self[(size_t)path.nodes[i] * s->parts + part]);
        bool right = is_more(support, k.second) && !is_more(k.best, support);
        *expected += probability * (double)own;
        out->samples = add_saturating(out->samples, own);
        out->known = add_saturating(out->known, k.best.walks ? own : 0);
        out->right = add_saturating(out->right, right ? own : 0);
        out->wrong = add_saturating(out->wrong, k.best.walks && !support.walks ? own : 0);
    }
}

/* out: one per part. Walks must have been counted. false: out of memory. */
static bool try_all(struct samples *s, struct trial *out)
{
    const struct trie *trie = s->trie;
    struct order order;
    double expected[TRIAL_SLICES] = {0};
    uint32_t *nodes = malloc(trie->node_count * sizeof *nodes);
    bool fine = order_make(&order, trie, NULL) && nodes;
    for (uint32_t i = TRIE_ROOT + 1; fine && i < trie->node_count; i++)
        nodes[order.node_number[i]] = i;
    for (uint32_t first = 0, last; fine && first < order.nodes; first = last) {
        const struct trie_node *node = &trie->nodes[nodes[first]];
        for (last = first + 1; last < order.nodes; last++)
            if (trie->nodes[nodes[last]].function != node->function ||
                trie->nodes[nodes[last]].height != node->height)
                break;
        for (unsigned part = 0; part < s->parts; part++)
            try_part(s, &order, (struct group){nodes, first, last}, part, &out[part], &expected[part]);
    }
    for (unsigned part = 0; part < s->parts; part++)
        out[part].said =
            expected[part] < (double)out[part].known ? (uint64_t)(expected[part] + 0.5) : out[part].known;
    order_clear(&order);
    free(nodes);
    return fine;
}

void trials_add(struct trie *trie, struct trial trial)
{
    struct trials *trials = &trie->trials;
    if (trials->count < TRIALS_MAX && trial.samples)
        trials->at[trials->count++] = trial;
}

int trials_slice(const uint32_t *leaves, size_t count, struct trie *trie, struct fathom_error *err)
{
    struct trial slices[TRIAL_SLICES];
    struct samples s;
    size_t unwound = 0, seen = 0;
    for (size_t i = 0; i < count; i++)
        unwound += leaves[i] != TRIE_NONE;
    if (unwound < TRIAL_SLICES)
        return 0;
    bool fine = samples_init(&s, trie, TRIAL_SLICES);
    for (size_t i = 0; fine && i < count; i++)
        if (leaves[i] != TRIE_NONE)
            s.self[(size_t)leaves[i] * TRIAL_SLICES + seen++ * TRIAL_SLICES / unwound]++;
    for (unsigned k = 0; k < TRIAL_SLICES; k++)
        slices[k] = (struct trial){.part = TRIAL_SLICE};
    if (fine)
        count_walks(&s);
    fine = fine && try_all(&s, slices);
    for (unsigned k = 0; fine && k < TRIAL_SLICES; k++)
        trials_add(trie, slices[k]);
    samples_clear(&s);
    return fine ? 0 : error_memory(err);
}

static bool has_inputs(const struct trial *trials, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= trials[i].part == TRIAL_INPUT;
    return any;
}

static void drop_slices(struct trials *trials)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < trials->count; i++)
        if (trials->at[i].part == TRIAL_INPUT)
            trials->at[kept++] = trials->at[i];
    trials->count = kept;
}

enum { OLD, ADDED, SIDES };

/* before: samples of the trie's first `count` nodes. */
static bool try_sides(const struct trie *trie, const uint64_t *before, uint32_t count, struct trial *out)
{
    struct samples s;
    bool fine = samples_init(&s, trie, SIDES);
    for (uint32_t i = 0; fine && i < trie->node_count; i++) {
        s.self[(size_t)i * SIDES + OLD] = i < count ? before[i] : 0;
        s.self[(size_t)i * SIDES + ADDED] = trie->nodes[i].self - s.self[(size_t)i * SIDES + OLD];
    }
    if (fine)
        count_walks(&s);
    fine = fine && find_apart(&s) && try_all(&s, out);
    samples_clear(&s);
    return fine;
}

int trials_merge(struct trie *trie, const struct pathmap *map, struct fathom_error *err)
{
    uint32_t count = trie->node_count;
    const struct trial *added;
    uint32_t added_count = pathmap_trials(map, &added);
    const bool several[SIDES] = {has_inputs(trie->trials.at, trie->trials.count),
                                 has_inputs(added, added_count)};
    struct trial sides[SIDES] = {{.part = TRIAL_INPUT}, {.part = TRIAL_INPUT}};
    uint64_t *before = malloc(count * sizeof *before);
    if (!before)
        return error_memory(err);
    for (uint32_t i = 0; i < count; i++)
        before[i] = trie->nodes[i].self;
    int rc = trie_merge(trie, map, err);
    if (rc == 0 && !try_sides(trie, before, count, sides))
        rc = error_memory(err);
    if (rc == 0 && (sides[OLD].samples || sides[ADDED].samples)) {
        drop_slices(&trie->trials);
        for (int side = 0; side < SIDES; side++)
            if (!several[side])
                trials_add(trie, sides[side]);
    }
    free(before);
    return rc;
}

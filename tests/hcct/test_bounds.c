/*
 * test_bounds.c - the promises of hcct.h on random skewed, weighted streams, against the exact tree of the
 * same stream (HCCT paper, section 3.1 and Definition 1).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "hcct/hcct_data.h"
#include "tests/sanitized.h"

/* How long a stream is. What is promised does not depend on it, and memory is used alike in all of it. */
#define LENGTH(n) ((n) / (ADDRESS_SANITIZED ? 4 : 1))

static struct hcct *counter_new(enum hcct_kind kind, double eps)
{
    struct hcct_options options = {
        .kind = kind, .eps = eps, .phi = eps * 1.001, .delta = 1e-6, .metrics = 1, .seed = 3};
    return hcct_new(&options);
}

static struct hcct *lss_new(double eps, uint32_t metrics)
{
    return hcct_new(&(struct hcct_options){.kind = HCCT_LSS, .eps = eps, .metrics = metrics});
}

enum { MAX_DEPTH = 12, DISTINCT = 20000 };

static uint64_t random_next(uint64_t *state) /* splitmix64 (public domain) */
{
    return hash_u64(*state += 0x9e3779b97f4a7c15ULL);
}

/* The number of one of DISTINCT paths, the low ones far more often; `skew` 1 is uniform. */
static uint64_t number_draw(uint64_t *state, double skew)
{
    double u = (double)(random_next(state) >> 11) * 0x1p-53;
    return (uint64_t)(DISTINCT * pow(u, skew));
}

/* The frames of a path; their number. Paths share their outer frames. */
static size_t path_items(uint64_t path, uint32_t *items)
{
    size_t depth = 1 + path % MAX_DEPTH;
    for (size_t i = 0; i < depth; i++)
        items[i] = (uint32_t)(hash_u64(path >> (depth - 1 - i)) % (i ? 40 : 4));
    return depth;
}

static size_t path_draw(uint64_t *state, double skew, uint32_t *items)
{
    return path_items(number_draw(state, skew), items);
}

static uint64_t weight_draw(uint64_t *state)
{
    uint64_t r = random_next(state);
    return r % 100 == 0 ? 1 + (r >> 32) % 100000 : 1 + (r >> 32) % 100;
}

/* The node of a path in another tree, given by its node in one; NULL when it is not there. */
static struct cct_node *same_path(struct cct_node *root, const struct cct_node *node)
{
    uint32_t items[64];
    size_t depth = 0;
    for (; cct_parent(node); node = cct_parent(node))
        items[depth++] = node->item;
    while (root && depth--) {
        struct cct_node *child = root->first_child;
        while (child && child->item != items[depth])
            child = child->next_sibling;
        root = child;
    }
    return root;
}

/* Sticky Sampling counts no more than there is, and may miss eps * N of it. */
static void check_counters(struct hcct *h, double eps)
{
    long double bound = (long double)eps * h->total[0];
    size_t monitored = 0;
    struct hcct_walk walk = hcct_walk(h);
    if (hcct_promises(h->number))
        cr_assert_leq((long double)hcct_unseen(h), bound);
    for (const struct cct_node *n; (n = hcct_walk_next(&walk)) != NULL;) {
        cr_assert_eq(n->links & NODE_LIVE, 0);
        monitored += hcct_is_monitored(h, n);
        if (h->kind->marks && !(n->links & NODE_MONITORED))
            cr_assert_eq(n->self[0], 0);
    }
    hcct_walk_end(&walk);
    cr_assert_eq(monitored, hcct_counters(h));
    if (h->number == HCCT_LSS || h->number == HCCT_BSS)
        cr_assert_leq(monitored, (size_t)ceil(1 / eps));
}

static void check_all(const struct hcct *h, const struct cct_node *ours, const struct cct_node *truth)
{
    uint64_t weight = truth->self[0], error = 0, estimate = 0;
    if (ours && hcct_is_monitored(h, ours)) {
        estimate = hcct_estimate(h, ours, &error);
        cr_assert_geq(weight, estimate - error);
        if (h->number != HCCT_STICKY || error == 0)
            cr_assert_leq(weight, estimate);
    } else if (h->number != HCCT_STICKY) {
        cr_assert_leq(weight, hcct_unseen(h));
    }
    for (const struct cct_node *n = truth->first_child; n; n = n->next_sibling) {
        const struct cct_node *child = ours ? ours->first_child : NULL;
        while (child && child->item != n->item)
            child = child->next_sibling;
        check_all(h, child, n);
    }
}

static void check_query(const struct hcct *h, struct cct *truth, double phi, double eps)
{
    struct cct *q = hcct_query(h, phi);
    long double n_total = h->total[0];
    uint64_t sum = 0;
    cr_assert_not_null(q);
    cr_assert_eq(cct_total(q), cct_total(truth));
    for (struct cct_node *n = cct_root(q); n; n = cct_next(cct_root(q), n)) {
        sum += n->self[0];
        if (n == cct_root(q) || !n->self[0]) {
            cr_assert(n->first_child || n == cct_root(q), "a leaf that is not hot");
            continue;
        }
        const struct cct_node *exact = same_path(cct_root(truth), n);
        cr_assert_gt((long double)exact->self[0] + 1, (phi - (long double)eps) * n_total);
        cr_assert_leq(exact->self[0], n->self[0]);
        cr_assert_geq(exact->self[0], n->self[0] - cct_error(n));
    }
    if (h->number == HCCT_EXACT || h->number == HCCT_LSS || h->number == HCCT_BSS)
        cr_assert_eq(sum, cct_total(truth), "the total stays");
    else
        cr_assert_geq(sum, cct_total(truth), "estimates are too large together");
    for (struct cct_node *n = cct_root(truth); n; n = cct_next(cct_root(truth), n)) {
        if (n == cct_root(truth) || n->self[0] < phi * n_total)
            continue;
        const struct cct_node *found = same_path(cct_root(q), n);
        cr_assert(found && found->self[0] >= n->self[0], "a false negative");
    }
    cct_free(q);
}

static void check(struct hcct *h, struct cct *truth, double eps)
{
    static const double phis[] = {1.001, 2, 5, 20};
    if (h->number == HCCT_PURGE) /* what it says afterwards */
        eps = (double)((long double)(hcct_unseen(h) + 1) / hcct_total(h));
    cr_assert_eq(hcct_total(h), cct_total(truth));
    check_counters(h, eps);
    for (struct cct_node *n = cct_root(truth)->first_child; n; n = n->next_sibling) {
        const struct cct_node *child = h->tree.root->first_child;
        while (child && child->item != n->item)
            child = child->next_sibling;
        check_all(h, child, n);
    }
    for (size_t i = 0; i < sizeof phis / sizeof *phis && eps * phis[i] < 1; i++)
        check_query(h, truth, eps * phis[i], eps);
}

static void feed(struct hcct *h, struct cct *truth, uint64_t *state, double skew, bool weighted,
                 unsigned adds)
{
    for (unsigned i = 0; i < adds; i++) {
        uint32_t items[MAX_DEPTH];
        size_t depth = path_draw(state, skew, items);
        uint64_t weight = weighted ? weight_draw(state) : 1;
        cr_assert_eq(hcct_add(h, items, depth, &weight), 0);
        cr_assert_not_null(cct_add(truth, items, depth, &weight));
    }
}

static const double epsilons[] = {0.3, 0.1, 0.03, 0.007, 0.001, 0.0002};
static const double skews[] = {1, 3, 8, 20};

/* Calls and returns at random, of which the low items are called more often. */
static void feed_calls(struct hcct *h, struct cct *truth, uint64_t *state, bool weighted, unsigned calls)
{
    static struct cct_node *stack[64];
    enum { MOST = 40 };
    size_t depth = h->depth, done;
    if (!depth)
        stack[0] = cct_root(truth);
    for (unsigned i = 0; i < calls; i++) {
        uint32_t events[MOST + 2], weights[MOST + 2] = {0};
        size_t count = 0;
        uint64_t r = random_next(state);
        for (uint64_t bits = r; depth && (depth == MOST || bits & 1); bits >>= 1, depth--)
            events[count++] = HCCT_RETURN;
        uint32_t item = (uint32_t)((r >> 40) % 3 ? (r >> 44) % 3 : (r >> 44) % 40), below = (r >> 32) % 5;
        uint64_t weight = weighted ? weight_draw(state) : 1;
        struct cct_node *child = cct_child(truth, stack[depth], item);
        stack[++depth] = child;
        weights[count] = (uint32_t)weight;
        events[count++] = item;
        cct_weigh(truth, child, &weight);
        if (r >> 60 == 0 && depth < MOST) { /* a frame of another stack: no weight */
            stack[depth + 1] = cct_child(truth, child, below);
            depth++;
            events[count++] = below | HCCT_RESUMED;
        }
        cr_assert_eq(hcct_feed(h, events, weighted ? weights : NULL, count, &done), 0);
        cr_assert_eq(done, count);
        cr_assert_eq(h->depth, depth);
    }
}

Test(bounds, hold_at_any_time)
{
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        for (size_t s = 0; s < sizeof skews / sizeof *skews; s++) {
            for (unsigned way = 0; way < 2 * HCCT_KINDS; way++) {
                enum hcct_kind kind = way / 2;
                uint64_t state = e * 100 + s * 10 + way % 2;
                double eps = kind == HCCT_EXACT ? 1e-6 : epsilons[e];
                struct hcct *h = counter_new(kind, eps);
                struct cct *truth = cct_new(1);
                for (unsigned part = 0; part < 4; part++) {
                    feed(h, truth, &state, skews[s], way % 2, part == 0 ? 5 : LENGTH(3000));
                    check(h, truth, eps);
                }
                hcct_free(h);
                cct_free(truth);
            }
        }
    }
}

Test(bounds, hold_for_calls_and_returns)
{
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        for (unsigned way = 0; way < 2 * HCCT_KINDS; way++) {
            enum hcct_kind kind = way / 2;
            uint64_t state = e * 10 + way % 2;
            double eps = kind == HCCT_EXACT ? 1e-6 : epsilons[e];
            struct hcct *h = counter_new(kind, eps);
            struct cct *truth = cct_new(1);
            for (unsigned part = 0; part < 4; part++) {
                feed_calls(h, truth, &state, way % 2, part == 0 ? 5 : LENGTH(20000));
                check(h, truth, eps);
            }
            hcct_rewind(h);
            cr_expect_eq(h->depth, 0);
            check(h, truth, eps);
            hcct_free(h);
            cct_free(truth);
        }
    }
}

/* The memory of those in bounded memory stays as it is, and so does what they promise. */
Test(bounds, memory_is_flat)
{
    for (enum hcct_kind kind = HCCT_LSS; kind < HCCT_KINDS; kind++) {
        struct hcct *h = counter_new(kind, 0.001);
        struct cct *truth = cct_new(1);
        uint64_t state = 8;
        size_t early = 0;
        for (unsigned part = 0; part < 10; part++) {
            feed_calls(h, truth, &state, true, 50000);
            early = part == 1 ? hcct_bytes(h) : early;
        }
        if (kind == HCCT_STICKY) /* 2t counters, however long: expected, not at most */
            cr_expect_lt((double)hcct_counters(h), 3 * log(1 / (0.001001 * 1e-6)) / 0.001);
        else
            cr_expect_leq(hcct_bytes(h), early * 3 / 2, "%s: %zu, %zu bytes", hcct_kind_names[kind], early,
                          hcct_bytes(h));
        cr_expect_lt(hcct_most_nodes(h), cct_count(truth) / 2);
        hcct_free(h);
        cct_free(truth);
    }
}

/* Hot paths change over time: what was hot is evicted and comes back. */
Test(bounds, hold_when_the_stream_changes)
{
    struct hcct *h = lss_new(0.01, 1);
    struct cct *truth = cct_new(1);
    for (uint64_t part = 0; part < 8; part++) {
        uint64_t state = part % 3;
        feed(h, truth, &state, part % 2 ? 1 : 10, true, 4000);
        check(h, truth, 0.01);
    }
    hcct_free(h);
    cct_free(truth);
}

static void check_same(const struct cct_node *a, const struct cct_node *b)
{
    cr_assert_eq(a->self[0], b->self[0]);
    cr_assert_eq(a->self[1], b->self[1]);
    for (const struct cct_node *n = a->first_child; n; n = n->next_sibling) {
        const struct cct_node *child = b->first_child;
        while (child && child->item != n->item)
            child = child->next_sibling;
        cr_assert(child);
        check_same(n, child);
    }
}

/* Adding where a path was last counted is as adding it by its frames. */
static void check_places(enum hcct_kind kind)
{
    const double eps = 0.001;
    struct hcct_options options = {
        .kind = kind, .eps = eps, .phi = eps * 1.001, .delta = 1e-6, .metrics = 2, .seed = 3, .places = true};
    struct hcct *h = hcct_new(&options), *framed = hcct_new(&options);
    struct hcct_place *places = calloc(DISTINCT, sizeof *places);
    struct cct *truth = cct_new(2);
    uint64_t state = 8, at_places = 0;
    enum { ADDS = 300000 };
    cr_assert(h && framed && places && truth);
    for (unsigned i = 0; i < ADDS; i++) {
        uint32_t items[MAX_DEPTH];
        uint64_t path = number_draw(&state, 6), values[2] = {weight_draw(&state), 1};
        size_t depth = path_items(path, items);
        bool added = hcct_add_at(h, places[path], values);
        at_places += added;
        if (!added) {
            cr_assert_eq(hcct_add(h, items, depth, values), 0);
            places[path] = hcct_place(h);
        }
        cr_assert_eq(hcct_add(framed, items, depth, values), 0);
        cr_assert(cct_add(truth, items, depth, values));
    }
    cr_expect_gt(at_places, ADDS / 4, "%s: %lu of %u", hcct_kind_names[kind], at_places, ADDS);
    cr_expect_eq(hcct_total(h), cct_total(truth));
    check_counters(h, eps);
    check_all(h, h->tree.root, cct_root(truth));
    if (kind != HCCT_PURGE && kind != HCCT_STICKY) { /* whose random choices depend on the order of nodes */
        cr_expect_eq(hcct_nodes(h), hcct_nodes(framed));
        cr_expect_eq(hcct_counters(h), hcct_counters(framed));
        cr_expect_eq(hcct_unseen(h), hcct_unseen(framed));
        check_same(h->tree.root, framed->tree.root);
    }
    struct hcct_place nowhere = {0};
    cr_expect_not(hcct_add_at(h, nowhere, (uint64_t[]){1, 1}));
    cct_free(truth);
    free(places);
    hcct_free(framed);
    hcct_free(h);
}

#define BY_PLACES(name, kind)                                                                                \
    Test(bounds, name)                                                                                       \
    {                                                                                                        \
        check_places(kind);                                                                                  \
    }
BY_PLACES(exact_by_places, HCCT_EXACT)
BY_PLACES(lss_by_places, HCCT_LSS)
BY_PLACES(bss_by_places, HCCT_BSS)
BY_PLACES(lc_by_places, HCCT_LC)
BY_PLACES(sticky_by_places, HCCT_STICKY)
BY_PLACES(purge_by_places, HCCT_PURGE)

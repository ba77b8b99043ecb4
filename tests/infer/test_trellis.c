/* The trellis's probabilities and likelihood, against the same by plain enumeration. */
#include <criterion/criterion.h>

#include <math.h>

#include "infer/model/trellis.h"
#include "tests/infer/world.h"

enum { COLUMNS = 5, STATES = 2, WAYS = 32 /* STATES to the power of COLUMNS */ };

struct rig {
    struct world *world;
    struct coherence *model;
    struct column ambiguous, sure;
};

static struct column meet(struct rig *r, uint32_t node)
{
    struct pathmap_node n = pathmap_node(r->world->map, node);
    const struct candidate_path *candidates;
    struct column c = {0};
    uint32_t answer;
    cr_assert_eq(resolver_find(r->world->resolver, SETTING_ANY, n.function, n.height, &answer), 1);
    cr_assert_eq(coherence_count(r->model, answer, 100), 0);
    c.count = resolver_candidates(r->world->resolver, answer, &candidates, &c.first);
    return c;
}

/* fun0 calls fun1 and fun2; both call fun3, at one height. fun5 is under fun1 alone. */
static struct rig begin(void)
{
    struct rig r = {.world = world_open()};
    struct world *w = r.world;
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 600, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 400, 1), two = world_child(w, root, 2, 16, 6, 200, 1);
    world_child(w, one, 3, 48, 7, 300, 30);
    world_child(w, two, 3, 48, 9, 100, 10);
    world_child(w, one, 5, 64, 7, 300, 30);
    world_finish(w);
    r.model = coherence_new(w->resolver);
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        struct column c = meet(&r, i);
        r.ambiguous = c.count == STATES ? c : r.ambiguous;
        r.sure = pathmap_node(w->map, i).height == 64 ? c : r.sure;
    }
    cr_assert_eq(r.ambiguous.count, (unsigned)STATES);
    cr_assert_eq(r.sure.count, 1u);
    return r;
}

static void end(struct rig *r)
{
    coherence_free(r->model);
    world_close(r->world);
}

struct told {
    unsigned columns;
    double probabilities[COLUMNS][STATES];
};

static int tell(void *context, const struct column *column, const double *probabilities,
                struct fathom_error *err)
{
    (void)err;
    struct told *told = context;
    for (uint32_t i = 0; i < column->count; i++)
        told->probabilities[told->columns][i] = probabilities[i];
    told->columns++;
    return 0;
}

/* Compares with the sum over all ways through the columns. */
static void compare(struct rig *r, struct trellis_work *work)
{
    const struct column columns[COLUMNS] = {r->ambiguous, r->ambiguous, r->sure, r->sure, r->ambiguous};
    const uint32_t level = renewal_level(1);
    double first = 0, all = 0, of[COLUMNS][STATES] = {0};
    for (unsigned i = 0; i < r->ambiguous.count; i++)
        first += coherence_share(r->model, r->ambiguous.first + i);
    for (unsigned way = 0; way < WAYS; way++) {
        uint32_t states[COLUMNS];
        bool exists = true;
        for (unsigned t = 0; t < COLUMNS; t++) {
            exists &= (way >> t & 1) < columns[t].count;
            states[t] = columns[t].first + (way >> t & 1);
        }
        double p = exists ? coherence_share(r->model, states[0]) / first : 0;
        for (unsigned t = 1; exists && t < COLUMNS; t++)
            p *= coherence_step(r->model, states[t - 1], states[t], level);
        all += p;
        for (unsigned t = 0; t < COLUMNS; t++)
            of[t][way >> t & 1] += p;
    }
    struct told told = {0};
    struct trellis *trellis = trellis_new(work);
    trellis_work_judge(work);
    for (unsigned t = 0; t < COLUMNS; t++)
        cr_assert_eq(trellis_add(trellis, columns[t], tell, &told, NULL), 0);
    cr_assert_eq(trellis_flush(trellis, tell, &told, NULL), 0);
    cr_expect_float_eq(trellis_work_judged(work), log(all), 1e-5);
    cr_assert_eq(told.columns, (unsigned)COLUMNS);
    for (unsigned t = 0; t < COLUMNS; t++) {
        for (unsigned i = 0; i < columns[t].count; i++)
            cr_expect_float_eq(told.probabilities[t][i], of[t][i] / all, 1e-5, "column %u, state %u", t, i);
    }
    trellis_free(trellis);
}

Test(trellis, agrees_with_plain_enumeration)
{
    struct rig r = begin();
    struct trellis_work *work = trellis_work_new(r.model);
    compare(&r, work);
    compare(&r, work);
    coherence_set_strength(r.model, 8);
    compare(&r, work);
    coherence_count_state(r.model, r.ambiguous.first + 1, 1e6);
    coherence_update(r.model);
    compare(&r, work);
    trellis_work_free(work);
    end(&r);
}

/* Temporal coherence on a map made by hand: what stands around an ambiguous sample decides it. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "infer/model/lineage.h"
#include "infer/model/smooth.h"
#include "tests/infer/world.h"

#define MAX_SEEN 2048

struct story {
    struct world *world;
    struct coherence *model;
    struct smoother *smoother;
    uint64_t time;
    unsigned seen;
    struct resolved results[MAX_SEEN];
    uint64_t times[MAX_SEEN];
};

static int see(void *context, const struct process *process, const struct sample *sample,
               const struct resolved *resolved, struct fathom_error *err)
{
    (void)process, (void)err;
    struct story *s = context;
    cr_assert_lt(s->seen, (unsigned)MAX_SEEN);
    double sum = 0;
    for (uint32_t i = 0; i < resolved->posterior_count; i++) {
        sum += (double)resolved->posterior[i].probability;
        cr_expect(i == 0 || resolved->posterior[i].probability <= resolved->posterior[i - 1].probability);
    }
    cr_expect_eq(resolved->posterior[0].node, resolved->node);
    cr_expect_eq((double)resolved->posterior[0].probability, resolved->probability);
    cr_expect_eq(resolved->posterior_count, resolved->paths);
    cr_expect_float_eq(sum, 1, 1e-6);
    s->times[s->seen] = sample->time;
    s->results[s->seen++] = *resolved;
    return 0;
}

/* fun0 calls fun1 and fun2; both call fun3, which calls fun4: ambiguous. fun5 under fun1 and fun6 under fun2
 * are sure. By the counts fun4 is 3 times as often under fun1. */
static struct story *begin(void)
{
    struct story *s = calloc(1, sizeof *s);
    struct world *w = s->world = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 600, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 400, 0), two = world_child(w, root, 2, 16, 6, 200, 0);
    world_child(w, world_child(w, one, 3, 48, 7, 300, 0), 4, 64, 8, 300, 300);
    world_child(w, world_child(w, two, 3, 48, 9, 100, 0), 4, 64, 8, 100, 100);
    world_child(w, one, 5, 48, 10, 100, 100);
    world_child(w, two, 6, 48, 11, 100, 100);
    world_finish(w);
    cr_assert_eq(process_set_stack(w->self.process, self_tid(), BASE - 0x100000, BASE, NULL), 0);
    s->model = coherence_new(w->resolver);
    s->smoother = smoother_new(w->resolver, s->model, see, s);
    return s;
}

static struct run_time run_of(const struct story *s, const struct sample *sample)
{
    return (struct run_time){process_thread_key(s->world->self.process, sample), sample->time};
}

static void sample_on(struct story *s, uint64_t base, unsigned function, uint32_t height)
{
    struct sample x = world_sample(function, base, height);
    struct resolved r;
    x.time = s->time += 1000000;
    cr_assert_eq(world_resolve(s->world, s->world->self.process, &x, &r, NULL), 0);
    cr_assert_eq(smoother_add(s->smoother, run_of(s, &x), s->world->self.process, &x, &r, NULL), 0);
}

static void sample(struct story *s, unsigned function, uint32_t height)
{
    sample_on(s, BASE, function, height);
}

static void end(struct story *s)
{
    cr_assert_eq(smoother_settle(s->smoother, NULL, SMOOTHER_ALL, NULL), 0);
    smoother_free(s->smoother);
    coherence_free(s->model);
    world_close(s->world);
    free(s);
}

Test(smooth, samples_around_outweigh_the_counts)
{
    struct story *s = begin();
    sample(s, 6, 48);
    sample(s, 4, 64);
    cr_expect_eq(s->seen, 1u, "the ambiguous one waits");
    sample(s, 6, 48);
    cr_assert_eq(s->seen, 3u);
    cr_expect_eq(s->results[1].kind, RESOLVED_AMBIGUOUS);
    cr_expect_str_eq(world_path(s->world, s->results[1].node), "fun0 fun2 fun3 fun4");
    cr_expect_gt(s->results[1].probability, 0.5);
    cr_expect_eq(s->times[1], 2000000u, "with its own time");
    end(s);
}

Test(smooth, a_run_is_pulled_from_both_ends)
{
    struct story *s = begin();
    sample(s, 6, 48);
    for (int i = 0; i < 5; i++)
        sample(s, 4, 64);
    sample(s, 6, 48);
    cr_assert_eq(s->seen, 7u);
    for (int i = 1; i <= 5; i++)
        cr_expect_str_eq(world_path(s->world, s->results[i].node), "fun0 fun2 fun3 fun4");
    end(s);
}

/* A thread resumes two coroutines by turns. What is sure of one tells nothing of the other, where the counts
 * decide. */
Test(smooth, coroutines_go_on_for_themselves)
{
    enum { DISTANCE = 0x10000, TURNS = 100 };
    struct story *s = begin();
    for (uint64_t base = BASE + DISTANCE; base <= BASE + 2 * DISTANCE; base += DISTANCE)
        cr_assert_eq(process_set_shared_stack(s->world->self.process, base - 0x1000, base, NULL), 0);
    for (unsigned turn = 0; turn <= TURNS; turn++) {
        if (turn % 2)
            sample_on(s, BASE + DISTANCE, 4, 64);
        else
            sample_on(s, BASE + DISTANCE, 6, 48);
        sample_on(s, BASE + 2 * DISTANCE, 4, 64);
    }
    cr_assert_eq(smoother_settle(s->smoother, NULL, SMOOTHER_ALL, NULL), 0);
    cr_assert_eq(s->seen, 2u * (TURNS + 1));
    for (unsigned i = 0; i < s->seen; i++) {
        uint64_t number = s->times[i] / 1000000 - 1;
        const char *path = number % 2       ? "fun0 fun1 fun3 fun4"
                           : number / 2 % 2 ? "fun0 fun2 fun3 fun4"
                                            : "fun0 fun2 fun6";
        cr_expect_str_eq(world_path(s->world, s->results[i].node), path, "sample %lu", number);
    }
    end(s);
}

Test(smooth, an_anchor_is_sure_and_silent)
{
    struct story *s = begin();
    sample(s, 4, 64);
    struct sample x = world_sample(4, BASE, 64);
    struct resolved r;
    const struct candidate_path *candidates;
    uint32_t first;
    cr_assert_eq(world_resolve(s->world, s->world->self.process, &x, &r, NULL), 0);
    cr_assert_eq(resolver_candidates(s->world->resolver, r.answer, &candidates, &first), 2u);
    cr_assert_str_eq(world_path(s->world, candidates[1].node), "fun0 fun2 fun3 fun4");
    x.time = s->time + 1;
    cr_assert_eq(smoother_true_path(s->smoother, run_of(s, &x), first + 1, NULL), 0);
    cr_assert_eq(s->seen, 1u, "the one that waited, not the anchor");
    cr_expect_str_eq(world_path(s->world, s->results[0].node), "fun0 fun2 fun3 fun4");
    sample(s, 4, 64);
    cr_assert_eq(smoother_settle(s->smoother, NULL, SMOOTHER_ALL, NULL), 0);
    cr_assert_eq(s->seen, 2u);
    cr_expect_str_eq(world_path(s->world, s->results[1].node), "fun0 fun2 fun3 fun4");
    end(s);
}

/* Before a record changes what is known of a process or a thread, what waits of it has to be told. */
Test(smooth, one_thread_or_process_is_settled)
{
    struct story *s = begin();
    const struct process *process = s->world->self.process;
    sample(s, 4, 64);
    cr_assert_eq(smoother_settle(s->smoother, process, self_tid() + 1, NULL), 0);
    cr_expect_eq(s->seen, 0u, "another thread");
    cr_assert_eq(smoother_settle(s->smoother, process, self_tid(), NULL), 0);
    cr_expect_eq(s->seen, 1u);
    sample(s, 4, 64);
    sample(s, 4, 64);
    cr_assert_eq(smoother_settle(s->smoother, process, SMOOTHER_ALL, NULL), 0);
    cr_expect_eq(s->seen, 3u);
    sample(s, 6, 48);
    cr_expect_eq(s->seen, 4u, "none waits any more");
    end(s);
}

Test(smooth, alone_the_counts_decide)
{
    struct story *s = begin();
    sample(s, 4, 64);
    cr_assert_eq(smoother_settle(s->smoother, NULL, SMOOTHER_ALL, NULL), 0);
    cr_assert_eq(s->seen, 1u);
    cr_expect_str_eq(world_path(s->world, s->results[0].node), "fun0 fun1 fun3 fun4");
    cr_expect_float_eq(s->results[0].probability, 0.75, 0.01);
    end(s);
}

Test(smooth, long_runs_do_not_wait_for_ever)
{
    struct story *s = begin();
    sample(s, 6, 48);
    for (int i = 0; i < 3 * TRELLIS_RUN; i++)
        sample(s, 4, 64);
    cr_expect_geq(s->seen, 2u * TRELLIS_RUN);
    cr_assert_eq(smoother_settle(s->smoother, NULL, SMOOTHER_ALL, NULL), 0);
    cr_expect_eq(s->seen, 3u * TRELLIS_RUN + 1);
    for (unsigned i = 1; i < s->seen; i++)
        cr_assert_gt(s->times[i], s->times[i - 1]);
    end(s);
}

Test(lineage, tells_what_paths_share)
{
    struct story *s = begin();
    struct lineage *l = lineage_new(s->world->map);
    uint32_t node[2], found = 0;
    for (uint32_t i = 0; i < pathmap_node_count(s->world->map); i++) {
        if (strcmp(world_path(s->world, i), found ? "fun0 fun2 fun3 fun4" : "fun0 fun1 fun3 fun4") == 0) {
            node[found++] = i;
            if (found == 2)
                break;
            i = UINT32_MAX; /* from the start */
        }
    }
    cr_assert_eq(found, 2u);
    const struct ancestry *a = lineage_of(l, node[0]), *b = lineage_of(l, node[1]);
    cr_assert_eq(a->depth, 4u);
    cr_expect_eq(ancestry_common(a, b), 1u, "fun0");
    cr_expect_eq(ancestry_common(a, a), 4u);
    lineage_free(l);
    end(s);
}

/* The exact stage on a map made by hand: which path, how likely, and why not. */
#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

#include "pathmap/map/partial.h"
#include "tests/infer/world.h"

static struct resolved resolve(struct world *w, struct sample sample)
{
    struct resolved out;
    struct fathom_error err = {0};
    cr_assert_eq(world_resolve(w, w->self.process, &sample, &out, &err), 0, "%s", err.text);
    return out;
}

static void set_stack(struct world *w)
{
    cr_assert_eq(process_set_stack(w->self.process, self_tid(), BASE - 0x100000, BASE, NULL), 0);
}

/* Training saw every call. */
static void hook(struct world *w)
{
    trie_set_hooked(w->trie, trie_image(w->trie, image_path(world_image(w)), image_build_id(world_image(w))));
}

/* fun0 at 0 calls fun1 and fun2 at 16; both call fun3 at 48, from two places each. fun4 only under fun1. */
static struct world *diamond(void)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 10, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 6, 1), two = world_child(w, root, 2, 16, 6, 4, 0);
    world_child(w, one, 3, 48, 100, 2, 2);
    world_child(w, one, 3, 48, 101, 3, 3);
    world_child(w, two, 3, 48, 200, 4, 4);
    world_child(w, two, 3, 64, 201, 1, 1);
    world_child(w, one, 4, 48, 102, 1, 0);
    hook(w);
    world_finish(w);
    set_stack(w);
    return w;
}

Test(resolver, one_path_is_precise)
{
    struct world *w = diamond();
    struct resolved r = resolve(w, world_sample(4, BASE, 48));
    cr_expect_eq(r.kind, RESOLVED_PRECISE);
    cr_expect_eq(r.reason, UNKNOWN_NOT);
    cr_expect_eq(r.paths, 1u);
    cr_expect_eq(r.probability, 1.0);
    cr_expect_eq(r.cid.height, 48u);
    cr_expect_str_eq(world_path(w, r.node), "fun0 fun1 fun4");
    cr_expect_str_eq(world_path(w, resolve(w, world_sample(0, BASE, 0)).node), "fun0");
    cr_expect_str_eq(world_path(w, resolve(w, world_sample(3, BASE, 64)).node), "fun0 fun2 fun3");
    world_close(w);
}

Test(resolver, several_paths_share_their_probability_by_counts)
{
    struct world *w = diamond();
    for (int again = 0; again < 2; again++) {
        struct resolved r = resolve(w, world_sample(3, BASE, 48));
        cr_expect_eq(r.kind, RESOLVED_AMBIGUOUS);
        cr_expect_eq(r.paths, 2u, "call sites make no paths of their own");
        cr_expect_str_eq(world_path(w, r.node), "fun0 fun1 fun3");
        cr_expect_eq(pathmap_node(w->map, r.node).site, 101u, "of its nodes the one with most samples");
        cr_expect_lt(fabs(r.probability - (5 + 5.0 / 9) / 10), 1e-6, "%g", r.probability);
        cr_assert_eq(r.posterior_count, 2u);
        cr_expect_eq(r.posterior[0].node, r.node);
        cr_expect_str_eq(world_path(w, r.posterior[1].node), "fun0 fun2 fun3");
        cr_expect_float_eq((double)r.posterior[1].probability, 1 - r.probability, 1e-6);
    }
    world_close(w);
}

Test(resolver, without_samples_the_walks_decide)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 10, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 1, 0), 3, 48, 9, 1, 0);
    world_child(w, world_child(w, root, 2, 16, 6, 3, 0), 3, 48, 9, 3, 0);
    world_finish(w);
    set_stack(w);
    struct resolved r = resolve(w, world_sample(3, BASE, 48));
    cr_expect_str_eq(world_path(w, r.node), "fun0 fun2 fun3");
    cr_expect_lt(fabs(r.probability - 0.75), 1e-6);
    world_close(w);
}

Test(resolver, expected_paths_stand_beside_trained_ones)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 4, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 3, 0), 3, 48, 9, 3, 1);
    world_child(w, world_child(w, root, 2, 16, 6, 0, 0), 3, 48, 9, 0, 0);
    world_child(w, world_child(w, root, 2, 16, 6, 0, 0), 4, 48, 9, 0, 0);
    world_finish(w);
    set_stack(w);
    uint32_t trained = PATHMAP_NONE, other = PATHMAP_NONE, unseen = PATHMAP_NONE;
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        const char *path = world_path(w, i);
        trained = strcmp(path, "fun0 fun1 fun3") == 0 ? i : trained;
        other = strcmp(path, "fun0 fun2 fun3") == 0 ? i : other;
        unseen = strcmp(path, "fun0 fun2 fun4") == 0 ? i : unseen;
    }
    cr_assert_eq(resolver_expect(w->resolver, SETTING_ANY, trained, 0.2), 0);
    cr_assert_eq(resolver_expect(w->resolver, SETTING_ANY, other, 0.5), 0);
    cr_assert_eq(resolver_expect(w->resolver, SETTING_ANY, other, 0.1), 0);
    cr_assert_eq(resolver_expect(w->resolver, SETTING_ANY, unseen, 0.1), 0);
    struct resolved r = resolve(w, world_sample(3, BASE, 48));
    /* one sample on the one path; 0.2 and 0.6 of what is expected */
    cr_expect_eq(r.kind, RESOLVED_AMBIGUOUS, "training did not see every call");
    cr_expect_eq(r.paths, 2u, "the one that training saw, and what else there may be");
    cr_expect_eq(r.node, trained);
    cr_expect_float_eq(r.probability, (1 + 0.25) / (1 + 1), 1e-6);
    cr_expect_eq(resolver_evidence(w->resolver, r.answer), 2);
    cr_assert_eq(r.posterior_count, 2u);
    cr_expect_eq(r.posterior[1].node, other);
    cr_expect_eq(resolver_kind(w->resolver, r.answer, other), RESOLVED_INFERRED);
    r = resolve(w, world_sample(4, BASE, 48));
    cr_expect_eq(r.kind, RESOLVED_INFERRED);
    cr_expect_eq(r.probability, 1);
    world_close(w);
}

Test(resolver, settled_shares_outvote_training)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 1000, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 1000, 0), 3, 48, 9, 1000, 1000);
    world_child(w, world_child(w, root, 2, 16, 6, 0, 0), 3, 48, 9, 0, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 0, 0), 4, 48, 9, 7, 7);
    world_finish(w);
    set_stack(w);
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        const char *path = world_path(w, i);
        double share = strcmp(path, "fun0 fun1 fun3") == 0   ? 0.1
                       : strcmp(path, "fun0 fun2 fun3") == 0 ? 0.3
                                                             : 0;
        cr_assert(share == 0 || resolver_expect(w->resolver, SETTING_ANY, i, share) == 0);
    }
    resolver_settle(w->resolver);
    struct resolved r = resolve(w, world_sample(3, BASE, 48));
    cr_expect_str_eq(world_path(w, r.node), "fun0 fun2 fun3");
    cr_expect_eq(r.kind, RESOLVED_INFERRED);
    cr_expect_float_eq(r.probability, 0.75, 1e-6);
    cr_expect_eq(resolver_evidence(w->resolver, r.answer), 1);
    cr_assert_eq(r.posterior_count, 2u);
    cr_expect_eq(resolver_kind(w->resolver, r.answer, r.posterior[1].node), RESOLVED_AMBIGUOUS,
                 "one path was trained, but another is likely");
    r = resolve(w, world_sample(4, BASE, 48));
    cr_expect_eq(r.kind, RESOLVED_AMBIGUOUS,
                 "nothing else was told of it, but training did not see every call");
    cr_expect_eq(r.probability, 1);
    world_close(w);
}

/* fun1 calls fun2, and fun3 fun4, at the same height; of this recording is a stack in which `outside` calls fun2. */
static struct world *denied(const char *outside, uint32_t audits[16])
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 10, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 9, 0), 2, 48, 6, 9, 9);
    world_child(w, world_child(w, root, 3, 16, 5, 2, 0), 4, 48, 6, 2, 2);
    world_child(w, partial_node(w->trie, outside), 2, 48, 0, 1, 1);
    world_finish(w);
    set_stack(w);
    for (uint32_t i = 0; i < pathmap_node_count(w->map) && i < 16; i++)
        audits[i] = strcmp(world_path(w, i) + strlen(outside), " fun2") == 0 && world_path(w, i)[0] == '[';
    resolver_audited(w->resolver, audits);
    return w;
}

Test(resolver, a_stack_of_this_recording_denies_what_others_learned)
{
    uint32_t audits[16] = {0};
    struct world *w = denied("[run-time code]", audits);
    struct resolved r = resolve(w, world_sample(2, BASE, 48));
    cr_expect_str_eq(world_path(w, r.node), "[run-time code] fun2");
    cr_expect_eq(r.posterior_count, 1u);
    cr_expect_str_eq(world_path(w, resolve(w, world_sample(4, BASE, 48)).node), "fun0 fun3 fun4");
    world_close(w);
}

Test(resolver, a_stack_that_was_not_read_further_denies_nothing)
{
    uint32_t audits[16] = {0};
    struct world *w = denied("[deeper than was copied]", audits);
    struct resolved r = resolve(w, world_sample(2, BASE, 48));
    cr_expect_str_eq(world_path(w, r.node), "fun0 fun1 fun2");
    cr_expect_eq(r.posterior_count, 2u);
    world_close(w);
}

Test(resolver, a_stack_agrees_with_the_file_that_it_names)
{
    uint32_t audits[16] = {0};
    char text[300];
    struct world *w = world_open();
    const char *path = image_path(world_image(w));
    snprintf(text, sizeof text, "[no unwind table: %s]", strrchr(path, '/') + 1);
    world_close(w);
    w = denied(text, audits);
    cr_expect_eq(resolve(w, world_sample(2, BASE, 48)).posterior_count, 2u);
    world_close(w);
}

Test(resolver, says_why_a_context_is_unknown)
{
    struct world *w = diamond();
    struct sample s = world_sample(3, BASE, 48);
    cr_expect_eq(resolve(w, world_sample(3, BASE, 56)).reason, UNKNOWN_CONTEXT);
    cr_expect_eq(resolve(w, world_sample(7, BASE, 48)).reason, UNKNOWN_CONTEXT);
    cr_expect_eq(resolve(w, world_sample(3, BASE + 0x10000, 48)).reason, UNKNOWN_BASE);
    s.sp = BASE - 0x200000;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_BASE);
    s = world_sample(3, BASE, 48);
    s.tid += 1;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_BASE);
    s.reg_ip = 0x10;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_MAPPING);
    s.reg_ip = 0xffffffff81000000;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_KERNEL);
    s.has_regs = false;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_32BIT);
    s.sp = 0;
    cr_expect_eq(resolve(w, s).reason, UNKNOWN_REGISTERS);
    struct resolved r;
    s = world_sample(3, BASE, 48);
    cr_expect_eq(world_resolve(w, NULL, &s, &r, NULL), 0);
    cr_expect_eq(r.reason, UNKNOWN_MAPPING);
    cr_expect_eq(r.node, PATHMAP_NONE);
    cr_expect_eq(r.probability, 0);
    for (int reason = 0; reason < UNKNOWN_REASONS; reason++)
        cr_expect_gt(strlen(unknown_reason_text(reason)), 5u);
    world_close(w);
}

Test(resolver, another_build_is_told_once_and_not_used)
{
    struct world *w = world_open();
    struct image *image = world_image(w);
    struct build_id other = *image_build_id(image);
    cr_assert_gt(other.size, 0);
    other.bytes[0] ^= 1;
    struct place place;
    process_place(w->self.process, fun(0), &place);
    uint32_t number = trie_image(w->trie, image_path(image), &other);
    uint32_t function =
        trie_function(w->trie, number, image_function(image, place.function)->address, "fun0");
    trie_child(w->trie, TRIE_ROOT, function, 0, 0);
    world_finish(w);
    set_stack(w);
    for (unsigned i = 0; i < 6; i++)
        cr_expect_eq(resolve(w, world_sample(i / 2, BASE, 0)).reason, UNKNOWN_CONTEXT);
    world_close(w);
}

/* Heights, functions and counts at random against a plain list of the paths. */
Test(resolver, agrees_with_a_model_over_random_maps)
{
    enum { NODES = 300 };
    struct {
        uint32_t parent, height, node;
        unsigned function;
        char path[512];
        uint64_t self;
    } all[NODES];
    struct world *w = world_open();
    uint64_t seed = 5;
    for (int i = 0; i < NODES; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        int parent = i < 3 ? -1 : (int)((seed >> 33) % (unsigned)i);
        if (parent >= 0 && strlen(all[parent].path) > 400)
            parent = -1;
        all[i].function = seed >> 60 & 3;
        all[i].height = (parent < 0 ? 0 : all[parent].height + 8) + (seed >> 50 & 3) * 8;
        all[i].self = 1 + (seed >> 40 & 7);
        snprintf(all[i].path, sizeof all[i].path, "%.400s%sfun%u", parent < 0 ? "" : all[parent].path,
                 parent < 0 ? "" : " ", all[i].function);
        all[i].node = world_child(w, parent < 0 ? TRIE_ROOT : all[parent].node, all[i].function,
                                  all[i].height, 0, 1, all[i].self);
    }
    world_finish(w);
    set_stack(w);
    for (int i = 0; i < NODES; i++) {
        struct resolved r = resolve(w, world_sample(all[i].function, BASE, all[i].height));
        cr_assert_neq(r.kind, RESOLVED_UNKNOWN);
        /* Samples by path among the nodes of this CID. */
        const char *paths[NODES];
        double weights[NODES], total = 0, passes[NODES], all_passes = 0;
        unsigned count = 0;
        for (int j = 0; j < NODES; j++) {
            if (all[j].function != all[i].function || all[j].height != all[i].height)
                continue;
            unsigned k = 0;
            while (k < count && strcmp(paths[k], all[j].path) != 0)
                k++;
            if (k == count) {
                paths[count] = all[j].path;
                weights[count] = passes[count] = 0;
                count++;
            }
            weights[k] += (double)all[j].self;
            passes[k]++;
            total += (double)all[j].self;
            all_passes++;
        }
        cr_assert_eq(r.paths, count);
        double best = 0, chosen = 0;
        for (unsigned k = 0; k < count; k++) {
            double p = (weights[k] + passes[k] / all_passes) / (total + 1);
            best = p > best ? p : best;
            if (strcmp(paths[k], world_path(w, r.node)) == 0)
                chosen = p;
        }
        cr_assert_lt(fabs(best - chosen), 1e-9);
        cr_assert_lt(fabs(best - r.probability), 1e-6);
    }
    world_close(w);
}

/* fun1 called fun2 in training; was every call seen, and how often do this recording's unwound samples say
 * it? */
static enum resolved_kind kind_of(bool hooked, uint32_t audits, bool other)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 10, 0);
    world_child(w, world_child(w, root, 1, 16, 5, 9, 0), 2, 48, 9, 9, 9);
    if (other)
        world_child(w, world_child(w, root, 3, 16, 6, 1, 0), 2, 48, 9, 1, 1);
    if (hooked)
        hook(w);
    world_finish(w);
    set_stack(w);
    uint32_t samples[16] = {0};
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++)
        if (strcmp(world_path(w, i), "fun0 fun1 fun2") == 0)
            samples[i] = audits;
    resolver_audited(w->resolver, samples);
    enum resolved_kind kind = resolve(w, world_sample(2, BASE, 48)).kind;
    world_close(w);
    return kind;
}

Test(resolver, precise_is_what_was_seen_in_full_or_is_confirmed)
{
    cr_expect_eq(kind_of(true, 0, false), RESOLVED_PRECISE);
    cr_expect_eq(kind_of(true, 0, true), RESOLVED_AMBIGUOUS);
    cr_expect_eq(kind_of(false, 0, false), RESOLVED_AMBIGUOUS, "what training saw by chance");
    cr_expect_eq(kind_of(false, RESOLVER_AUDITS - 1, false), RESOLVED_AMBIGUOUS);
    cr_expect_eq(kind_of(false, RESOLVER_AUDITS, false), RESOLVED_PRECISE);
    cr_expect_eq(kind_of(false, RESOLVER_AUDITS, true), RESOLVED_AMBIGUOUS);
}

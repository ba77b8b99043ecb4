/* Samples added up to contexts, each with a value of every metric, on a map made by hand. */
#include <criterion/criterion.h>

#include "profile/profile.h"
#include "tests/infer/world.h"

/* fun0 calls fun1 and fun2, which both call fun3 at one height; or fun1 and fun2 are the outermost. */
struct setup {
    struct world *w;
    struct event event;
    struct profile *profile;
    uint32_t through[2]; /* the nodes of fun3 */
};

static struct setup setup_roots(struct profile_options options, const struct metric *weight, bool one)
{
    struct setup s = {.w = world_open(), .event.attr.sample_type = PERF_SAMPLE_WEIGHT};
    uint32_t root = one ? world_child(s.w, TRIE_ROOT, 0, 0, 0, 1, 0) : TRIE_ROOT;
    for (unsigned i = 0; i < 2; i++)
        world_child(s.w, world_child(s.w, root, 1 + i, 16, 0, 1, 0), 3, 32, 0, 1, 0);
    world_finish(s.w);
    for (uint32_t node = 0; node < pathmap_node_count(s.w->map); node++) {
        const char *path = world_path(s.w, node);
        if (strstr(path, "fun3"))
            s.through[strstr(path, "fun2") != NULL] = node;
    }
    cr_assert_eq(metrics_of(&s.event, weight, &options.metrics, NULL), 0);
    s.profile = profile_new(&options, s.w->self.images);
    cr_assert(s.profile);
    return s;
}

static struct setup setup_open(struct profile_options options, const struct metric *weight)
{
    return setup_roots(options, weight, true);
}

static void setup_close(struct setup *s)
{
    profile_free(s->profile);
    world_close(s->w);
}

/* A sample of fun3 that has come through fun1 with this probability, else through fun2. */
static void add(struct setup *s, uint64_t period, uint64_t latency, float probability)
{
    struct sample sample = world_sample(3, BASE, 32);
    struct candidate_path paths[2] = {{s->through[0], probability}, {s->through[1], 1 - probability}};
    struct resolved r = {.kind = probability < 1 ? RESOLVED_AMBIGUOUS : RESOLVED_PRECISE,
                         .node = s->through[0],
                         .paths = probability < 1 ? 2 : 1,
                         .probability = (double)probability,
                         .factor = 1,
                         .rate = 1,
                         .seen = 1,
                         .posterior = paths,
                         .posterior_count = probability < 1 ? 2 : 1};
    sample.period = period;
    sample.weight = latency;
    cr_assert_eq(profile_add(s->profile, s->w->map, s->w->self.process, &sample, &r, NULL), 0);
}

/* The context that ends in fun3 below fun1 or fun2 */
static const struct cct_node *end_below(struct setup *s, const char *caller, struct contexts *contexts,
                                        double phi)
{
    cr_assert_eq(profile_contexts(s->profile, phi, contexts), 0);
    struct cct_node *root = cct_root(contexts->tree);
    for (struct cct_node *n = root; (n = cct_next(root, n));) {
        if (strcmp(frames_at(contexts->frames, n->item)->name, "fun3") == 0 &&
            strcmp(frames_at(contexts->frames, cct_parent(n)->item)->name, caller) == 0)
            return n;
    }
    return NULL;
}

static void expect(const struct cct_node *node, uint64_t weight, uint64_t samples, uint64_t latency)
{
    cr_assert_not_null(node);
    cr_expect_eq(node->self[0], weight, "%llu", (unsigned long long)node->self[0]);
    cr_expect_eq(node->self[1], samples, "%llu", (unsigned long long)node->self[1]);
    cr_expect_eq(node->self[2], latency, "%llu", (unsigned long long)node->self[2]);
}

Test(profile, each_context_has_every_metric_and_its_certainty)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_BEST}, NULL);
    add(&s, 10, 300, 1);
    add(&s, 20, 0, 0.75f);
    struct contexts contexts;
    const struct cct_node *node = end_below(&s, "fun1", &contexts, 0);
    cr_expect_eq(contexts.metrics->count, 3);
    expect(node, 30, 2, 300);
    cr_expect_float_eq(doubts_at(contexts.doubts, node).end, 20 * 0.25, 1e-9);
    cr_expect_null(end_below(&s, "fun2", &contexts, 0));
    setup_close(&s);
}

Test(profile, counts_and_certainty_are_of_the_chosen_weight)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_BEST}, &metric_table[1]);
    add(&s, 10, 300, 1);
    add(&s, 20, 0, 0.75f);
    struct contexts contexts;
    struct profile_counts counts;
    profile_counts(s.profile, &counts);
    cr_expect_eq(counts.weight, 2);
    cr_expect_eq(counts.by_certainty[CERTAINTY_INFERRED], 2); /* also where one path alone has the CID */
    cr_expect_eq(counts.by_kind[RESOLVED_PRECISE], 1);
    cr_expect_eq(counts.by_kind[RESOLVED_AMBIGUOUS], 1);
    const struct cct_node *node = end_below(&s, "fun1", &contexts, 0);
    cr_expect_str_eq(contexts.metrics->at[1]->name, "weight");
    expect(node, 2, 30, 300);
    cr_expect_float_eq(doubts_at(contexts.doubts, node).end, 0.25, 1e-9);
    setup_close(&s);
}

/* Whichever path it is, the process that ran it is known. */
Test(profile, levels_are_above_paths_and_certain)
{
    struct profile_options options = {.framing.levels = {.at = {LEVEL_PID, LEVEL_TID}, .count = 2}};
    struct contexts contexts;
    for (options.ambiguity = AMBIGUOUS_LIKELY; options.ambiguity <= AMBIGUOUS_BEST; options.ambiguity++) {
        struct setup s = setup_roots(options, NULL, false);
        add(&s, 100, 0, 0.75f);
        cr_assert_eq(profile_contexts(s.profile, 0, &contexts), 0);
        struct cct_node *node = cct_root(contexts.tree);
        for (unsigned i = 0; i < 2; i++) {
            cr_expect_float_eq(doubts_at(contexts.doubts, node).relief, 0, 1e-9);
            node = node->first_child;
            cr_assert(node && !node->next_sibling);
            const struct frame *frame = frames_at(contexts.frames, node->item);
            cr_expect(frame->kind == FRAME_LEVEL && level_of(frame) == options.framing.levels.at[i]);
        }
        cr_expect_float_eq(doubts_at(contexts.doubts, node).relief, 25, 1e-9);
        cr_expect_eq(frames_at(contexts.frames, node->first_child->item)->kind, FRAME_FUNCTION);
        setup_close(&s);
    }
}

Test(profile, only_a_stack_or_a_chain_of_its_own_proves_a_path)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_BEST}, NULL);
    struct sample sample = world_sample(3, BASE, 32);
    for (enum resolved_source source = 0; source < SOURCES; source++) {
        struct candidate_path path = {s.through[0], 1};
        struct resolved r = {.kind = RESOLVED_PRECISE,
                             .source = source,
                             .node = s.through[0],
                             .paths = 1,
                             .probability = 1,
                             .posterior = &path,
                             .posterior_count = 1};
        sample.period = 1u << source;
        cr_assert_eq(profile_add(s.profile, s.w->map, s.w->self.process, &sample, &r, NULL), 0);
    }
    struct profile_counts counts;
    profile_counts(s.profile, &counts);
    cr_expect_eq(counts.by_certainty[CERTAINTY_PROVED],
                 1u << SOURCE_UNWOUND | 1u << SOURCE_CHAIN | 1u << SOURCE_VERIFIED);
    cr_expect_eq(counts.by_certainty[CERTAINTY_INFERRED], 1u << SOURCE_CID | 1u << SOURCE_COMPARED,
                 "one path alone has the CID, and yet");
    setup_close(&s);
}

Test(profile, samples_are_kept_with_their_places)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_BEST, .samples = true}, NULL);
    add(&s, 10, 300, 1);
    add(&s, 20, 0, 0.75f);
    struct contexts contexts;
    const struct cct_node *node = end_below(&s, "fun1", &contexts, 0);
    cr_assert_eq(contexts.sample_count, 2);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(contexts.samples[i].node, node);
    cr_expect_eq(contexts.sample_values[3], 20, "the first of three metrics of the second");
    cr_expect_eq(contexts.samples[1].certainty, CERTAINTY_INFERRED);
    cr_expect_float_eq(contexts.samples[1].probability, 0.75f, 1e-6);
    setup_close(&s);
}

Test(profile, each_metric_is_split)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_SPLIT}, NULL);
    for (int i = 0; i < 4; i++)
        add(&s, 100, 20, 0.75f);
    struct contexts contexts;
    expect(end_below(&s, "fun1", &contexts, 0), 300, 3, 60);
    expect(end_below(&s, "fun2", &contexts, 0), 100, 1, 20);
    cr_expect_null(contexts.doubts);
    setup_close(&s);
}

Test(profile, parts_that_a_filter_leaves)
{
    struct filter *filter;
    struct profile_counts counts;
    struct contexts contexts;
    uint64_t kept = 0;
    cr_assert_eq(filter_new(&(struct filter_options){.focus = "fun1"}, NULL, &filter, NULL), 0);
    struct setup s = setup_open(
        (struct profile_options){.ambiguity = AMBIGUOUS_SPLIT, .filter = filter, .samples = true}, NULL);
    for (int i = 0; i < 4; i++)
        add(&s, 100, 20, 0.75f);
    expect(end_below(&s, "fun1", &contexts, 0), 300, 3, 60);
    for (size_t i = 0; i < contexts.sample_count; i++)
        kept += contexts.sample_values[i * contexts.metrics->count];
    profile_counts(s.profile, &counts);
    cr_expect_eq(kept, 300, "those of samples");
    cr_expect_eq(counts.weight, 300, "that of the heading");
    cr_expect_eq(counts.left_out, 100);
    setup_close(&s);
    filter_free(filter);
}

Test(profile, all_metrics_in_bounded_memory)
{
    struct setup s = setup_open((struct profile_options){.ambiguity = AMBIGUOUS_SPLIT, .eps = 0.1}, NULL);
    for (int i = 0; i < 4; i++)
        add(&s, 100, 20, 0.75f);
    struct contexts contexts;
    expect(end_below(&s, "fun1", &contexts, 0.5), 300, 3, 60);
    cr_expect_null(end_below(&s, "fun2", &contexts, 0.5));
    expect(cct_root(contexts.tree), 100, 1, 20);
    cr_expect_null(contexts.doubts);
    setup_close(&s);
}

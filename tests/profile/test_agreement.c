/* How far paths agree, on a map made by hand. */
#include <criterion/criterion.h>

#include <math.h>

#include "profile/agreement.h"
#include "tests/infer/world.h"

enum { PATHS = 5 };

struct case_ {
    const char *functions[PATHS]; /* paths written as digits, the most probable first */
    float probabilities[PATHS];
    double wanted;
    /* Expected: */
    const char *beginning;
    bool whole;
    uint32_t paths;
    double probability;
    const char *steps; /* "depth:percent ..." */
};

static uint32_t node_of(const struct world *w, const char *functions, size_t depth)
{
    char names[64] = "";
    for (size_t i = 0; i < depth; i++)
        snprintf(names + i * 5, sizeof names - i * 5, "fun%c ", functions[i]);
    names[depth ? strlen(names) - 1 : 0] = 0;
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        if (strcmp(world_path(w, i), names) == 0)
            return i;
    }
    cr_assert_fail("no path %s", names);
    return PATHMAP_NONE;
}

/* unseen: of the innermost calls of the path `of` (its number); rate: what each is believed by; seen: the others together. */
static void expect_believed(const struct case_ *c, uint32_t of, uint32_t unseen, double rate, double seen)
{
    struct world *w = world_open();
    struct candidate_path candidates[PATHS];
    uint32_t count = 0;
    for (; count < PATHS && c->functions[count]; count++) {
        uint32_t node = TRIE_ROOT;
        for (size_t i = 0; c->functions[count][i]; i++)
            node = world_child(w, node, (unsigned)(c->functions[count][i] - '0'), (uint32_t)i * 16, 0,
                               count != of || i + unseen < strlen(c->functions[of]), 0);
    }
    world_finish(w);
    for (uint32_t i = 0; i < count; i++)
        candidates[i] = (struct candidate_path){node_of(w, c->functions[i], strlen(c->functions[i])),
                                                c->probabilities[i]};
    struct agreement *agreement;
    struct agreed agreed;
    /* The order in which the paths were met first does not matter. */
    struct candidate_path turned[PATHS];
    for (uint32_t i = 0; i < count; i++)
        turned[i] = candidates[count - 1 - i];
    cr_assert_eq(agreement_new(w->map, turned, count, &agreement, NULL), 0);
    struct resolved sample = {.posterior = candidates,
                              .posterior_count = count,
                              .factor = pow(rate, unseen) * seen,
                              .rate = rate,
                              .seen = seen};
    agreement_find(agreement, &sample, c->wanted, &agreed);
    const char *name = c->functions[0];
    cr_expect_eq(agreed.whole, c->whole, "%s: whole", name);
    uint32_t depth = agreed.whole ? (uint32_t)pathmap_path(w->map, agreed.node, NULL, 0) : agreed.depth;
    cr_expect_eq(depth, strlen(c->beginning), "%s: depth %u", name, depth);
    if (depth > 0)
        cr_expect_eq(strncmp(world_path(w, agreed.node), world_path(w, node_of(w, c->beginning, depth)),
                             strlen(c->beginning) * 5 - 1),
                     0, "%s: %s", name, world_path(w, agreed.node));
    cr_expect_eq(agreed.paths, c->paths, "%s: %u paths", name, agreed.paths);
    cr_expect_float_eq(agreed.probability, c->probability, 1e-6, "%s: %g", name, agreed.probability);
    char steps[128] = "";
    for (uint32_t i = 0; i < agreed.step_count; i++)
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%s%u:%.0f", i ? " " : "",
                 agreed.steps[i].depth, agreed.steps[i].probability * 100);
    cr_expect_str_eq(steps, c->steps, "%s: %s", name, steps);
    agreement_free(agreement);
    world_close(w);
}

static void expect_unseen_of(const struct case_ *c, uint32_t of, uint32_t unseen, double rate)
{
    expect_believed(c, of, unseen, rate, 1);
}

static void expect_unseen(const struct case_ *c, uint32_t unseen, double rate)
{
    expect_unseen_of(c, 0, unseen, rate);
}

static void expect(const struct case_ *c)
{
    expect_unseen(c, 0, 1);
}

Test(agreement, a_path_that_is_half_sure_is_whole)
{
    expect(&(struct case_){{"0123", "0143"}, {0.6f, 0.4f}, 0.5, "0123", true, 1, 0.6, "2:100"});
    expect(&(struct case_){
        {"0123", "0143", "0453"}, {0.5f, 0.3f, 0.2f}, 0.5, "0123", true, 1, 0.5, "2:80 1:100"});
    expect(&(struct case_){{"0123"}, {0.7f}, 0.5, "0123", true, 1, 0.7, ""});
}

Test(agreement, what_is_less_sure_ends_where_half_agree)
{
    expect(&(struct case_){
        {"01234", "01534", "06734"}, {0.4f, 0.35f, 0.25f}, 0.5, "01", false, 2, 0.75, "1:100"});
    /* The most probable path is not among those that agree. */
    expect(&(struct case_){
        {"0734", "01234", "01534", "01634"}, {0.4f, 0.2f, 0.2f, 0.2f}, 0.5, "01", false, 3, 0.6, "1:100"});
    /* Only the outermost function, then not even that. */
    expect(&(struct case_){{"014", "024", "034"}, {0.4f, 0.3f, 0.3f}, 0.5, "0", false, 3, 1, ""});
    expect(&(struct case_){{"14", "24", "34"}, {0.4f, 0.3f, 0.3f}, 0.5, "", false, 3, 1, ""});
    expect(&(struct case_){{"0123"}, {0.3f}, 0.5, "", false, 1, 1, ""});
}

Test(agreement, a_path_that_begins_others)
{
    expect(
        &(struct case_){{"01", "0101", "010101"}, {0.4f, 0.35f, 0.25f}, 0.5, "0101", false, 2, 0.6, "2:100"});
    expect(&(struct case_){{"01", "0121", "0131"}, {0.4f, 0.3f, 0.3f}, 0.5, "01", false, 3, 1, ""});
}

Test(agreement, unlikely_paths_are_not_counted)
{
    expect(&(struct case_){
        {"0134", "0234", "0534", "0634"}, {0.496f, 0.25f, 0.25f, 0.004f}, 0.5, "0", false, 3, 1, ""});
}

Test(agreement, the_most_probable_path_whole)
{
    expect(&(struct case_){
        {"0734", "01234", "01534", "01634"}, {0.4f, 0.2f, 0.2f, 0.2f}, 0, "0734", true, 1, 0.4, "1:100"});
    expect(
        &(struct case_){{"0123", "0124", "0153"}, {0.3f, 0.2f, 0.1f}, 0, "0123", true, 1, 0.3, "3:50 2:60"});
}

/* Each call that was never seen takes half of the probability, and each frame outside of them half of what is left of
 * the doubt. */
Test(agreement, calls_that_were_never_seen_are_left_open)
{
    expect_unseen(&(struct case_){{"0123"}, {0.5f}, 0.5, "0123", true, 1, 0.5, "2:75 1:88"}, 1, 0.5);
    expect_unseen(&(struct case_){{"0123"}, {0.4f}, 0.5, "01", false, 1, 0.6, "1:70"}, 1, 0.5);
    expect_unseen(&(struct case_){{"01234567"}, {0.125f}, 0.5, "01234", false, 1, 0.5, "4:75 3:88 1:97"}, 3,
                  0.5);
    expect_unseen(&(struct case_){{"01234567"}, {1 / 256.f}, 0.5, "", false, 1, 1, ""}, 8, 0.5);
    expect_unseen(
        &(struct case_){{"01234567"}, {1 / 256.f}, 0, "01234567", true, 1, 1 / 256., "4:3 2:12 1:25"}, 8,
        0.5);
    /* The other's calls are all seen: 0.6 and 0.2 before that. */
    expect_unseen(&(struct case_){{"0123", "0145"}, {0.3f, 0.1f}, 0.5, "01", false, 2, 0.65, "1:73"}, 1, 0.5);
}

/* Where the answer's probabilities are not scaled, those of its other paths count in full too. */
Test(agreement, unseen_calls_of_an_answer_that_is_not_scaled)
{
    const struct case_ c = {{"0123", "0145"}, {0.6f, 0.4f}, 0.5, "0123", true, 1, 0.6, "2:100"};
    expect_unseen_of(&c, 1, 2, 1);
    expect_unseen_of(
        &(struct case_){{"0123", "0145", "0165"}, {0.4f, 0.35f, 0.25f}, 0.5, "01", false, 3, 1, ""}, 1, 2, 1);
}

/* A path that was seen, and is believed by 0.4: it ends where at least half is sure, two frames outside of the last one (1 - 0.6 *
 * 0.4), and gets surer outside of that. Calls that were never seen make it less so. */
Test(agreement, what_was_seen_is_believed_in_part)
{
    expect_believed(&(struct case_){{"0123456"}, {0.4f}, 0.5, "01234", false, 1, 0.76, "3:96"}, 0, 0, 1, 0.4);
    expect_believed(&(struct case_){{"0123456"}, {0.6f}, 0.5, "0123456", true, 1, 0.6, "5:76 3:91"}, 0, 0, 1,
                    0.6);
    expect_believed(&(struct case_){{"0123456"}, {0.4f}, 0.5, "0123", false, 1, 0.654, "2:86"}, 0, 1, 0.8,
                    0.5);
}

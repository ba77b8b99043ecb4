/* test_clone.c - copies of functions for some of their callers, on small maps. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "disambig/clone/choose.h"
#include "tests/disambig/maps.h"

/* Bodies ---------------------------------------------------------------------------------------------------- */

Test(bodies, calls_lead_to_the_copy_that_was_chosen)
{
    struct bodies *bodies = bodies_new(3);
    cr_assert_not_null(bodies);
    cr_expect(bodies_count(bodies) == 3 && bodies_callee(bodies, 0, 2) == 2 && bodies_copies(bodies, 2) == 1);
    uint32_t copy = bodies_add(bodies, 2);
    cr_expect(copy == 3 && bodies_function(bodies, 3) == 2 && bodies_copy(bodies, 3) == 1 &&
              bodies_copies(bodies, 2) == 2);
    cr_assert(bodies_lead(bodies, 0, copy));
    cr_expect(bodies_callee(bodies, 0, 2) == copy && bodies_callee(bodies, 1, 2) == 2);
    struct bodies *again = bodies_again(bodies);
    cr_assert_not_null(again);
    uint32_t caller = bodies_add(bodies, 0);
    cr_expect(bodies_callee(bodies, caller, 2) == copy, "it calls what its original called");
    cr_assert(bodies_lead(bodies, 0, 2));
    cr_expect(bodies_callee(bodies, caller, 2) == copy && bodies_callee(bodies, 0, 2) == 2);
    cr_expect(bodies_count(again) == 4 && bodies_callee(again, 0, 2) == copy && bodies_copies(again, 2) == 2);
    bodies_free(again);
    bodies_free(bodies);
}

/* Maps -------------------------------------------------------------------------------------------------------- */

/* Everything that is known of a map whose calls are all direct. */
struct rig {
    struct maps maps;
    uint32_t *redirectors;
    struct bodies *bodies;
    struct cloned_map cloned;
    uint32_t pads[32];
    bool unshifted[64], clonable[8], growing[8];
    uint32_t sizes[8];
};

static void rig_ready(struct rig *rig)
{
    maps_ready(&rig->maps);
    uint32_t nodes = pathmap_node_count(rig->maps.map);
    rig->redirectors = malloc((nodes + 1ul) * sizeof *rig->redirectors);
    rig->bodies = bodies_new(rig->maps.functions);
    cr_assert(rig->redirectors && rig->bodies && nodes <= 64);
    for (uint32_t i = 0; i < nodes; i++)
        rig->redirectors[i] = pathmap_node(rig->maps.map, i).parent;
    for (unsigned f = 0; f < 8; f++) {
        rig->clonable[f] = true;
        rig->sizes[f] = 100;
    }
}

static void rig_clone(struct rig *rig)
{
    struct fathom_error err = {0};
    cloned_map_clear(&rig->cloned);
    cr_assert(cloned_map_make(rig->maps.map, rig->redirectors, rig->bodies, &rig->cloned, &err) == 0, "%s",
              err.text);
}

static size_t rig_conflicts(struct rig *rig, struct conflicts **out)
{
    struct conflicts_of of = {rig->maps.map, rig->redirectors, rig->bodies,   &rig->cloned,
                              rig->pads,     rig->unshifted,   rig->clonable, rig->growing};
    size_t count;
    cr_assert(conflicts_find(&of, out, &count, NULL) == 0);
    return count;
}

static void rig_end(struct rig *rig)
{
    cloned_map_clear(&rig->cloned);
    bodies_free(rig->bodies);
    free(rig->redirectors);
    maps_end(&rig->maps);
}

static uint64_t ambiguous(const struct rig *rig)
{
    struct maps_count count = maps_count(rig->cloned.map, rig->pads, rig->unshifted);
    return count.paths - count.paths_precise;
}

/* d is called by b and by c, which call each other. */
static void plant(struct rig *rig)
{
    maps_begin(&rig->maps, 5);
    maps_add(&rig->maps, "abcd", 16, 60);
    maps_add(&rig->maps, "acbd", 16, 40);
    rig_ready(rig);
    rig_clone(rig);
}

Test(clone, the_innermost_call_that_differs_is_a_conflict)
{
    struct rig rig = {0};
    struct conflicts *conflicts;
    plant(&rig);
    cr_assert_eq(ambiguous(&rig), 2);
    cr_assert_eq(rig_conflicts(&rig, &conflicts), 1);
    cr_expect(conflicts->body == 3 && conflicts->a == 1 && conflicts->b == 2 && conflicts->worth > 0);
    free(conflicts);
    rig.clonable[3] = false;
    cr_expect_eq(rig_conflicts(&rig, &conflicts), 0,
                 "nothing else has another frame for some of its callers");
    free(conflicts);
    rig.growing[1] = rig.growing[2] = true;
    cr_assert_eq(rig_conflicts(&rig, &conflicts), 1, "a copy of b or c parts them by its pad");
    cr_expect(conflicts->body == 1 || conflicts->body == 2);
    free(conflicts);
    rig_end(&rig);
}

Test(clone, a_copy_parts_what_no_pad_can)
{
    struct rig rig = {0};
    struct conflicts *conflicts;
    plant(&rig);
    size_t count = rig_conflicts(&rig, &conflicts);
    struct choose_budget budget = {.code = 99};
    uint32_t made;
    cr_assert_eq(choose_copies(rig.bodies, conflicts, count, rig.sizes, &budget, &made, NULL), 0);
    cr_expect(made == 0 && budget.code == 99, "its code does not fit");
    budget.code = 1000;
    cr_assert_eq(choose_copies(rig.bodies, conflicts, count, rig.sizes, &budget, &made, NULL), 0);
    cr_expect(made == 1 && budget.code < 1000 && bodies_copies(rig.bodies, 3) == 2);
    rig_clone(&rig);
    cr_expect_eq(ambiguous(&rig), 0);
    cr_expect_eq(pathmap_node_count(rig.cloned.map), pathmap_node_count(rig.maps.map));
    for (uint32_t i = 0; i < pathmap_node_count(rig.cloned.map); i++) {
        struct pathmap_node node = pathmap_node(rig.cloned.map, i);
        struct pathmap_node origin = pathmap_node(rig.maps.map, rig.cloned.origins[i]);
        cr_expect(node.height == origin.height && node.self == origin.self && node.passes == origin.passes);
        cr_expect(bodies_function(rig.bodies, node.function) == origin.function);
        cr_expect(rig.cloned.numbers[rig.cloned.origins[i]] == i &&
                  rig.cloned.bodies[rig.cloned.origins[i]] == node.function);
    }
    free(conflicts);
    rig_end(&rig);
}

Test(clone, ways_that_are_not_certain_keep_the_first_copy)
{
    struct rig rig = {0};
    struct conflicts *conflicts;
    plant(&rig);
    for (uint32_t i = 0; i < pathmap_node_count(rig.maps.map); i++)
        if (pathmap_node(rig.maps.map, i).function == 3)
            rig.redirectors[i] = PATHMAP_NONE;
    rig_clone(&rig);
    cr_expect_eq(rig_conflicts(&rig, &conflicts), 0);
    free(conflicts);
    uint32_t copy = bodies_add(rig.bodies, 3), first;
    cr_assert(bodies_lead(rig.bodies, 1, copy) && bodies_lead(rig.bodies, 2, copy));
    rig_clone(&rig);
    cr_expect_eq(pathmap_function_nodes(rig.cloned.map, copy, &first), 0);
    rig_end(&rig);
}

/* Each of four callers with each other, of which two are worth more. */
Test(clone, callers_are_split_where_it_is_worth_most)
{
    struct bodies *bodies = bodies_new(6);
    const struct conflicts conflicts[] = {
        {5, 0, 1, 1}, {5, 0, 2, 10}, {5, 1, 3, 10}, {5, 2, 3, 1}, {5, 3, CONFLICT_OTHERS, 5}};
    const uint32_t sizes[6] = {10, 10, 10, 10, 10, 10};
    struct choose_budget budget = {.code = 15};
    uint32_t made;
    cr_assert_eq(choose_copies(bodies, conflicts, 5, sizes, &budget, &made, NULL), 0);
    cr_expect_eq(made, 1);
    cr_expect(bodies_callee(bodies, 0, 5) != bodies_callee(bodies, 2, 5));
    cr_expect(bodies_callee(bodies, 1, 5) != bodies_callee(bodies, 3, 5));
    cr_expect_neq(bodies_callee(bodies, 3, 5), 5, "the others have the first copy");
    budget.code = 1000;
    cr_assert_eq(choose_copies(bodies, conflicts, 5, sizes, &budget, &made, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        cr_expect_neq(bodies_callee(bodies, conflicts[i].a, 5), bodies_callee(bodies, conflicts[i].b, 5),
                      "%u", i);
    bodies_free(bodies);
}

/* Body 5 is called through pointers: by 0 at one place, 100 times, and by 1 at another, 5 times. */
static uint32_t choose_guarded(struct bodies *bodies, struct pointed *pointed, uint64_t guards,
                               uint64_t *left)
{
    static const uint32_t sizes[6] = {10, 10, 10, 10, 10, 10};
    const struct conflicts conflicts[] = {{5, 0, 1, 10}};
    struct choose_budget budget = {1000, guards, pointed};
    uint32_t made;
    cr_assert_eq(choose_copies(bodies, conflicts, 1, sizes, &budget, &made, NULL), 0);
    *left = budget.guards;
    return made;
}

Test(clone, guards_come_where_they_are_executed_least)
{
    struct pointed_edge edges[] = {{0, 5, 0}, {1, 5, 1}};
    struct pointed_place places[] = {{.body = 0, .calls = 100}, {.body = 1, .calls = 5}};
    struct pointed pointed = {.items = edges, .places = places, .count = 2, .place_count = 2};
    struct bodies *bodies = bodies_new(6);
    uint64_t left;
    cr_expect(choose_guarded(bodies, &pointed, 4, &left) == 0 && left == 4, "no caller's calls are so few");
    cr_expect(pointed_cost(&pointed, bodies, 0, 5) == 100 && pointed_cost(&pointed, bodies, 2, 5) == 0);
    cr_expect(choose_guarded(bodies, &pointed, 200, &left) == 1 && left == 195);
    uint32_t copy = bodies_callee(bodies, 1, 5);
    cr_expect(bodies_callee(bodies, 0, 5) == 5 && copy != 5 && places[0].guards == 0 &&
              places[1].guards == 1);
    cr_expect_eq(pointed_cost(&pointed, bodies, 1, copy), 0, "it has the guard");
    struct pointed_sum sum = pointed_sum(&pointed);
    cr_expect(sum.places == 1 && sum.calls == 5 && sum.executed == 5);
    bodies_free(bodies);
    bodies = bodies_new(6);
    places[1].guards = MOVE_GUARDS_MOST;
    cr_expect_eq(pointed_cost(&pointed, bodies, 1, 5), POINTED_FULL);
    cr_expect(choose_guarded(bodies, &pointed, 200, &left) == 1 && left == 100);
    cr_expect(bodies_callee(bodies, 0, 5) != 5 && bodies_callee(bodies, 1, 5) == 5, "it has no room for one");
    bodies_free(bodies);
}

/* Which calls through pointers there are, by body, and how often they are made. */
Test(clone, calls_through_pointers_are_counted_by_body)
{
    struct rig rig = {0};
    plant(&rig);
    uint32_t nodes = pathmap_node_count(rig.maps.map);
    bool pointed[64] = {false};
    uint32_t heads[64];
    struct redirects redirectors = {rig.redirectors, heads, pointed};
    struct pointed found;
    for (uint32_t i = 0; i < nodes; i++)
        pointed[i] = pathmap_node(rig.maps.map, i).function == 3;
    cr_assert_eq(pointed_find(rig.maps.map, &redirectors, rig.bodies, &rig.cloned, &found, NULL), 0);
    cr_expect(found.count == 2 && found.place_count == 2 && found.items[0].caller == 1 &&
              found.items[1].caller == 2);
    cr_expect_eq(pointed_sum(&found).places, 0);
    pointed_clear(&found);
    cr_assert(bodies_lead(rig.bodies, 2, bodies_add(rig.bodies, 3)));
    rig_clone(&rig);
    cr_assert_eq(pointed_find(rig.maps.map, &redirectors, rig.bodies, &rig.cloned, &found, NULL), 0);
    cr_expect_eq(pointed_sum(&found).places, 1);
    pointed_clear(&found);
    rig_end(&rig);
}

/* Copies of copies: two calls further out, and then the chain of what they call. */
Test(clone, rounds_part_paths_by_chains_of_copies)
{
    struct rig rig = {0};
    maps_begin(&rig.maps, 5);
    maps_add(&rig.maps, "abcde", 16, 10);
    maps_add(&rig.maps, "acbde", 16, 10);
    rig_ready(&rig);
    rig_clone(&rig);
    uint64_t before = ambiguous(&rig);
    for (unsigned round = 0; round < 3; round++) {
        struct conflicts *conflicts;
        size_t count = rig_conflicts(&rig, &conflicts);
        struct choose_budget budget = {.code = 1000};
        uint32_t made;
        cr_assert_eq(choose_copies(rig.bodies, conflicts, count, rig.sizes, &budget, &made, NULL), 0);
        free(conflicts);
        rig_clone(&rig);
    }
    cr_expect(before == 4 && ambiguous(&rig) == 0, "%d before, %d after", (int)before, (int)ambiguous(&rig));
    cr_expect(bodies_copies(rig.bodies, 3) == 2 && bodies_copies(rig.bodies, 4) == 2);
    rig_end(&rig);
}

/* Which stacks a fold of cross-validation holds out, and whether an inferred path is theirs. */
#include <criterion/criterion.h>

#include <errno.h>

#include "infer/engine/held_out.h"
#include "tests/infer/world.h"

Test(held_out, every_fold_holds_out_another_quarter_of_the_stacks)
{
    unsigned held = 0;
    for (uint32_t stack = 1; stack <= 40; stack++) {
        const struct learned learned = {.node = 1, .stack = stack};
        unsigned folds = 0;
        for (unsigned fold = 0; fold < HELD_OUT_FOLDS; fold++)
            folds += held_out_has(fold, &learned);
        cr_expect_eq(folds, 1);
        held += held_out_has(0, &learned);
    }
    cr_expect_eq(held, 40 / HELD_OUT_FOLDS);
    cr_expect_not(held_out_has(HELD_OUT_FOLDS - 1, &(struct learned){.node = 1}), "a sample without a stack");
}

static void note(struct held_out *h, uint64_t row, uint32_t node, uint32_t stack, bool audit)
{
    const struct record record = {.kind = RECORD_SAMPLE, .sample.row = row};
    const struct observation o = {.record = &record, .learned = {.node = node, .stack = stack}};
    cr_assert_eq(held_out_note(h, &o, audit), 0);
}

Test(held_out, a_path_agrees_if_all_its_functions_do)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 2, 0);
    uint32_t left = world_child(w, root, 1, 16, 1, 1, 0), right = world_child(w, root, 2, 16, 2, 1, 0);
    uint32_t below_left = world_child(w, left, 3, 48, 0, 1, 1);
    uint32_t below_right = world_child(w, right, 3, 48, 0, 1, 1);
    world_finish(w);
    struct held_out *h = held_out_new(w->trie);
    note(h, 5, below_left, 1, false);
    note(h, 6, below_right, 2, false);
    note(h, 7, below_left, 1, true);
    note(h, 8, TRIE_NONE, 3, false);

    struct held_stack stack, other;
    struct sample of_left = {.row = 5}, of_right = {.row = 6}, of_audit = {.row = 7}, of_none = {.row = 8};
    uint32_t node = pathmap_number(w->map, below_left);
    cr_expect_eq(held_out_agrees(h, &of_left, w->map, node, &stack), 1);
    cr_expect_eq(held_out_agrees(h, &of_right, w->map, node, &other), 0, "another caller");
    cr_expect_neq(stack.path, other.path);
    cr_expect_neq(stack.number, other.number);
    cr_expect_eq(held_out_agrees(h, &of_audit, w->map, node, &other), 1);
    cr_expect_eq(stack.path, other.path);
    cr_expect_neq(stack.number, other.number, "an audit sample's stack is another");
    cr_expect_eq(held_out_agrees(h, &of_left, w->map, pathmap_node(w->map, node).parent, &stack), 0,
                 "a frame less");
    cr_expect_eq(held_out_agrees(h, &of_none, w->map, node, &stack), -ENOENT);
    held_out_free(h);
    world_close(w);
}

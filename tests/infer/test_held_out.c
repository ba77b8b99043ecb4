/* Which stacks a fold of cross-validation holds out, and whether an inferred path is theirs. */
#include <criterion/criterion.h>

#include <errno.h>

#include "infer/engine/held_out.h"
#include "tests/infer/world.h"

enum { DUMP = 1 << 16, EACH = 4 };

static struct sample sample;
static uint8_t dump[DUMP];

APART static int leaf(int n)
{
    SELF_CAPTURE(&sample, dump, DUMP);
    return n + 1;
}

APART static int left(int n)
{
    return leaf(n) + 1;
}

APART static int right(int n)
{
    return leaf(n) + 2;
}

/* The sample as the recorder announces it. */
static int take(struct held_out *h, struct world *w, enum sample_stack known, uint32_t number)
{
    struct fathom_error err = {0};
    sample.known = known;
    sample.stack_number = number;
    sample.time++;
    struct sample without = sample;
    if (known == SAMPLE_STACK_SAME)
        without.stack = NULL;
    int held = held_out_take(h, w->self.process, &without, false, &err);
    cr_assert_geq(held, 0, "%s", err.text);
    return held;
}

Test(held_out, every_fourth_stack_and_all_its_samples)
{
    struct world *w = world_open();
    struct held_out *h = held_out_new(0);
    struct trainer *trainer = trainer_new(w->trie);
    struct held_stack path, other;
    uint32_t held_left = 2 * EACH, held_right = 3 * EACH;
    left(1);
    cr_assert_gt(trainer_add(trainer, w->self.process, &sample, NULL, NULL), 0);
    struct trainer_path learned = trainer_entered(trainer);
    for (uint32_t number = 1; number <= 2 * EACH; number++)
        cr_expect_eq(take(h, w, SAMPLE_STACK_NEW, number), number % EACH == 0, "%u", number);
    cr_expect_eq(take(h, w, SAMPLE_STACK_SAME, 1), 0);
    cr_expect_eq(take(h, w, SAMPLE_STACK_SAME, held_left), 1);
    struct sample of_left = sample, of_none = sample;
    right(1);
    for (uint32_t number = held_left + 1; number <= held_right; number++)
        take(h, w, SAMPLE_STACK_NEW, number);
    struct sample of_right = sample;
    cr_assert_eq(held_out_done(h, NULL), 0);
    world_finish(w);

    uint32_t node = pathmap_number(w->map, learned.leaf);
    cr_expect_eq(held_out_agrees(h, &of_left, w->map, node, &path), 1);
    cr_expect_eq(held_out_agrees(h, &of_right, w->map, node, &other), 0, "another caller");
    cr_expect_neq(path.path, other.path);
    cr_expect_neq(path.number, other.number);
    cr_expect_eq(held_out_agrees(h, &of_left, w->map, pathmap_node(w->map, node).parent, &path), 0,
                 "a frame less");
    of_none.time += 1000;
    cr_expect_eq(held_out_agrees(h, &of_none, w->map, node, &path), -ENOENT);
    trainer_free(trainer);
    held_out_free(h);
    world_close(w);
}

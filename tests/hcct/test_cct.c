/* test_cct.c - the exact tree: known weights, wide nodes, deep paths, merging. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "hcct/cct.h"
#include "hcct/children.h"

static uint64_t weight_of(struct cct *cct, const uint32_t *items, size_t count)
{
    return cct_add(cct, items, count, (uint64_t[]){0})->self[0];
}

Test(cct, adds_up_by_path)
{
    static const uint32_t ab[] = {1, 2}, ba[] = {2, 1}, a[] = {1}, aba[] = {1, 2, 1};
    struct cct *cct = cct_new(1);
    struct cct_node *node = cct_add(cct, ab, 2, (uint64_t[]){5});
    cct_add(cct, ba, 2, (uint64_t[]){7});
    cct_add(cct, a, 1, (uint64_t[]){1});
    cct_add(cct, aba, 3, (uint64_t[]){11});
    cr_expect_eq(cct_add(cct, ab, 2, (uint64_t[]){30}), node);
    cct_add(cct, NULL, 0, (uint64_t[]){100});
    cr_expect_eq(node->self[0], 35);
    cr_expect_eq(cct_error(node), 0);
    cr_expect_eq(node->item, 2);
    cr_expect_eq(cct_parent(node)->item, 1);
    cr_expect_eq(cct_parent(cct_parent(node)), cct_root(cct));
    cr_expect_null(cct_parent(cct_root(cct)));
    cr_expect_eq(weight_of(cct, ba, 2), 7);
    cr_expect_eq(weight_of(cct, a, 1), 1);
    cr_expect_eq(weight_of(cct, aba, 3), 11);
    cr_expect_eq(cct_root(cct)->self[0], 100);
    cr_expect_eq(cct_total(cct), 154);
    cr_expect_eq(cct_count(cct), 6);
    cct_free(cct);
}

Test(cct, lists_nodes_with_weight_the_heaviest_first)
{
    static const uint32_t ab[] = {1, 2}, c[] = {3};
    struct cct *cct = cct_new(1);
    struct cct_node **nodes;
    cr_expect_eq(cct_heaviest(cct, &nodes), 0);
    free(nodes);
    cct_add(cct, NULL, 0, (uint64_t[]){100});
    struct cct_node *light = cct_add(cct, ab, 2, (uint64_t[]){5}),
                    *heavy = cct_add(cct, c, 1, (uint64_t[]){7});
    cr_assert_eq(cct_heaviest(cct, &nodes), 2);
    cr_expect_eq(nodes[0], heavy);
    cr_expect_eq(nodes[1], light);
    free(nodes);
    cct_free(cct);
}

Test(cct, weights_do_not_wrap)
{
    static const uint32_t a[] = {1};
    struct cct *cct = cct_new(1);
    cct_add(cct, a, 1, (uint64_t[]){UINT64_MAX - 1});
    cr_expect_eq(cct_add(cct, a, 1, (uint64_t[]){2})->self[0], UINT64_MAX);
    cr_expect_eq(cct_total(cct), UINT64_MAX);
    cct_free(cct);
}

/* Around every number of children at which the lists change their form. */
Test(cct, many_children)
{
    for (uint32_t children = 1; children < 200; children += 1 + children / 40) {
        struct cct *cct = cct_new(1);
        for (uint32_t round = 1; round <= 3; round++) {
            for (uint32_t i = 0; i < children; i++) {
                uint32_t item =
                    i * 2654435761u * round % children; /* in another order, some more than once */
                uint32_t path[] = {7, item};
                cct_add(cct, path, 2, (uint64_t[]){1});
            }
        }
        for (uint32_t i = 0; i < children; i++) {
            uint32_t expected = 0, path[] = {7, i};
            for (uint32_t round = 1; round <= 3; round++) {
                for (uint32_t j = 0; j < children; j++)
                    expected += j * 2654435761u * round % children == i;
            }
            cr_assert_eq(weight_of(cct, path, 2), expected, "%u of %u children", i, children);
        }
        uint32_t seen = 0;
        for (struct cct_node *n = cct_root(cct)->first_child->first_child; n; n = n->next_sibling)
            seen++;
        cr_assert_eq(seen, children, "each is in the list once");
        cr_assert_eq(cct_count(cct), children + 2);
        cct_free(cct);
    }
}

Test(cct, a_child_found_far_down_moves_to_the_front)
{
    struct cct *cct = cct_new(1);
    for (uint32_t i = 0; i < 12; i++)
        cct_child(cct, cct_root(cct), i);
    cr_expect_eq(cct_root(cct)->first_child->item, 11);
    cct_child(cct, cct_root(cct), 4); /* behind 7 others */
    cr_expect_eq(cct_root(cct)->first_child->item, 11);
    cct_child(cct, cct_root(cct), 3);
    cr_expect_eq(cct_root(cct)->first_child->item, 3);
    cr_expect_eq(cct_root(cct)->first_child->next_sibling->item, 11);
    cct_free(cct);
}

/* Children taken out at random, from narrow and wide lists, against a plain table of who is there. */
Test(cct, removal)
{
    enum { ITEMS = 300 };
    struct tree tree;
    struct cct_node *there[ITEMS] = {0};
    uint64_t r = 1;
    cr_assert(tree_init(&tree, 1, HEAD_PARENT));
    tree.edges_due = 50; /* with the cache of edges, too */
    for (unsigned step = 0; step < 100000; step++) {
        r = r * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t item = (r >> 40) % ITEMS;
        bool shrink = step / 1000 % 2;
        if (there[item] && (shrink || r >> 62 == 0)) {
            tree_remove(&tree, tree.root, there[item]);
            there[item] = NULL;
        } else if (!shrink || r >> 62 == 0) {
            struct cct_node *node = tree_child(&tree, tree.root, item);
            cr_assert_eq(node->item, item);
            cr_assert(!there[item] || there[item] == node, "found again where it was");
            there[item] = node;
        }
        if (step % 97 == 0) {
            size_t listed = 0, expected = 0;
            for (struct cct_node *n = tree.root->first_child; n; n = n->next_sibling) {
                cr_assert_eq(there[n->item], n);
                listed++;
            }
            for (uint32_t i = 0; i < ITEMS; i++)
                expected += there[i] != NULL;
            cr_assert_eq(listed, expected);
            cr_assert_eq(tree.count, expected + 1);
        }
    }
    cr_expect_gt(tree.wide_lists, 0, "the list was wide at times");
    cr_expect_not_null(tree.edges);
    tree_clear(&tree);
}

Test(cct, grafts_a_part_with_other_items)
{
    static const uint32_t part[] = {1, 2, 3}, beside[] = {4}, items[] = {0, 11, 12, 13, 14};
    struct cct *to = cct_new(1), *from = cct_new(1);
    struct cct_node *place = cct_add(to, (uint32_t[]){9, 12}, 2, (uint64_t[]){100});
    *cct_error_of(place) = 1;
    struct cct_node *node = cct_add(from, part, 2, (uint64_t[]){20});
    *cct_error_of(node) = 2;
    cct_add(from, part, 3, (uint64_t[]){30});
    cct_add(from, part, 1, (uint64_t[]){10});
    cct_add(from, beside, 1, (uint64_t[]){40});
    cr_assert_eq(cct_graft(to, place, node, items), 0);
    cr_expect_eq(place->self[0], 120, "the node's own weight");
    cr_expect_eq(cct_error(place), 3);
    cr_expect_eq(weight_of(to, (uint32_t[]){9, 12, 13}, 3), 30, "what is below it");
    cr_expect_eq(cct_total(to), 150, "and no more");
    cr_expect_eq(cct_count(to), 4);
    cr_assert_eq(cct_graft(to, cct_root(to), cct_root(from), NULL), 0);
    cr_expect_eq(weight_of(to, part, 3), 30);
    cr_expect_eq(weight_of(to, beside, 1), 40);
    cr_expect_eq(cct_total(to), 250);
    cct_free(to);
    cct_free(from);
}

Test(cct, walk_and_merge)
{
    static const uint32_t paths[][3] = {{1, 2, 3}, {1, 2, 4}, {5, 6, 7}, {1, 8, 3}};
    struct cct *a = cct_new(1), *b = cct_new(1);
    for (uint32_t i = 0; i < 4; i++) {
        if (i != 3)
            cct_add(a, paths[i], 3, (uint64_t[]){1u << i});
        if (i != 0)
            cct_add(b, paths[i], 3, (uint64_t[]){100u << i});
    }
    cct_add(b, NULL, 0, (uint64_t[]){5});
    *cct_error_of(cct_child(b, cct_root(b), 5)) = 9;
    cr_assert_eq(cct_merge(a, b), 0);
    cr_expect_eq(weight_of(a, paths[0], 3), 1);
    cr_expect_eq(weight_of(a, paths[1], 3), 202);
    cr_expect_eq(weight_of(a, paths[2], 3), 404);
    cr_expect_eq(weight_of(a, paths[3], 3), 800);
    cr_expect_eq(cct_error(cct_child(a, cct_root(a), 5)), 9);
    cr_expect_eq(cct_total(a), 1 + 202 + 404 + 800 + 5);
    cr_expect_eq(cct_count(a), 10);

    uint64_t sum = 0;
    size_t nodes = 0;
    for (struct cct_node *n = cct_root(a); n; n = cct_next(cct_root(a), n)) {
        sum += n->self[0];
        nodes++;
    }
    cr_expect_eq(nodes, 10);
    cr_expect_eq(sum, cct_total(a));
    struct cct_node *one = cct_child(a, cct_root(a), 1);
    nodes = 0;
    for (struct cct_node *n = one; n; n = cct_next(one, n))
        nodes++;
    cr_expect_eq(nodes, 6, "only what is below 1: 1, 2, 3, 4, 8, 3");
    cct_free(a);
    cct_free(b);
}

Test(cct, several_metrics)
{
    static const uint32_t path[] = {1, 2}, other[] = {1, 3};
    struct cct *a = cct_new(3), *b = cct_new(3);
    struct cct_node *node = cct_add(a, path, 2, (uint64_t[]){10, 1, UINT64_MAX});
    cct_weigh(a, node, (uint64_t[]){20, 1, 5});
    cct_add(b, path, 2, (uint64_t[]){3, 2, 0});
    cct_add(b, other, 2, (uint64_t[]){7, 5, 6});
    cr_assert_eq(cct_merge(a, b), 0);
    cr_expect_arr_eq(node->self, ((uint64_t[]){33, 4, UINT64_MAX}), 24);
    cr_expect_arr_eq(cct_add(a, other, 2, (uint64_t[]){0, 0, 1})->self, ((uint64_t[]){7, 5, 7}), 24);
    cr_expect_arr_eq(cct_parent(node)->self, ((uint64_t[]){0, 0, 0}), 24);
    cr_expect_eq(cct_total(a), 40);
    cct_free(a);
    cct_free(b);
}

Test(cct, a_path_of_a_million_frames)
{
    enum { DEPTH = 1000000 };
    uint32_t *items = calloc(DEPTH, sizeof *items);
    struct cct *a = cct_new(1), *b = cct_new(1);
    cct_add(a, items, DEPTH, (uint64_t[]){3});
    cct_add(b, items, DEPTH, (uint64_t[]){4});
    cr_assert_eq(cct_merge(a, b), 0);
    cr_expect_eq(weight_of(a, items, DEPTH), 7);
    cr_expect_eq(cct_count(a), DEPTH + 1);
    cct_free(a);
    cct_free(b);
    free(items);
}

static bool is_heavy(void *least, const struct cct_node *node, uint64_t *values)
{
    if (node->self[0] < *(const uint64_t *)least)
        return false;
    values[0] *= 10;
    return true;
}

/* Of random trees, what is chosen one by one. */
Test(cct, chooses_nodes_and_their_ancestors)
{
    for (unsigned round = 0; round < 50; round++) {
        struct cct *all = cct_new(2), *want = cct_new(2);
        uint32_t path[8];
        uint64_t least = 1 + round % 12;
        srand(round);
        for (unsigned i = 0; i < 20 * round; i++) {
            size_t depth = (size_t)rand() % 8;
            for (size_t d = 0; d < depth; d++)
                path[d] = (uint32_t)rand() % 3;
            cct_add(all, path, depth, (uint64_t[]){(uint64_t)rand() % 4, i});
        }
        for (struct cct_node *n = cct_root(all); (n = cct_next(cct_root(all), n));) {
            size_t depth = 8;
            for (const struct cct_node *up = n; cct_parent(up); up = cct_parent(up))
                path[--depth] = up->item;
            if (n->self[0] >= least)
                cct_add(want, path + depth, 8 - depth, (uint64_t[]){10 * n->self[0], n->self[1]});
        }
        struct cct *chosen = cct_choose(all, is_heavy, &least);
        cr_assert(chosen);
        cr_expect_eq(cct_count(chosen), cct_count(want));
        cr_expect_eq(cct_total(chosen), cct_total(want));
        for (struct cct_node *n = cct_root(chosen); (n = cct_next(cct_root(chosen), n));) {
            size_t depth = 8;
            for (const struct cct_node *up = n; cct_parent(up); up = cct_parent(up))
                path[--depth] = up->item;
            struct cct_node *same = cct_add(want, path + depth, 8 - depth, (uint64_t[]){0, 0});
            cr_expect(same->self[0] == n->self[0] && same->self[1] == n->self[1]);
        }
        cct_free(all);
        cct_free(want);
        cct_free(chosen);
    }
}

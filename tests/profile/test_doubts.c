/* How sure the contexts of a tree are, beside the tree. */
#include <criterion/criterion.h>

#include "profile/doubts.h"

Test(doubts, add_up_by_node)
{
    struct cct *cct = cct_new(1);
    struct doubts *doubts = doubts_new();
    struct cct_node *nodes[200], *other = cct_add(cct, (const uint32_t[]){1000}, 1, (uint64_t[]){1});
    for (uint32_t i = 0; i < 200; i++) {
        nodes[i] = cct_add(cct, &i, 1, (uint64_t[]){1});
        for (uint32_t n = 0; n <= i % 3; n++)
            cr_assert_eq(doubts_add(doubts, nodes[i], (struct doubt){.end = i, .relief = 0.5}), 0);
    }
    for (uint32_t i = 0; i < 200; i++) {
        struct doubt doubt = doubts_at(doubts, nodes[i]);
        cr_expect_float_eq(doubt.end, (double)i * (i % 3 + 1), 1e-9);
        cr_expect_float_eq(doubt.relief, 0.5 * (i % 3 + 1), 1e-9);
    }
    cr_expect_float_eq(doubts_at(doubts, other).end, 0, 0);
    doubts_free(doubts);
    doubts_free(NULL);
    cct_free(cct);
}

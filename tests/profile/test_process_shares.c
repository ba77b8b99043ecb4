/* Weights by name of the process: the heaviest, whatever the order in which they came. */
#include <criterion/criterion.h>

#include "profile/process_shares.h"

Test(process_shares, the_heaviest_come_first)
{
    static const struct {
        const char *name;
        uint64_t weight;
    } added[] = {{"sh", 1}, {"cc1", 30}, {"make", 5}, {"", 7}, {"cc1", 20}, {"as", 5}, {"ld", 0}};
    struct process_shares *s = process_shares_new();
    struct process_share out[8];
    size_t others;
    cr_assert_eq(process_shares_heaviest(s, out, 3, &others), 0);
    cr_expect_eq(others, 0);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        cr_assert_eq(process_shares_add(s, added[i].name, added[i].weight), 0);
    cr_assert_eq(process_shares_heaviest(s, out, 3, &others), 3);
    cr_expect_eq(others, 3);
    cr_expect_str_eq(out[0].name, "cc1");
    cr_expect_eq(out[0].weight, 50);
    cr_expect_str_eq(out[1].name, "");
    cr_expect_str_eq(out[2].name, "as", "of equal ones by name");
    cr_assert_eq(process_shares_heaviest(s, out, 8, &others), 6);
    cr_expect_eq(others, 0);
    cr_expect_str_eq(out[3].name, "make");
    cr_expect_str_eq(out[5].name, "ld");
    process_shares_free(s);
}

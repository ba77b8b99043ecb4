/* Weights and names in little room. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "report/text/shorten.h"
#include "report/text/weight.h"

static void shortens(const char *name, size_t capacity, const char *wanted)
{
    char *text = name_shorten(name, capacity);
    cr_expect_str_eq(text, wanted, "%zu: %s", capacity, text);
    cr_expect(strlen(text) <= capacity);
    free(text);
}

Test(shorten, what_fits_stays)
{
    shortens("std::sort(int*, int*)", 21, "std::sort(int*, int*)");
    shortens("main", 16, "main");
}

Test(shorten, arguments_go_first_then_template_arguments_then_the_middle)
{
    const char *name = "std::vector<int, std::allocator<int> >::push_back(int const&) const";
    shortens(name, 66, "std::vector<int, std::allocator<int> >::push_back(..) const");
    shortens(name, 50, "std::vector<..>::push_back(..) const");
    shortens(name, 24, "std::vecto...k(..) const");
    shortens("void visit<std::pair<int, char>, 3>(std::function<void (int)>)", 30, "void visit<..>(..)");
}

Test(shorten, operators_and_anonymous_namespaces_are_no_brackets)
{
    shortens("(anonymous namespace)::Tree::insert(long, long, long)", 45,
             "(anonymous namespace)::Tree::insert(..)");
    shortens("bool operator< <int, char>(Pair<int, char> const&)", 40, "bool operator< <int, char>(..)");
    shortens("bool operator<<int, char>(Pair<int, char> const&)", 40, "bool operator<<int, char>(..)");
    shortens("Matrix<double, 3>::operator()(unsigned, unsigned)", 40, "Matrix<double, 3>::operator()(..)");
    shortens("Box::operator->(std::integral_constant<int, 3>)", 40, "Box::operator->(..)");
}

Test(shorten, brackets_that_do_not_match_and_other_alphabets)
{
    shortens("f((((((((((((((((((((((((", 16, "f(((((...(((((((");
    shortens("a>>>>>>>>>>>>>>>>>>>>>>>b", 20, "a>>>>>>>...>>>>>>>>b");
    shortens("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 16,
             "\u00e9\u00e9\u00e9...\u00e9\u00e9\u00e9");
    char *text = name_shorten("a_name_of_more_than_sixteen", 1);
    cr_expect_eq(strlen(text), SHORTEN_LEAST);
    free(text);
}

static void weighs(uint64_t weight, const char *unit, const char *wanted)
{
    char text[WEIGHT_SIZE];
    cr_expect_str_eq(weight_format(text, weight, unit), wanted, "%s", text);
    cr_expect_leq((int)strlen(text), weight_width(weight, unit));
}

Test(weight, times_have_units)
{
    weighs(0, "ns", "0 ns");
    weighs(999, "ns", "999 ns");
    weighs(1000, "ns", "1.00 us");
    weighs(9994, "ns", "9.99 us");
    weighs(9996, "ns", "10.0 us");
    weighs(999400, "ns", "999 us");
    weighs(999600, "ns", "1.00 ms");
    weighs(34900000, "ns", "34.9 ms");
    weighs(3493000000, "ns", "3.49 s");
    weighs(7200000000000, "ns", "7200 s");
    weighs(UINT64_MAX, "ns", "18446744074 s");
}

Test(weight, counts_are_exact_as_far_as_they_can_be_read)
{
    weighs(0, "page-faults", "0");
    weighs(4047, "page-faults", "4047");
    weighs(9999999, "cycles", "9999999");
    weighs(10000000, "cycles", "10.0 M");
    weighs(3493000000, "cycles", "3.49 G");
    weighs(UINT64_MAX, "cycles", "18447 P");
}

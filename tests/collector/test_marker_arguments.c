/* The arguments of static markers, as a file's notes tell them. */
#include <criterion/criterion.h>
#include <string.h>

#include "collector/probes/marker_arguments.h"

static const char *from(const char *text)
{
    static struct marker_argument arguments[MARKER_ARGUMENTS];
    cr_assert_eq(marker_arguments_read(text, arguments), 1, "%s", text);
    return arguments[0].from;
}

Test(marker_arguments, operands_are_those_of_the_kernel)
{
    cr_expect_str_eq(from("8@%rdi"), "%di");
    cr_expect_str_eq(from("-4@%eax"), "%ax");
    cr_expect_str_eq(from("1@%sil"), "%si");
    cr_expect_str_eq(from("4@%r8d"), "%r8");
    cr_expect_str_eq(from("8@%r15"), "%r15");
    cr_expect_str_eq(from("-4@$-7"), "\\-7");
    cr_expect_str_eq(from("8@-16(%rbp)"), "-16(%bp)");
    cr_expect_str_eq(from("8@(%rax)"), "+0(%ax)");
    cr_expect_str_eq(from("2@24(%rsp)"), "+24(%sp)");
}

Test(marker_arguments, others_are_nowhere)
{
    static const char *const texts[] = {"8f@%xmm0",
                                        "8@(%rax,%rbx,8)",
                                        "4@counter(%rip)",
                                        "8@%ah",
                                        "8@%r7",
                                        "8@%r16",
                                        "8@%r8x",
                                        "3@%eax",
                                        "8@",
                                        "@",
                                        "8",
                                        "8@$",
                                        "8@$7x",
                                        "8@(%rax",
                                        "8@-(",
                                        "8@%"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_str_empty(from(texts[i]), "%s", texts[i]);
}

Test(marker_arguments, fields_are_those_of_all_places)
{
    struct marker_argument arguments[2][MARKER_ARGUMENTS] = {0};
    char text[128];
    cr_assert_eq(marker_arguments_read("-4@%edi 8@%xmm1  2@$3", arguments[0]), 3);
    cr_assert_eq(marker_arguments_read("-4@%eax 8@%rdx 2@8(%rsp) 8@%rcx", arguments[1]), 4);
    marker_arguments_fields(arguments, 2, 0, text, sizeof text);
    cr_expect_str_eq(text, "arg1=%di:s32 arg3=\\3:u16");
    marker_arguments_fields(arguments, 2, 1, text, sizeof text);
    cr_expect_str_eq(text, "arg1=%ax:s32 arg3=+8(%sp):u16");
    cr_expect_eq(marker_arguments_fields(arguments, 2, 1, text, 8), 29);
    cr_expect_str_eq(text, "arg1=%a");
}

Test(marker_arguments, of_several_types_are_none)
{
    struct marker_argument arguments[2][MARKER_ARGUMENTS] = {0};
    char text[64];
    marker_arguments_read("8@-8(%rbp) 4@%eax", arguments[0]);
    marker_arguments_read("4@-4(%rbp) 4@%ebx", arguments[1]);
    marker_arguments_fields(arguments, 2, 0, text, sizeof text);
    cr_expect_str_eq(text, "arg2=%ax:u32");
}

Test(marker_arguments, there_are_no_more_than_twelve)
{
    struct marker_argument arguments[MARKER_ARGUMENTS];
    cr_expect_eq(marker_arguments_read("", arguments), 0);
    cr_expect_eq(
        marker_arguments_read("1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al",
                              arguments),
        12);
}

/* The user's part of call chains. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "perfdata/user_chain.h"

#define USER   ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define GUEST  ((uint64_t)PERF_CONTEXT_GUEST)

/* Its addresses in hexadecimal: "1 2". */
static const char *part(enum sample_mode mode, const uint64_t *chain, uint32_t count)
{
    static char text[128];
    struct sample sample = {.mode = (uint8_t)mode, .callchain = chain, .callchain_count = count};
    struct user_chain left = user_chain_begin(&sample);
    size_t at = 0;
    text[0] = 0;
    for (uint64_t address; user_chain_next(&left, &address);)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIx64, at ? " " : "", address);
    return text;
}
#define PART(mode, ...)                                                                                      \
    part(mode, (const uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

Test(user_chain, markers_decide)
{
    for (unsigned mode = SAMPLE_MODE_UNKNOWN; mode <= SAMPLE_MODE_OTHER; mode++) {
        cr_expect_str_eq(PART(mode, USER, 1, 2), "1 2");
        cr_expect_str_eq(PART(mode, KERNEL, 0xffffffff81000000, 3, USER, 1, 2), "1 2");
        cr_expect_str_eq(PART(mode, USER, 1, KERNEL, 3, GUEST, 4, USER, 2), "1 2", "parts in any order");
        cr_expect_str_eq(PART(mode, KERNEL, 1, 2), "");
        cr_expect_str_eq(PART(mode, USER), "");
    }
}

Test(user_chain, without_a_marker_the_mode_decides)
{
    cr_expect_str_eq(PART(SAMPLE_MODE_USER, 1, 2), "1 2");
    cr_expect_str_eq(PART(SAMPLE_MODE_UNKNOWN, 1, 2), "1 2", "as perf's tools take it");
    cr_expect_str_eq(PART(SAMPLE_MODE_KERNEL, 1, 2), "");
    cr_expect_str_eq(PART(SAMPLE_MODE_OTHER, 1, 2), "", "of a guest");
    cr_expect_str_eq(PART(SAMPLE_MODE_KERNEL, 3, USER, 1), "1");
    cr_expect_str_eq(PART(SAMPLE_MODE_UNKNOWN, 1, KERNEL, 3), "1");
}

Test(user_chain, a_sample_without_a_chain_has_none)
{
    cr_expect_str_eq(part(SAMPLE_MODE_USER, NULL, 0), "");
    cr_expect_str_eq(part(SAMPLE_MODE_USER, NULL, 2), "");
}

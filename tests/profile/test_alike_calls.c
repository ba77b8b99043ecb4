/* Calls that leave the same stack, of a function whose calls are known. */
#include <criterion/criterion.h>

#include "profile/alike_calls.h"

/* Three calls of one function, the last one with a larger frame, and one of another. */
__asm__(".pushsection .text\n"
        ".type alike_callee, @function\n"
        "alike_callee: .cfi_startproc\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size alike_callee, . - alike_callee\n"
        ".type alike_other, @function\n"
        "alike_other: .cfi_startproc\n"
        "jmp alike_further\n"
        ".cfi_endproc\n"
        ".size alike_other, . - alike_other\n"
        ".type alike_further, @function\n"
        "alike_further: .cfi_startproc\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size alike_further, . - alike_further\n"
        ".globl alike_caller, alike_first, alike_second, alike_third, alike_another\n"
        ".type alike_caller, @function\n"
        "alike_caller: .cfi_startproc\n"
        "sub $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call alike_callee\n"
        "alike_first: call alike_other\n"
        "alike_another: nop\n"
        "call alike_callee\n"
        "alike_second: sub $16, %rsp\n"
        ".cfi_adjust_cfa_offset 16\n"
        "call alike_callee\n"
        "alike_third: add $24, %rsp\n"
        ".cfi_adjust_cfa_offset -24\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size alike_caller, . - alike_caller\n"
        ".popsection\n");
extern const char alike_caller[], alike_first[], alike_second[], alike_third[], alike_another[];

static struct image *image;
static uint64_t start; /* of the caller in the image */
static struct alike_callee callee, other, further;

static struct alike_callee function_of(const char *name)
{
    for (uint32_t i = 0; i < image_function_count(image); i++)
        if (image_function(image, i)->name && strcmp(image_function(image, i)->name, name) == 0)
            return (struct alike_callee){image, i};
    cr_assert_fail("no %s", name);
    return (struct alike_callee){0};
}

static void open_image(void)
{
    cr_assert_eq(image_open("/proc/self/exe", NULL, &image, NULL), 0);
    callee = function_of("alike_callee");
    other = function_of("alike_other");
    further = function_of("alike_further");
    start = image_function(image, function_of("alike_caller").function)->address;
}

static uint64_t site(const char *label)
{
    return start + (uint64_t)(label - alike_caller);
}

/* second 0: there is one. */
static void expect(struct alike_calls *calls, uint64_t of, const struct alike_callee *to, uint64_t first,
                   uint64_t second)
{
    uint32_t found;
    const uint64_t *sites = alike_calls_find(calls, image, of, to, &found);
    cr_assert_not_null(sites);
    cr_assert_eq(found, second ? 2 : 1);
    cr_expect_eq(sites[0], first);
    if (second)
        cr_expect_eq(sites[1], second);
}

Test(alike_calls, same_callee_and_frame, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    for (int again = 0; again < 2; again++) {
        expect(calls, site(alike_first), &callee, site(alike_first), site(alike_second));
        expect(calls, site(alike_second), &callee, site(alike_first), site(alike_second));
        expect(calls, site(alike_third), &callee, site(alike_third), 0);
        expect(calls, site(alike_another), &other, site(alike_another), 0);
    }
    alike_calls_free(calls);
    image_close(image);
}

/* A sample in one callee whose stack was compared with that of a sample in the other one. */
Test(alike_calls, those_of_the_callee_where_the_site_is_of_another, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    expect(calls, site(alike_first), &other, site(alike_another), 0);
    expect(calls, site(alike_another), &callee, site(alike_first), site(alike_second));
    expect(calls, site(alike_third), &other, site(alike_third), 0); /* no call leads there: as it was found */
    alike_calls_free(calls);
    image_close(image);
}

/* Nothing calls it, but alike_other may go on to it. */
Test(alike_calls, of_a_function_that_goes_on_to_the_callee, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    expect(calls, site(alike_another), &further, site(alike_another), 0);
    expect(calls, site(alike_first), &further, site(alike_another), 0);
    alike_calls_free(calls);
    image_close(image);
}

Test(alike_calls, what_is_no_call_is_alone, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    for (uint64_t at = start; at < start + 2; at++)
        expect(calls, at, &callee, at, 0);
    expect(calls, 1, &callee, 1, 0);
    expect(calls, UINT64_MAX, &callee, UINT64_MAX, 0);
    alike_calls_free(calls);
    image_close(image);
}

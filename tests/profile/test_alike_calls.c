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
        "ret\n"
        ".cfi_endproc\n"
        ".size alike_other, . - alike_other\n"
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

static void open_image(void)
{
    cr_assert_eq(image_open("/proc/self/exe", NULL, &image, NULL), 0);
    for (uint32_t i = 0; i < image_function_count(image); i++)
        if (image_function(image, i)->name && strcmp(image_function(image, i)->name, "alike_caller") == 0)
            start = image_function(image, i)->address;
    cr_assert(start);
}

static uint64_t site(const char *label)
{
    return start + (uint64_t)(label - alike_caller);
}

static void expect(struct alike_calls *calls, uint64_t of, uint32_t count, uint64_t other)
{
    uint32_t found;
    const uint64_t *sites = alike_calls_find(calls, image, of, &found);
    cr_assert_not_null(sites);
    cr_assert_eq(found, count);
    cr_expect_eq(sites[0], of);
    if (count > 1)
        cr_expect_eq(sites[1], other);
}

Test(alike_calls, same_callee_and_frame, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    for (int again = 0; again < 2; again++) {
        expect(calls, site(alike_first), 2, site(alike_second));
        expect(calls, site(alike_second), 2, site(alike_first));
        expect(calls, site(alike_third), 1, 0);
        expect(calls, site(alike_another), 1, 0);
    }
    alike_calls_free(calls);
    image_close(image);
}

Test(alike_calls, what_is_no_call_is_alone, .init = open_image)
{
    struct alike_calls *calls = alike_calls_new();
    expect(calls, start, 1, 0);
    expect(calls, start + 1, 1, 0);
    expect(calls, 1, 1, 0);
    expect(calls, UINT64_MAX, 1, 0);
    alike_calls_free(calls);
    image_close(image);
}

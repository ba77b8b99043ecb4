/* Which return addresses of a function are as good as another. */
#include <criterion/criterion.h>

#include "image/return_range.h"
#include "tests/image/build.h"

/* Calls of `f`, each 5 bytes long, so that the label behind is what it returns to: two with one row, one while a word
 * is pushed, two after that. `odd` has a byte that is no instruction behind its first call,
 * `same` has one between two of the same row. */
static const char source[] =
    ".text\n"
    ".globl f, odd, same\n"
    ".type f, @function; .type odd, @function; .type same, @function; .type g, @function\n"
    "g: ret\n"
    ".size g, . - g\n"
    "f: .cfi_startproc\n"
    "subq $8, %rsp\n"
    ".cfi_def_cfa_offset 16\n"
    "call g\n"
    "call g\n"
    "pushq $1\n"
    ".cfi_def_cfa_offset 24\n"
    "call g\n"
    "popq %rax\n"
    ".cfi_def_cfa_offset 16\n"
    "call g\n"
    "jmp 1f\n"
    "1: call g\n"
    "addq $8, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size f, . - f\n"
    "odd: .cfi_startproc\n"
    "call g\n"
    ".byte 0x06\n"
    "call g\n"
    "pushq $1\n"
    ".cfi_def_cfa_offset 16\n"
    "call g\n"
    ".byte 0x06\n"
    "popq %rax\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size odd, . - odd\n"
    "same: .cfi_startproc\n"
    "pushq $1\n"
    ".cfi_def_cfa_offset 16\n"
    "call g\n"
    ".byte 0x06\n"
    "call g\n"
    "popq %rax\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size same, . - same\n"
    ".section .note.GNU-stack, \"\", @progbits\n";

static struct image *image;

static void begin(void)
{
    build_source("calls.s", source);
    build_run("$CC -shared -nostdlib -o calls.so calls.s");
    image = build_open("calls.so");
}

static void end(void)
{
    image_close(image);
    build_clean();
}

TestSuite(return_range, .init = begin, .fini = end);

struct range {
    uint64_t start, end;
};

/* Of the call that returns to this offset from the function. */
static struct range range_of(const char *function, uint64_t returns_to)
{
    struct range r;
    image_return_range(image, build_function(image, function) + returns_to - 1, &r.start, &r.end);
    r.start -= build_function(image, function);
    r.end -= build_function(image, function);
    return r;
}

#define ONE_A  (4 + 5) /* sub $8 */
#define ONE_B  (ONE_A + 5)
#define PUSHED (ONE_B + 2 + 5)  /* push $1 */
#define TWO_A  (PUSHED + 1 + 5) /* pop */
#define TWO_B  (TWO_A + 2 + 5)  /* jmp */

Test(return_range, calls_with_one_row_stand_for_each_other)
{
    struct range a = range_of("f", ONE_A), b = range_of("f", ONE_B);
    cr_expect_eq(a.start, 0);
    cr_expect(a.end >= ONE_B && a.end < PUSHED, "to the call with another row, without it");
    cr_expect(b.start == a.start && b.end == a.end);
}

Test(return_range, one_with_a_row_of_its_own_stands_alone)
{
    struct range r = range_of("f", PUSHED);
    cr_expect(r.start >= ONE_B && r.start <= PUSHED - 1);
    cr_expect(r.end >= PUSHED && r.end < TWO_A);
}

Test(return_range, the_same_row_beyond_another_is_apart)
{
    struct range a = range_of("f", TWO_A), b = range_of("f", TWO_B);
    cr_expect_eq(a.start, PUSHED);
    cr_expect(a.start == b.start && a.end == b.end);
    cr_expect_geq(a.end, TWO_B);
}

Test(return_range, only_the_call_if_another_row_cannot_be_decoded)
{
    struct range r = range_of("odd", 5);
    cr_expect_eq(r.start, 4);
    cr_expect_eq(r.end, 5);
}

Test(return_range, what_has_the_same_row_need_not_be_decoded)
{
    struct range r = range_of("same", 2 + 5);
    cr_expect_leq(r.start, 2);
    cr_expect_geq(r.end, 2 + 5 + 1 + 5);
}

Test(return_range, outside_of_functions_only_the_address)
{
    uint64_t start, finish;
    image_return_range(image, UINT64_C(1) << 40, &start, &finish);
    cr_expect_eq(start, UINT64_C(1) << 40);
    cr_expect_eq(finish, start + 1);
}

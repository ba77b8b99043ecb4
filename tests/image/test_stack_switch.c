/* At which instructions SP is another stack's already, and CFI does not say so. */
#include <criterion/criterion.h>

#include "image/stack_switch.h"
#include "tests/image/build.h"

/* `swap` changes stacks as glibc does; `plain` does other things to SP. */
static const char source[] = ".text\n"
                             ".globl swap, plain\n"
                             ".type swap, @function; .type plain, @function\n"
                             "swap: .cfi_startproc\n"
                             "movq (%rsp), %rcx\n"
                             "movq 160(%rdi), %rsp\n"
                             "movq 120(%rdi), %rbp\n"
                             "movq 168(%rdi), %rcx\n"
                             "pushq %rcx\n"
                             "xorl %eax, %eax\n"
                             "ret\n"
                             ".cfi_endproc\n"
                             ".size swap, . - swap\n"
                             "plain: .cfi_startproc\n"
                             "andq $-64, %rsp\n"
                             "pushq %rbp\n"
                             "popq %rbp\n"
                             "movq 8(%rdi), %rsp\n"
                             "jmp 1f\n"
                             "1:\n"
                             "ret\n"
                             ".cfi_endproc\n"
                             ".size plain, . - plain\n"
                             ".section .note.GNU-stack, \"\", @progbits\n";

static struct image *image;

static void begin(void)
{
    build_source("stacks.s", source);
    build_run("$CC -shared -nostdlib -o stacks.so stacks.s");
    image = build_open("stacks.so");
}

static void end(void)
{
    image_close(image);
    build_clean();
}

TestSuite(stack_switch, .init = begin, .fini = end);

static bool at(const char *function, uint64_t offset)
{
    return image_stack_switched(image, build_function(image, function) + offset);
}

#define BEFORE 4            /* mov (%rsp), %rcx */
#define LOADED (BEFORE + 7) /* mov 160(%rdi), %rsp */
#define STILL  (LOADED + 4 + 7)
#define PUSHED (STILL + 1)

Test(stack_switch, from_the_load_to_the_push)
{
    cr_expect_not(at("swap", 0));
    cr_expect_not(at("swap", BEFORE));
    cr_expect(at("swap", LOADED));
    cr_expect(at("swap", STILL));
    cr_expect_not(at("swap", PUSHED));
    cr_expect_not(at("swap", PUSHED + 2));
}

#define ALIGNED 4 /* and $-64, %rsp */
#define POPPED  (ALIGNED + 2)
#define JUMP    (POPPED + 4) /* mov 8(%rdi), %rsp */
#define JUMPED  (JUMP + 2)

Test(stack_switch, other_changes_of_sp_are_none)
{
    cr_expect_not(at("plain", ALIGNED));
    cr_expect_not(at("plain", POPPED));
}

Test(stack_switch, ends_where_control_may_come_from_elsewhere)
{
    cr_expect(at("plain", JUMP));
    cr_expect_not(at("plain", JUMPED));
}

Test(stack_switch, outside_of_functions_there_is_none)
{
    cr_expect_not(image_stack_switched(image, UINT64_C(1) << 40));
}

/* Where Go keeps the two stacks of a thread, as its releases have it in the code of runtime.systemstack. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "image/go_stacks.h"
#include "tests/image/build.h"

#define ACCESS     "mov 0x30(%rax),%rbx\n cmp 0x50(%rbx),%rax\n je 1f\n mov (%rbx),%rdx\n cmp %rdx,%rax\n je 1f\n"
#define THE_REST   "call *%rdi\n ret\n1: jmp *%rdi\n .size runtime.systemstack, .-runtime.systemstack\n"
#define TO_CURRENT "jne 1f\n mov %rdx,%fs:0xfffffffffffffff8\n"
#define TABLE      ".section .gopclntab,\"a\"\n.long 0xfffffffb\n.byte 0, 0, 1, 8\n.quad 0\n" /* of no functions */
#define SWITCH                                                                                               \
    ".text\n.globl runtime.systemstack_switch\n.type runtime.systemstack_switch, @function\n"                \
    "runtime.systemstack_switch: ret\n .size runtime.systemstack_switch, 1\n"
#define BEGIN                                                                                                \
    ".globl runtime.systemstack\n.type runtime.systemstack, @function\nruntime.systemstack: mov "            \
    "8(%rsp),%rdi\n"

static bool read_code(const char *code, struct go_stacks *out)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", code, SWITCH, TABLE);
    build_source("stacks.s", text);
    build_run("$CC -c -o stacks.o stacks.s && ld -o stacks -e runtime.systemstack stacks.o");
    struct image *image = build_open("stacks");
    const bool known = image_go_stacks(image, out);
    image_close(image);
    return known;
}

/* Go 1.15; 1.19, position-independent; 1.25. */
Test(go_stacks, releases, .fini = build_clean)
{
    struct go_stacks go;
    cr_assert(read_code(BEGIN "mov %fs:0xfffffffffffffff8,%rax\n" ACCESS "cmp 0xc0(%rbx),%rax\n" TO_CURRENT
                              "mov 0x38(%rdx),%rbx\n sub $8,%rbx\n mov %rbx,%rsp\n" THE_REST,
                        &go));
    cr_expect_eq(go.thread, -8);
    cr_expect_eq(go.machine, 0x30);
    cr_expect_eq(go.system, 0);
    cr_expect_eq(go.current, 0xc0);
    cr_expect_eq(go.saved, 0x38);
    cr_assert(read_code(BEGIN "mov $0xffffffffffffffe8,%rcx\n mov %fs:(%rcx),%rax\n" ACCESS
                              "cmp 0xc0(%rbx),%rax\n" TO_CURRENT
                              "mov 0x38(%rdx),%rbx\n mov %rbx,%rsp\n" THE_REST,
                        &go));
    cr_expect_eq(go.thread, -24);
    cr_assert(read_code(BEGIN "mov %fs:0xfffffffffffffff8,%rax\n" ACCESS "cmp 0xb8(%rbx),%rax\n" TO_CURRENT
                              "mov 0x38(%rdx),%rsp\n" THE_REST,
                        &go));
    cr_expect_eq(go.current, 0xb8);
}

Test(go_stacks, what_is_not_known_is_refused, .fini = build_clean)
{
    struct go_stacks go;
    cr_expect_not(read_code(BEGIN "mov other@gottpoff(%rip),%rcx\n mov %fs:(%rcx,%rdx),%rax\n" ACCESS
                                  "cmp 0xc0(%rbx),%rax\n" TO_CURRENT "mov 0x38(%rdx),%rsp\n" THE_REST
                                  ".section .tdata,\"awT\"\nother: .quad 0\n",
                            &go),
                  "a library's");
    cr_expect_not(read_code(BEGIN "mov %fs:0xfffffffffffffff8,%rax\n" ACCESS THE_REST, &go));
    cr_expect_not(read_code(BEGIN "nop\n .size runtime.systemstack, 1\n", &go));
    cr_expect_not(read_code(".globl runtime.systemstack\nruntime.systemstack:\n.globl "
                            "main\nmain: nop\n",
                            &go),
                  "other code");
}

Test(go_stacks, functions_that_change_stacks, .fini = build_clean)
{
    build_source("stacks.s",
                 ".macro f name\n.globl \\name\n.type \\name, @function\n\\name: nop\n .size \\name, "
                 ".-\\name\n.endm\n"
                 "f runtime.systemstack.abi0\nf runtime.asmcgocall\nf runtime.morestack\nf "
                 "runtime.cgocallback\nf runtime.systemstack_switch\nf runtime.morestacks\nf main\n");
    build_run("$CC -c -o stacks.o stacks.s && ld -o stacks -e main stacks.o");
    struct image *image = build_open("stacks");
    static const struct {
        const char *name;
        enum go_role role;
    } wanted[] = {{"runtime.systemstack.abi0", GO_CALLS_ON_SYSTEM},
                  {"runtime.asmcgocall", GO_CALLS_C},
                  {"runtime.morestack", GO_GROWS},
                  {"runtime.cgocallback", GO_CALLED_BACK},
                  {"runtime.systemstack_switch", GO_SAVED_PC},
                  {"runtime.morestacks", GO_OTHER},
                  {"main", GO_OTHER}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint32_t f = image_function_at(image, build_function(image, wanted[i].name));
        cr_expect_eq(image_go_role(image, f), wanted[i].role, "%s", wanted[i].name);
    }
    cr_expect_eq(image_go_role(image, IMAGE_NO_FUNCTION), GO_OTHER);
    image_close(image);
}

/* As Go 1.19 and 1.23 have them: behind the call on the system stack the goroutine's g is taken back, else the SP. */
Test(go_stacks, calls_of_c, .fini = build_clean)
{
    build_source(
        "stacks.s",
        ".globl main, one, two, three, four\n.type main, @function\n.type one, @function\n.type two, "
        "@function\n.type three, @function\n.type four, @function\nmain: call *%rax\n"
        "one: mov $0xfffffffffffffff8,%rcx\n mov 0x30(%rsp),%rdi\n call *%rax\n"
        "two: mov 0x28(%rsp),%rsi\n mov %rsi,%rsp\n ret\n nop\n nop\n nop\n nop\n call *%rax\n"
        "three: mov 0x8(%rsp),%rdi\n mov 8(%rdi),%rsi\n ret\n nop\n nop\n nop\n nop\n call *%rax\n"
        "four: mov (%rsp),%rsi\n mov %rsi,%rsp\n ret\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n");
    build_run("$CC -c -o stacks.o stacks.s && ld -o stacks -e main stacks.o");
    struct image *image = build_open("stacks");
    cr_expect_eq(image_go_kept_sp(image, build_function(image, "one")), -1);
    cr_expect_eq(image_go_kept_sp(image, build_function(image, "two")), 0x28);
    cr_expect_eq(image_go_kept_sp(image, build_function(image, "three")), -1);
    cr_expect_eq(image_go_kept_sp(image, build_function(image, "four")), 0);
    image_close(image);
}

/* How much the frames of hand-written functions can grow, and why others cannot. */
#include <criterion/criterion.h>

#include "rewrite/growth/growth.h"
#include "tests/image/build.h"

#define BEGIN(name)   ".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"
#define END(name)     ".cfi_endproc\n.size " #name ", .-" #name "\n"
#define PUSH(reg, at) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n.cfi_offset " #reg ", -" #at "\n"
#define POP(reg)      "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define SUB(bytes)    "sub $" #bytes ", %rsp\n.cfi_adjust_cfa_offset " #bytes "\n"
#define ADD(bytes)    "add $" #bytes ", %rsp\n.cfi_adjust_cfa_offset -" #bytes "\n"
#define FRAMED                                                                                               \
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"
#define LEAVE "leave\n.cfi_def_cfa rsp, 8\n"

static const char code[] = ".text\n" BEGIN(leaf) "ret\n" END(leaf)
    /* Numbers of one byte: 72 + 48 is the most below 128; the CFI's 80 has bytes of padding to grow into. */
    BEGIN(plain) SUB(72) "call leaf\n" ADD(72) "ret\n" END(plain)
    /* Numbers of four bytes. */
    BEGIN(large) SUB(200) "call leaf\n" ADD(200) "ret\n" END(large)
    /* A shrink-wrapped frame: the first call is made before it is allocated, the last after it is freed. */
    BEGIN(wrapped) "call leaf\n" PUSH(rbx, 16) SUB(16) "call leaf\n" ADD(16)
        POP(rbx) "call leaf\nret\n" END(wrapped)
    /* Arguments are pushed below the pad. */
    BEGIN(pushing) PUSH(rbx, 16) SUB(8) "push $1\n.cfi_adjust_cfa_offset 8\ncall leaf\n" ADD(16)
        POP(rbx) "ret\n" END(pushing)
    /* What its caller pushed: 96(%rsp) is its first argument, and no more than 16 fits above it. */
    BEGIN(arguments)
        SUB(88) "mov 96(%rsp), %rdi\nmov 80(%rsp), %rsi\ncall leaf\n" ADD(88) "ret\n" END(arguments)
    /* Locals by BP. */
    BEGIN(framed) FRAMED "sub $32, %rsp\nmov %rdi, -8(%rbp)\ncall leaf\n" LEAVE "ret\n" END(framed)
        BEGIN(by_lea) FRAMED "push %rbx\n.cfi_offset rbx, -24\n"
                             "sub $40, %rsp\ncall leaf\nlea -8(%rbp), %rsp\npop %rbx\npop %rbp\n"
                             ".cfi_def_cfa rsp, 8\nret\n" END(by_lea) BEGIN(alloca) FRAMED
    "sub $32, %rsp\nsub %rdi, %rsp\nmov %rsp, %rdi\ncall leaf\n" LEAVE "ret\n" END(alloca) BEGIN(both) FRAMED
    "sub $32, %rsp\nmov %rdi, -24(%rbp)\nmov 16(%rsp), %rdi\ncall leaf\n" LEAVE "ret\n" END(both)
    /* Frames that cannot grow. */
    BEGIN(pushes) PUSH(rbx, 16) "call leaf\n" POP(rbx) "ret\n" END(pushes) BEGIN(full)
        SUB(120) "call leaf\n" ADD(120) "ret\n" END(full) BEGIN(popped)
            SUB(8) "call leaf\npop %rcx\n.cfi_adjust_cfa_offset -8\nret\n" END(popped) BEGIN(realigned) FRAMED
    "and $-32, %rsp\nsub $32, %rsp\ncall leaf\n" LEAVE
    "ret\n" END(realigned) BEGIN(unknown) SUB(16) "sub %rdi, %rsp\ncall leaf\nadd %rdi, %rsp\n" ADD(
        16) "ret\n" END(unknown) BEGIN(differs) SUB(16) "call leaf\nadd $16, %rsp\nret\n" END(differs)
        BEGIN(unreached) SUB(16) "call leaf\n" ADD(16) "ret\nmov %rax, %rcx\nret\n" END(unreached)
            BEGIN(jumping) SUB(16) "jmp *%rdi\n" END(jumping) BEGIN(entered)
                SUB(16) "call leaf\ninside: " ADD(16) "ret\n" END(entered) BEGIN(entering)
                    SUB(16) "call leaf\njmp inside\n" END(entering) BEGIN(zone) "mov %rbx, -16(%rsp)\n" SUB(
                        16) "call leaf\nmov (%rsp), %rbx\n" ADD(16) "ret\n" END(zone) BEGIN(below)
                        SUB(24) "mov %rbx, 8(%rsp)\n.cfi_offset rbx, -24\ncall leaf\nmov 8(%rsp), %rbx\n" ADD(
                            24) "ret\n" END(below) BEGIN(above)
                            SUB(24) "lea 32(%rsp, %rdi), %rdi\ncall leaf\n" ADD(24) "ret\n" END(above)
                                BEGIN(kept) "mov %rsp, %rdi\n" SUB(24) "call leaf\n" ADD(24) "ret\n" END(kept)
                                    BEGIN(open) SUB(24) "call leaf\nmov %rax, %rcx\n" END(
                                        open) ".globl bare\n.type bare, @function\nbare: sub $8, %rsp\ncall "
                                              "leaf\nadd $8, %rsp\nret\n.size bare, .-bare\n";

static const struct {
    const char *name;
    uint32_t most;
    enum growth_refusal refusal;
} expected[] = {
    {"leaf", 0, GROWTH_NO_FRAME},
    {"plain", 48, GROWTH_RESIZABLE},
    {"large", GROWTH_MOST, GROWTH_RESIZABLE},
    {"wrapped", 96, GROWTH_RESIZABLE},
    {"pushing", 96, GROWTH_RESIZABLE},
    {"arguments", 16, GROWTH_RESIZABLE},
    {"framed", 80, GROWTH_RESIZABLE},
    {"by_lea", 80, GROWTH_RESIZABLE},
    {"alloca", 80, GROWTH_RESIZABLE},
    {"both", 0, GROWTH_MIXED},
    {"pushes", 0, GROWTH_PUSHED},
    {"full", 0, GROWTH_NO_ROOM},
    {"popped", 0, GROWTH_POPPED},
    {"realigned", 0, GROWTH_REALIGNED},
    {"unknown", 0, GROWTH_STACK_UNKNOWN},
    {"differs", 0, GROWTH_CFI_DIFFERS},
    {"unreached", 0, GROWTH_CODE_UNREACHED},
    {"jumping", 0, GROWTH_JUMP_UNKNOWN},
    {"entered", 0, GROWTH_ENTERED},
    {"entering", 0, GROWTH_JUMPS_OUT},
    {"zone", 0, GROWTH_RED_ZONE},
    {"below", 0, GROWTH_SAVED_BELOW},
    {"above", 0, GROWTH_ADDRESS_ABOVE},
    {"kept", 0, GROWTH_ADDRESS_TAKEN},
    {"open", 0, GROWTH_ENDS_OPEN},
    {"bare", 0, GROWTH_NO_CFI},
};

static struct image *open_code(struct growth **frames)
{
    build_source("code.s", code);
    build_run("$CC -shared -nostdlib -o code.so code.s");
    struct image *image = build_open("code.so");
    struct fathom_error err = {0};
    cr_assert_eq(growth_new(image, frames, &err), 0, "%s", err.text);
    return image;
}

static uint32_t index_of(const struct image *image, const char *name)
{
    return image_function_entry(image, build_function(image, name));
}

Test(frames, of_known_functions, .fini = build_clean)
{
    struct growth *frames;
    struct image *image = open_code(&frames);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint32_t f = index_of(image, expected[i].name);
        cr_expect_str_eq(growth_refusal_text(growth_refusal(frames, f)),
                         growth_refusal_text(expected[i].refusal), "%s: %s", expected[i].name,
                         growth_refusal_text(growth_refusal(frames, f)));
        cr_expect_eq(growth_most(frames, f), expected[i].most, "%s: %u", expected[i].name,
                     growth_most(frames, f));
    }
    cr_expect_eq(growth_most(frames, image_function_count(image)), 0);
    growth_free(frames);
    image_close(image);
}

/* The return addresses of calls: five bytes each here. */
Test(frames, shifted_calls, .fini = build_clean)
{
    struct growth *frames;
    struct image *image = open_code(&frames);
    uint64_t at = build_function(image, "wrapped");
    /* call, push, sub, call, add, pop, call */
    cr_expect_not(growth_shifted(frames, at + 5));
    cr_expect(growth_shifted(frames, at + 5 + 1 + 4 + 5));
    cr_expect_not(growth_shifted(frames, at + 5 + 1 + 4 + 5 + 4 + 1 + 5));
    cr_expect_not(growth_shifted(frames, at + 7), "no return address");
    at = build_function(image, "full");
    cr_expect(growth_shifted(frames, at + 4 + 5), "a function that only lacks room");
    cr_expect(growth_is_understood(frames, index_of(image, "full")));
    cr_expect_not(growth_is_understood(frames, index_of(image, "leaf")));
    cr_expect(growth_calls(frames, index_of(image, "full")));
    cr_expect_not(growth_calls(frames, index_of(image, "leaf")));
    growth_free(frames);
    image_close(image);
}

Test(frames, every_refusal_has_a_sentence)
{
    for (int r = 0; r < GROWTH_REFUSALS; r++)
        cr_expect_not_null(growth_refusal_text((enum growth_refusal)r));
    cr_expect_not_null(growth_refusal_text(GROWTH_REFUSALS));
}

/* What covers a function twice is not changed in one place. */
Test(frames, debug_frame_refuses, .fini = build_clean)
{
    build_source("code.s", ".cfi_sections .eh_frame, .debug_frame\n.text\n" BEGIN(leaf) "ret\n" END(leaf)
                               BEGIN(plain) SUB(72) "call leaf\n" ADD(72) "ret\n" END(plain));
    build_run("$CC -shared -nostdlib -o code.so code.s");
    struct image *image = build_open("code.so");
    struct growth *frames;
    cr_assert_eq(growth_new(image, &frames, NULL), 0);
    cr_expect_eq(growth_refusal(frames, index_of(image, "plain")), GROWTH_DEBUG_FRAME);
    growth_free(frames);
    image_close(image);
}

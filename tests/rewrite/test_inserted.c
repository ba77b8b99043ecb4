/* Frames that grow by instructions that are added: which of some hand-written ones do, where, and that they do what they did. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/enlarge.h"
#include "tests/image/build.h"

#define BEGIN(name)   ".p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"
#define END(name)     ".cfi_endproc\n.size " #name ", .-" #name "\n"
#define PUSH(reg, at) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n.cfi_offset " #reg ", -" #at "\n"
#define POP(reg)      "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define LEAVE         "leave\n.cfi_def_cfa rsp, 8\n"
#define FRAMED                                                                                               \
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"

/* The CFA, for below() */
#define MARK "lea 8(%rsp), %r11\n"

/* below() returns how far its own CFA is below the address in r11; the functions that can grow return what it tells of theirs. */
static const char code[] =
    ".text\n" BEGIN(below) "mov %r11, %rax\nsub %rsp, %rax\nsub $8, %rax\nret\n" END(below)
    /* The loop leads to what follows the push. */
    BEGIN(pushes) MARK PUSH(rbx, 16) "1: call below\ndec %edi\njns 1b\n" POP(rbx) "ret\n" END(pushes)
    /* Two ends: CFI that is remembered (clang's assembler goes on from another offset then: it is given),
     * a pop of no use, arguments that are pushed. */
    BEGIN(ends) MARK PUSH(rbp, 16) PUSH(
        rbx,
        24) "push %rdi\n.cfi_adjust_cfa_offset 8\ncall below\n"
            "testb $1, (%rsp)\njne 1f\n.cfi_remember_state\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n" POP(
                rbx) POP(rbp) "ret\n1:\n.cfi_restore_state\npop %rcx\n.cfi_def_cfa_offset 24\n" POP(rbx)
                POP(rbp) "ret\n" END(ends)
    /* Nothing is saved: the push aligns. */
    BEGIN(aligns) MARK "push %rdx\n.cfi_adjust_cfa_offset 8\ncall below\n" POP(rcx) "ret\n" END(aligns)
    /* By BP: the pad is below where that is saved. */
    BEGIN(framed) MARK FRAMED "call below\npop %rbp\n.cfi_def_cfa rsp, 8\nret\n" END(framed) BEGIN(left)
        MARK FRAMED "push %rbx\n.cfi_offset rbx, -24\ncall below\nmov -8(%rbp), %rbx\n" LEAVE
                    "ret\n" END(left)
    /* What its caller pushed. */
    BEGIN(argument) "push $5\n.cfi_adjust_cfa_offset 8\ncall reads\nadd $8, %rsp\n.cfi_adjust_cfa_offset "
                    "-8\nret\n" END(argument) BEGIN(reads)
                        MARK PUSH(rbx, 16) "call below\nadd 16(%rsp), %rax\n" POP(rbx) "ret\n" END(reads)
    /* A frame that a pop frees. */
    BEGIN(popped) MARK PUSH(rbx, 16) "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall below\n"
                                     "pop %rcx\n.cfi_adjust_cfa_offset -8\n" POP(rbx) "ret\n" END(popped)
    /* A call before it saves, and a jump to another function after. */
    BEGIN(wrapped) "test %edi, %edi\nje below\ncall below\n" PUSH(rbx, 16) "call below\n" POP(
        rbx) "dec %edi\njmp pushes\n" END(wrapped)
    /* What cannot grow. */
    BEGIN(taken) PUSH(rbx, 16) "mov %rsp, %rdi\ncall below\n" POP(rbx) "ret\n" END(taken) BEGIN(end)
        PUSH(rbx, 16) "lea (%rsp), %rdi\ncall below\n" POP(rbx) "ret\n" END(end)
            BEGIN(operand) "push 8(%rsp)\n.cfi_adjust_cfa_offset 8\ncall below\nadd $8, "
                           "%rsp\n.cfi_adjust_cfa_offset -8\nret\n" END(operand) BEGIN(tail)
                               PUSH(rbx, 16) "call below\njmp below\n" END(tail)
                                   BEGIN(cold) "test %edi, %edi\njne cold.cold\nret\n" END(cold)
                                       BEGIN(cold.cold)
                                           PUSH(rbx, 16) "call below\n" POP(rbx) "ret\n" END(cold.cold);

static const struct {
    const char *name;
    bool grows, all; /* all: its calls */
    int before;      /* what it returns */
    enum growth_refusal refusal;
} expected[] = {
    {"pushes", true, true, 16, GROWTH_PUSHED},      {"ends", true, true, 32, GROWTH_PUSHED},
    {"aligns", true, true, 16, GROWTH_PUSHED},      {"framed", true, true, 16, GROWTH_PUSHED},
    {"left", true, true, 24, GROWTH_PUSHED},        {"reads", true, true, 0, GROWTH_PUSHED},
    {"argument", true, true, 21, GROWTH_PUSHED},    {"popped", true, true, 24, GROWTH_POPPED},
    {"wrapped", true, false, 16, GROWTH_PUSHED},    {"taken", false, false, 0, GROWTH_ADDRESS_TAKEN},
    {"end", false, false, 0, GROWTH_ADDRESS_ABOVE}, {"operand", false, false, 0, GROWTH_OPERAND},
    {"tail", false, false, 0, GROWTH_JUMPS_OUT},    {"cold", false, false, 0, GROWTH_PUSHED},
};
#define COUNT (sizeof expected / sizeof *expected)

struct rig {
    struct image *image;
    struct growth *growth;
    void *library;
};

static void rig_open(struct rig *rig)
{
    struct fathom_error err = {0};
    build_source("code.s", code);
    build_run("$CC -shared -Wl,-Bsymbolic -o code.so code.s");
    rig->image = build_open("code.so");
    cr_assert_eq(growth_new(rig->image, &rig->growth, &err), 0, "%s", err.text);
}

static void rig_close(struct rig *rig)
{
    if (rig->library)
        dlclose(rig->library);
    growth_free(rig->growth);
    image_close(rig->image);
}

static long call(const struct rig *rig, const char *name, long argument)
{
    long (*function)(long) = (long (*)(long))(uintptr_t)dlsym(rig->library, name); // NOLINT
    cr_assert_not_null(function);
    return function(argument);
}

Test(inserted, of_known_functions, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t f = image_function_entry(rig.image, build_function(rig.image, expected[i].name));
        cr_expect_str_eq(growth_refusal_text(growth_refusal(rig.growth, f)),
                         growth_refusal_text(expected[i].refusal), "%s: %s", expected[i].name,
                         growth_refusal_text(growth_refusal(rig.growth, f)));
        cr_expect(growth_by_insertion(rig.growth, f) == expected[i].grows, "%s", expected[i].name);
        cr_expect(growth_all_shifted(rig.growth, f) == expected[i].all, "%s: all calls", expected[i].name);
        cr_expect(growth_most(rig.growth, f) == 0 && !growth_is_understood(rig.growth, f), "%s",
                  expected[i].name);
    }
    cr_expect_not(growth_by_insertion(rig.growth, image_function_count(rig.image)));
    rig_close(&rig);
}

static int by_address(const void *a, const void *b)
{
    const struct pad *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Makes the file with a pad in each function that can grow, 16 bytes more in each, and loads it. */
static void grow(struct rig *rig, uint32_t first)
{
    struct fathom_error err = {0};
    struct enlarged file;
    struct pad pads[COUNT];
    bool movable[COUNT];
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (expected[i].grows) {
            uint64_t address = build_function(rig->image, expected[i].name);
            pads[count++] = (struct pad){address, first + (uint32_t)i * 16, 0};
        }
    qsort(pads, count, sizeof *pads, by_address);
    cr_assert_eq(enlarge_movable(rig->image, rig->growth,
                                 &(struct enlarge_plan){.pads = pads, .count = count}, movable, &err),
                 0, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        cr_expect(movable[i], "%#lx", (unsigned long)pads[i].address);
    struct enlarge_plan plan = {.pads = pads, .count = count};
    cr_assert_eq(enlarge_frames(rig->image, rig->growth, &plan, &file, &err), 0, "%s", err.text);
    cr_expect_eq(file.anew, count);
    FILE *f = fopen(build_path("grown.so"), "wb");
    cr_assert(f && fwrite(file.elf, 1, file.size, f) == file.size && fclose(f) == 0);
    enlarged_clear(&file);
    rig->library = dlopen(build_path("grown.so"), RTLD_NOW);
    cr_assert(rig->library, "%s", dlerror());
}

Test(inserted, they_grow_and_return, .fini = build_clean)
{
    for (uint32_t first = 16; first <= 1024; first *= 8) {
        struct rig rig = {0};
        rig_open(&rig);
        grow(&rig, first);
        for (size_t i = 0; i < COUNT; i++) {
            if (!expected[i].grows || strcmp(expected[i].name, "reads") == 0)
                continue;
            long pad = first + (long)i * 16;
            if (strcmp(expected[i].name, "argument") == 0) /* reads() tells of its own */
                pad = first + (long)(i - 1) * 16;
            if (strcmp(expected[i].name, "wrapped") == 0) /* and this ends in pushes() */
                pad = first;
            for (long argument = 1; argument < 4; argument++)
                cr_expect_eq(call(&rig, expected[i].name, argument), expected[i].before + pad, "%s(%ld)",
                             expected[i].name, argument);
        }
        rig_close(&rig);
    }
}

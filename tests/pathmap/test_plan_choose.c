/* test_plan_choose.c - functions written for the purpose get the kind of hook that they must. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "tests/image/build.h"
#include "tests/pathmap/equivalent.h"

static struct image *image;
static struct plan plan;
static struct plan_summary summary;
static void *data;

static void close_plan(void)
{
    plan_summary_free(&summary);
    free(data);
    image_close(image);
    build_clean();
}

static void open_plan(const char *name, const struct plan_options *options)
{
    size_t size;
    const char *reason = "";
    struct fathom_error err = {0};
    image = build_open(name);
    cr_assert_eq(plan_build(image, options, &data, &size, &summary, &err), 0, "%s", err.text);
    cr_assert_eq(plan_read(data, size, &plan, &reason), 0, "%s", reason);
    equivalent_check(image, &plan, &summary);
}

/* F(name) starts a function; nothing pads but what is said. */
static void assemble(const char *text)
{
    char *source;
    cr_assert_gt(asprintf(&source,
                          ".macro F name\n.type \\name,@function\n\\name:\n.endm\n"
                          ".macro E name\n.size \\name,.-\\name\n.endm\n.text\n"
                          "F first\n mov $1,%%eax\n ret\nE first\n%s\n"
                          "F last\n mov $1,%%eax\n ret\nE last\n .section .note.GNU-stack,\"\",@progbits\n",
                          text),
                 0);
    build_source("a.s", source);
    free(source);
    build_run("$CC -c a.s && $CC -shared -nostdlib -o a.so a.o");
    open_plan("a.so", NULL);
}

static const struct plan_hook *hook(const char *name)
{
    uint64_t address = build_function(image, name);
    for (uint32_t i = 0; i < plan.header->hook_count; i++)
        if (plan.hooks[i].function == address)
            return &plan.hooks[i];
    return NULL;
}

#define KIND(name, wanted, length)                                                                           \
    do {                                                                                                     \
        const struct plan_hook *h_ = hook(name);                                                             \
        cr_assert_not_null(h_, "no hook of %s", name);                                                       \
        cr_expect_eq(h_->kind, wanted, "%s: kind %u", name, h_->kind);                                       \
        cr_expect_eq(h_->original_length, length, "%s: %u bytes", name, h_->original_length);                \
    } while (0)

static const char *left_out(const char *name)
{
    uint64_t address = build_function(image, name);
    for (uint32_t i = 0; i < summary.left_out_count; i++)
        if (summary.left_out[i].function == address) {
            cr_expect_str_eq(summary.left_out[i].name, name);
            return summary.left_out[i].reason;
        }
    return "no";
}

#define PADDING " .p2align 4,0x90\n"

Test(plan_choose, entries, .fini = close_plan)
{
    assemble("F plain\n push %rbp\n mov %rsp,%rbp\n push %rbx\n pop %rbx\n pop %rbp\n ret\nE plain\n"
             "F marked\n endbr64\n sub $8,%rsp\n xor %eax,%eax\n add $8,%rsp\n ret\nE marked\n"
             "F to_entry\n1: dec %edi\n jnz 1b\n ret\nE to_entry\n"
             "F calls\n call first\n xor %eax,%eax\n ret\nE calls\n"
             "F pushes_and_calls\n push %rax\n call first\n pop %rax\n ret\nE pushes_and_calls\n"
             "F jumps\n jmp *8(%rdi)\n.byte 0x90,0x90\nE jumps\n");
    KIND("first", PLAN_DETOUR, 5);
    KIND("plain", PLAN_DETOUR, 5);
    KIND("marked", PLAN_DETOUR, 6);
    cr_expect_eq(hook("marked")->address, hook("marked")->function + 4);
    KIND("to_entry", PLAN_DETOUR, 5);
    KIND("calls", PLAN_DETOUR, 5);
    KIND("pushes_and_calls", PLAN_DETOUR, 6);
    KIND("jumps", PLAN_DETOUR, 5);
    cr_expect_eq(summary.left_out_count, 0);
    cr_expect_eq(plan.header->entry, 0);
}

Test(plan_choose, sleds, .fini = close_plan)
{
    assemble("F bytes\n .byte 0x90,0x90,0x90,0x90,0x90\n ret\nE bytes\n"
             "F long\n endbr64\n .byte 0x0f,0x1f,0x44,0,0\n ret\nE long\n"
             "F clang\n .byte 0x0f,0x1f,0x44,0,8\n ret\nE clang\n"
             "F more\n .skip 16,0x90\n ret\nE more\n"
             "F four\n .byte 0x90,0x90,0x90,0x90\n xor %eax,%eax\n ret\nE four\n");
    KIND("bytes", PLAN_SLED, 5);
    KIND("long", PLAN_SLED, 5);
    cr_expect_eq(hook("long")->address, hook("long")->function + 4);
    KIND("clang", PLAN_SLED, 5);
    KIND("more", PLAN_SLED, 5);
    KIND("four", PLAN_DETOUR, 6);
    cr_expect_eq(hook("long")->code_length, 5);
}

Test(plan_choose, sleds_of_compilers, .fini = close_plan)
{
    build_source("a.c", "int a(int x) { return x + 1; }\n"
                        "__attribute__((noinline)) int b(int x) { return a(x) * a(x + 2); }\n");
    build_run("$CC -O2 -fpatchable-function-entry=7,2 -c a.c -o a.o && $CC -shared -nostdlib -o a.so a.o");
    open_plan("a.so", NULL);
    KIND("a", PLAN_SLED, 5);
    KIND("b", PLAN_SLED, 5);
    cr_expect_eq(summary.kinds[PLAN_SLED], 2);
}

Test(plan_choose, short_functions, .fini = close_plan)
{
    assemble("F padded\n ret\nE padded\n" PADDING "F unpadded\n ret\nE unpadded\n"
             "F three\n xor %eax,%eax\n ret\nE three\n"
             "F zeros\n ret\nE zeros\n .skip 15,0\n"
             "F traps\n xor %eax,%eax\n ret\nE traps\n .byte 0xcc,0xcc\n"
             "F falls\n xor %eax,%eax\nE falls\n .skip 14,0x90\n");
    KIND("padded", PLAN_DETOUR, 5);
    cr_expect_eq(hook("padded")->code_length, 1);
    KIND("unpadded", PLAN_BREAKPOINT, 1);
    KIND("three", PLAN_PAD, 2);
    cr_expect_eq(hook("three")->pad, hook("padded")->address + 5);
    KIND("zeros", PLAN_BREAKPOINT, 1); /* they may be a constant */
    KIND("traps", PLAN_DETOUR, 5);
    KIND("falls", PLAN_BREAKPOINT, 2); /* into these nops */
}

Test(plan_choose, what_arrives_inside_the_entry, .fini = close_plan)
{
    assemble(
        "F inside\n xor %eax,%eax\n1: inc %eax\n cmp %edi,%eax\n jne 1b\n ret\nE inside\n"
        "F labelled\n xor %eax,%eax\n.globl label\nlabel: xor %ecx,%ecx\n xor %edx,%edx\n ret\nE labelled\n"
        ".irp name,branched,called,pointed,taken,tabled\n"
        "F \\name\n xor %eax,%eax\n.L\\name\\(): xor %ecx,%ecx\n xor %edx,%edx\n ret\nE \\name\n.endr\n"
        "F branches\n test %edi,%edi\n je .Lbranched\n ret\nE branches\n"
        "F calls\n call .Lcalled\n ret\nE calls\n"
        "F takes\n lea .Ltaken(%rip),%rax\n jmp *%rax\nE takes\n"
        "F switches\n lea table(%rip),%rdx\n movslq (%rdx,%rdi,4),%rax\n add %rdx,%rax\n notrack jmp *%rax\n"
        "E switches\n"
        " .data\n .quad .Lpointed\n .section .rodata\n .p2align 2\n"
        "table: .long switches-table,.Ltabled-table\n .text\n"
        "F behind\n mov $1,%eax\n.Lnext: xor %ecx,%ecx\n jmp .Lnext\nE behind\n"
        "F in_tail\n xor %eax,%eax\n.set .Ltail,.+5\n movabs $1,%rcx\n ret\nE in_tail\n"
        "F to_tail\n mov $2,%eax\n jmp .Ltail\nE to_tail\n");
    static const char *const entered[] = {"inside",  "labelled", "branched", "called",
                                          "pointed", "taken",    "tabled"};
    for (unsigned i = 0; i < sizeof entered / sizeof *entered; i++)
        KIND(entered[i], PLAN_BREAKPOINT, 2);
    KIND("branches", PLAN_DETOUR, 5);
    KIND("takes", PLAN_DETOUR, 7);
    KIND("switches", PLAN_DETOUR, 7);
    KIND("behind", PLAN_DETOUR, 5);
    KIND("in_tail", PLAN_DETOUR, 12); /* the tail of what is displaced stays as it is */
}

#define CODE(name, length) cr_expect_eq(hook(name)->code_length, length, "%u bytes", hook(name)->code_length)

Test(plan_choose, loops_at_the_entry, .fini = close_plan)
{
    assemble(
        "F spins\n1: add $3,%rax\n cmp $1,%edi\n je 2f\n inc %rax\n2: dec %edi\n jne 1b\n ret\nE spins\n"
        "F behind_endbr\n endbr64\n1: dec %rdi\n cmp $100,%rdi\n jne 1b\n ret\nE behind_endbr\n"
        "F bytes\n1: dec %edi\n jne 1b\n ret\nE bytes\n"
        "F long\n1: .rept 126\n add $3,%rax\n .endr\n dec %edi\n jne 1b\n ret\nE long\n"
        "F too_long\n1: .rept 127\n add $3,%rax\n .endr\n dec %edi\n jne 1b\n ret\nE too_long\n"
        "F traps\n1: add $3,%rax\n mov %rax,%rcx\n ud2\n int3\n jmp 1b\nE traps\n"
        "F behind_end\n1: test %rdi,%rdi\n je 3f\n testb $1,(%rdi)\n jne 2f\n4: mov 8(%rdi),%rdi\n jmp 1b\n"
        "3: ret\n2: inc %rax\n jmp 4b\n ret\nE behind_end\n"
        "F data\n1: dec %rdi\n je 2f\n jmp 3f\n.byte 0x0f,0x8f,0,0,0,0x70\n3: jmp 1b\n2: ret\nE data\n"
        "F calls_itself\n add $3,%rax\n cmp $1,%rax\n call calls_itself\n ret\nE calls_itself\n");
    KIND("spins", PLAN_DETOUR, 7);
    CODE("spins", 4 + 3 + 6 + 3 + 2 + 6 + 5);
    KIND("behind_endbr", PLAN_DETOUR, 7);
    CODE("behind_endbr", 3 + 4 + 6 + 5);
    KIND("bytes", PLAN_DETOUR, 5);
    CODE("bytes", 2 + 6 + 1);
    CODE("long", 126 * 4 + 2 + 6 + 5);
    CODE("too_long", 8 + 5);
    CODE("traps", 7 + 5);
    CODE("behind_end", 3 + 6 + 3 + 6 + 4 + 5 + 1 + 3 + 5); /* the block behind the return, too */
    CODE("data", 3 + 6 + 5);
    static const char *const loops[] = {"spins",    "behind_endbr", "bytes",      "long",
                                        "too_long", "traps",        "behind_end", "data"};
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
        cr_expect_eq(hook(loops[i])->flags, PLAN_LOOPS, "%s", loops[i]);
    cr_expect_eq(hook("calls_itself")->flags, 0);
    CODE("calls_itself", 8 + 5);
}

Test(plan_choose, landing_pads, .fini = close_plan)
{
    assemble(" .pushsection .gcc_except_table,\"a\",@progbits\n"
             ".Llsda: .byte 0xff,0xff,0x01\n .uleb128 8\n .uleb128 0,1,0,0\n .uleb128 1,1,2,0\n .popsection\n"
             "F landed\n .cfi_startproc\n .cfi_personality 0x1b,first\n .cfi_lsda 0x1b,.Llsda\n"
             " xor %eax,%eax\n xor %ecx,%ecx\n xor %edx,%edx\n ret\n .cfi_endproc\nE landed\n"
             "F same\n xor %eax,%eax\n xor %ecx,%ecx\n xor %edx,%edx\n ret\nE same\n");
    KIND("landed", PLAN_BREAKPOINT, 2);
    KIND("same", PLAN_DETOUR, 6);
}

/* An entry that takes two bytes, and a function of n + 1 bytes that has no padding. */
#define WANTS(name) "F " name "\n xor %eax,%eax\n1: dec %edi\n jne 1b\n ret\nE " name "\n"
#define FILLER(n)   "F filler" #n "\n .rept " #n "\n cld\n .endr\n ret\nE filler" #n "\n"
#define FIVE        " .skip 5,0x90\n"

Test(plan_choose, padding_at_most_127_bytes_above, .fini = close_plan)
{
    assemble(WANTS("wants") FILLER(121) FIVE);
    KIND("wants", PLAN_PAD, 2);
    cr_expect_eq(hook("wants")->pad - hook("wants")->address, 129);
}

Test(plan_choose, padding_128_bytes_above, .fini = close_plan)
{
    assemble(WANTS("wants") FILLER(122) FIVE);
    KIND("wants", PLAN_BREAKPOINT, 2);
}

Test(plan_choose, padding_at_most_128_bytes_below, .fini = close_plan)
{
    assemble(FIVE FILLER(120) WANTS("wants"));
    KIND("wants", PLAN_PAD, 2);
    cr_expect_eq(hook("wants")->address + 2 - hook("wants")->pad, 128);
}

Test(plan_choose, padding_129_bytes_below, .fini = close_plan)
{
    assemble(FIVE FILLER(121) WANTS("wants"));
    KIND("wants", PLAN_BREAKPOINT, 2);
}

Test(plan_choose, each_pad_is_used_once, .fini = close_plan)
{
    assemble(
        WANTS("a") WANTS("b") FILLER(9) " .skip 10,0x90\n" WANTS("c") WANTS("d")
        /* inside a function, and one that something jumps to */
        "F holds\n mov $1,%eax\n jmp 1f\n .skip 6,0x90\n1: jmp 2f\n.Llive: .skip 8,0x90\n2: ret\nE holds\n"
        "F enters\n mov $1,%eax\n jmp .Llive+3\nE enters\n");
    KIND("a", PLAN_PAD, 2);
    KIND("b", PLAN_PAD, 2);
    KIND("c", PLAN_PAD, 2);
    KIND("d", PLAN_BREAKPOINT, 2);
    cr_expect_eq(hook("b")->pad, hook("a")->pad + 5);
    cr_expect_eq(hook("c")->pad, hook("holds")->address + 7);
}

Test(plan_choose, odd_beginnings, .fini = close_plan)
{
    assemble("F unknown\n .byte 0x06,0x06,0x06,0x06,0x06,0x06\n ret\nE unknown\n"
             "F unknown_later\n mov $1,%eax\n .byte 0x06\n ret\nE unknown_later\n"
             "F trap\n int3\n mov $1,%eax\n ret\nE trap\n"
             "F trap_second\n xor %eax,%eax\n int3\n mov $1,%eax\n ret\nE trap_second\n"
             "F signal_return\n mov $15,%rax\n syscall\nE signal_return\n"
             "F transaction\n xbegin 1f\n xend\n1: ret\nE transaction\n"
             "F indirect\n call *%rax\n xor %eax,%eax\n xor %ecx,%ecx\n ret\nE indirect\n"
             "F indirect5\n mov (%rdi),%rax\n call *%rax\n xor %eax,%eax\n ret\nE indirect5\n"
             "F counts\n jrcxz 1f\n mov $1,%eax\n1: ret\nE counts\n"
             "F own_frame\n .cfi_startproc\n .cfi_def_cfa_offset 24\n mov $1,%eax\n ret\n .cfi_endproc\n"
             "E own_frame\n"
             " .cfi_startproc\n .cfi_def_cfa_offset 24\n mov $1,%eax\n ret\n .cfi_endproc\n");
    cr_expect_str_eq(left_out("unknown"), "its first instruction is unknown");
    KIND("unknown_later", PLAN_BREAKPOINT, 5);
    cr_expect_str_eq(left_out("trap"), "its first instruction cannot run at another place");
    KIND("trap_second", PLAN_BREAKPOINT, 2);
    cr_expect_str_eq(left_out("signal_return"), "it is a signal return, which is recognised by its bytes");
    cr_expect_str_eq(left_out("transaction"), "its first instruction cannot run at another place");
    KIND("indirect", PLAN_BREAKPOINT, 2); /* its return address is inside five bytes */
    KIND("indirect5", PLAN_DETOUR, 5);
    KIND("counts", PLAN_DETOUR, 7);
    cr_expect_str_eq(left_out("own_frame"), "its frame does not start like a function's");
    cr_expect_eq(summary.left_out_count, 5); /* the nameless part is no function */
}

static bool skips_main(void *context, const struct image *of, uint32_t function)
{
    const char *name = image_function(of, function)->name;
    ++*(unsigned *)context;
    return name && strcmp(name, "main") == 0;
}

Test(plan_choose, programs_and_options, .fini = close_plan)
{
    unsigned asked = 0;
    struct plan_options options = {.skip = skips_main, .context = &asked, .breakpoints_only = true};
    build_source("a.c",
                 "#include <stdio.h>\nint a(void) { return puts(\"a\"); }\nint main(void) { return a(); }\n");
    build_run("$CC -O2 -fno-inline -o a a.c");
    open_plan("a", NULL);
    cr_expect_eq(plan.header->entry, build_function(image, "_start"));
    cr_expect_null(hook("_start"));
    cr_expect_null(hook("puts@plt"));
    cr_expect_not_null(hook("main"));
    uint32_t all = plan.header->hook_count;
    plan_summary_free(&summary);
    free(data);
    size_t size;
    cr_assert_eq(plan_build(image, &options, &data, &size, &summary, NULL), 0);
    cr_assert_eq(plan_read(data, size, &plan, NULL), 0);
    cr_expect_eq(plan.header->hook_count, all - 1);
    cr_expect_eq(summary.kinds[PLAN_BREAKPOINT], all - 1);
    cr_expect_eq(asked, all);
    cr_expect_null(hook("main"));
    cr_expect_eq(plan.header->build_id_size, image_build_id(image)->size);
}

Test(plan_choose, addresses_as_numbers_in_a_fixed_program, .fini = close_plan)
{
    build_source("a.s",
                 " .text\n .globl _start\n .type _start,@function\n .type a,@function\n .type b,@function\n"
                 "_start: mov $.La,%edi\n jmp *%rdi\n .size _start,.-_start\n"
                 "a: xor %eax,%eax\n.La: xor %ecx,%ecx\n xor %edx,%edx\n ret\n .size a,.-a\n"
                 "b: xor %eax,%eax\n.Lb: xor %ecx,%ecx\n xor %edx,%edx\n ret\n .size b,.-b\n"
                 " .data\n .quad .Lb\n .section .note.GNU-stack,\"\",@progbits\n");
    build_run("$CC -c a.s && $CC -no-pie -nostdlib -static -o a a.o");
    open_plan("a", NULL);
    KIND("a", PLAN_BREAKPOINT, 2);
    KIND("b", PLAN_BREAKPOINT, 2);
}

Test(plan_choose, an_image_without_functions)
{
    struct image *bare;
    struct fathom_error err = {0};
    build_source("a.s", " .text\n nop\n .section .note.GNU-stack,\"\",@progbits\n");
    build_run("$CC -c a.s && $CC -shared -nostdlib -o a.so a.o");
    bare = build_open("a.so");
    size_t size;
    cr_assert_eq(plan_build(bare, NULL, &data, &size, NULL, &err), 0, "%s", err.text);
    cr_assert_eq(plan_read(data, size, &plan, NULL), 0);
    cr_expect_eq(plan.header->hook_count, 0);
    free(data);
    image_close(bare);
    build_clean();
}

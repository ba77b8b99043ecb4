/* test_uprobe_site.c - which instruction of a function is watched. */
#include <criterion/criterion.h>

#include "pathmap/train/uprobe_site.h"
#include "tests/image/build.h"

#define F(name, code)                                                                                        \
    ".globl " name "\n.type " name ",@function\n" name ":\n" code "\n.size " name ",.-" name "\n"

static const char source[] = ".text\n" F("push", "push %rbp\n ret") F("high_push", "push %r12\n ret")
    F("endbr", "endbr64\n push %rbx\n ret") F("endbr_sub", "endbr64\n sub $8,%rsp\n ret")
        F("moves", "mov %rdi,%rax\n mov $5,%ecx\n lea 8(%rdi),%rdx\n xor %esi,%esi\n push %rbx\n ret")
            F("sub", "sub $24,%rsp\n push %rax\n ret") F("sets_sp", "mov %rdi,%rsp\n push %rax\n ret")
                F("leas_sp", "lea -8(%rsp),%rsp\n push %rax\n ret")
                    F("loads_sp", "mov 8(%rdi),%rsp\n push %rax\n ret") F("immediate_sp",
                                                                          "mov $5,%esp\n push %rax\n ret")
                        F("high_register", "mov %rdi,%r12\n mov $5,%r12d\n push %rax\n ret")
                            F("stores_sp", "mov %rsp,(%rdi)\n push %rax\n ret")
                                F("sled", ".byte 0x0f,0x1f,0x44,0,0\n ret") F("nop", "nop\n ret")
                                    F("long_nop", ".byte 0x66,0x0f,0x1f,0x44,0,0\n push %rax\n ret")
                                        F("branch", "test %edi,%edi\n je 1f\n push %rax\n 1: ret")
                                            F("jump", "jmp push") F("call", "mov %edi,%eax\n call push\n ret")
                                                F("indirect", "jmp *%rdi") F("returns", "ret") F(
                                                    "stack_pointer_test", "test %rsp,%rsp\n push %rax\n ret")
                                                    F("evex", "vpbroadcastb %esi,%ymm17\n push %rax\n ret")
                                                        F("vex", "vmovd %esi,%xmm1\n ret")
                                                            F("bad", ".byte 0x06\n ret");

static struct image *image;
static struct insn_reader *reader;

static void set_up(void)
{
    build_source("sites.s", source);
    build_run("cc -shared -nostdlib -o sites.so sites.s");
    image = build_open("sites.so");
    reader = insn_reader_new();
}

static void tear_down(void)
{
    insn_reader_free(reader);
    image_close(image);
    build_clean();
}

TestSuite(uprobe_site, .init = set_up, .fini = tear_down);

static void is_at(const char *name, int offset, bool emulated)
{
    struct uprobe_site site;
    uint64_t address = build_function(image, name);
    uint32_t function = image_function_entry(image, address);
    cr_assert_neq(function, IMAGE_NO_FUNCTION, "%s", name);
    bool found = uprobe_site_choose(image, function, reader, &site);
    cr_assert_eq(found, offset >= 0, "%s", name);
    if (!found)
        return;
    cr_expect_eq(site.address - address, (uint64_t)offset, "%s: at %d, not %d", name,
                 (int)(site.address - address), offset);
    cr_expect_eq(site.emulated, emulated, "%s", name);
}

Test(uprobe_site, takes_what_the_kernel_emulates)
{
    is_at("push", 0, true);
    is_at("high_push", 0, true);
    is_at("sled", 0, true);
    is_at("nop", 0, true);
    is_at("jump", 0, true);
    is_at("branch", 2, true);
    is_at("call", 2, true);
    is_at("endbr", 4, true);
    is_at("moves", 14, true);
    is_at("high_register", 9, true);
}

Test(uprobe_site, stays_at_the_entry_otherwise)
{
    is_at("sub", 0, false);
    is_at("endbr_sub", 0, false);
    is_at("indirect", 0, false);
    is_at("returns", 0, false);
    is_at("long_nop", 0, false);
}

Test(uprobe_site, never_goes_past_a_change_of_sp)
{
    is_at("sets_sp", 0, false);
    is_at("leas_sp", 0, false);
    is_at("loads_sp", 0, false);
    is_at("immediate_sp", 0, false);
    is_at("stores_sp", 0, false); /* it could, but is not told from one that sets SP */
    is_at("stack_pointer_test", 0, false);
}

Test(uprobe_site, needs_code_that_can_be_read)
{
    is_at("bad", -1, false);
}

Test(uprobe_site, leaves_vector_instructions_alone)
{
    is_at("evex", -1, false);
    is_at("vex", -1, false);
}

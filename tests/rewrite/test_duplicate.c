/* Which checks duplicated functions have, and what is logged. What they do is tried by tests/streams/duplicate.test and by random programs. */
#include <criterion/criterion.h>

#include <errno.h>

#include "image/code/access.h"
#include "rewrite/duplicate/duplicate.h"
#include "tests/image/build.h"

/* nested(): an inner loop with one load and an outer one with another; spins(): a loop that waits; carries(): a loop in which CF is always
 * live; strings(): a repeated store; calls_in(): a loop that calls; odd() and even() call each other, and leaf() nothing. */
static const char program[] =
    ".macro f name\n.p2align 4\n.type \\name, @function\n\\name:\n.cfi_startproc\n.endm\n"
    ".macro end name\n.cfi_endproc\n.size \\name, .-\\name\n.endm\n"
    ".text\n"
    "f nested\n xor %eax, %eax\n1: mov (%rdi), %rcx\n2: add (%rsi, %rcx, 8), %rax\n dec %rcx\n jnz 2b\n add "
    "$8, %rdi\n"
    " dec %edx\n jnz 1b\n ret\nend nested\n"
    "f passes\n1: mov (%rdi), %rcx\n test %rcx, %rcx\n jz 3f\n2: add (%rsi, %rcx, 8), %rax\n dec %rcx\n jnz "
    "2b\n"
    "3: add $8, %rdi\n dec %edx\n jnz 1b\n ret\nend passes\n"
    "f spins\n1: mov (%rdi), %eax\n test %eax, %eax\n jz 1b\n ret\nend spins\n"
    "f carries\n stc\n1: lea 8(%rdi), %rdi\n adc (%rdi), %rax\n dec %edx\n jnz 1b\n ret\nend carries\n"
    "f strings\n mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret\n nop\n nop\n nop\n nop\nend strings\n"
    "f calls_in\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n mov %edi, %ebx\n1: call odd\n dec "
    "%ebx\n"
    " jnz 1b\n pop %rbx\n.cfi_def_cfa_offset 8\n ret\nend calls_in\n"
    "f odd\n sub $8, %rsp\n.cfi_def_cfa_offset 16\n call even\n add $8, %rsp\n.cfi_def_cfa_offset 8\n "
    "ret\nend odd\n"
    "f even\n sub $8, %rsp\n.cfi_def_cfa_offset 16\n call odd\n add $8, %rsp\n.cfi_def_cfa_offset 8\n "
    "ret\nend even\n"
    "f leaf\n mov %fs:0, %rax\n mov (%rax), %rax\n ret\nend leaf\n"
    "f segment\n mov %gs:0, %rax\n ret\n nop\n nop\n nop\n nop\nend segment\n"
    ".section .init, \"ax\"\n.globl _init\n.type _init, @function\n_init: ret\n";

struct rig {
    struct image *image;
    struct calls *calls;
    struct duplicated made;
};

static void rig_open(struct rig *rig)
{
    struct fathom_error err = {0};
    build_source("d.s", program);
    build_run("$CC -shared -nostartfiles -Wl,--build-id -o d.so d.s");
    rig->image = build_open("d.so");
    cr_assert(calls_build(rig->image, &rig->calls, &err) == 0, "%s", err.text);
}

static void rig_close(struct rig *rig)
{
    duplicated_clear(&rig->made);
    calls_free(rig->calls);
    image_close(rig->image);
}

static int duplicate(struct rig *rig, struct duplicate_options options, const char *const *functions)
{
    struct fathom_error err = {0};
    bool chosen[64] = {false};
    for (; *functions; functions++)
        chosen[image_function_entry(rig->image, build_function(rig->image, *functions))] = true;
    duplicated_clear(&rig->made);
    options.chosen = chosen;
    options.loads = options.stores = true;
    int rc = duplicate_image(rig->image, rig->calls, &options, &rig->made, &err);
    if (rc < 0)
        cr_log_info("%s", err.text);
    return rc;
}

#define CHOSEN(...)                                                                                          \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

Test(duplicate, loops_have_checks_unless_they_are_boring, .fini = build_clean)
{
    static const struct {
        const char *function;
        int32_t boring;
        uint32_t checks, skipped, unchecked;
        size_t sites;
    } cases[] = {
        {"nested", DUPLICATE_LOOPS_ALL, 1, 0, 0, 2}, /* each round of the outer loop passes the inner check */
        {"nested", 0, 1, 0, 0, 2},
        {"nested", 1, 1, 1, 0, 1}, /* the inner loop: what is in it is not logged */
        {"nested", 2, 0, 2, 0, 0},
        {"nested", DUPLICATE_LOOPS_NONE, 0, 0, 0, 2},
        {"passes", 0, 2, 0, 0, 2}, /* not here: it may leave out the inner loop */
        {"passes", 1, 1, 1, 0, 1},
        {"spins", 0, 1, 0, 0, 1},
        {"spins", 4, 0, 1, 0, 0},
        {"carries", 0, 0, 0, 1, 1}, /* no place for a check: the flags are live everywhere */
        {"calls_in", 100, 1, 0, 0, 0},
        {"strings", 4, 0, 0, 0, 1},
        {"leaf", 4, 0, 0, 0, 1}, /* not by FS */
    };
    struct rig rig = {0};
    rig_open(&rig);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct duplicate_options options = {.entries = DUPLICATE_ENTRIES_NONE,
                                                  .boring = cases[i].boring};
        cr_assert(duplicate(&rig, options, CHOSEN(cases[i].function)) == 0, "%zu", i);
        const struct duplicated *made = &rig.made;
        cr_expect(made->functions == 1 && made->entry_checks == 0, "%zu", i);
        cr_expect(made->loop_checks == cases[i].checks, "%zu: %u checks", i, made->loop_checks);
        cr_expect(made->boring == cases[i].skipped, "%zu: %u boring", i, made->boring);
        cr_expect(made->unchecked == cases[i].unchecked, "%zu: %u unchecked", i, made->unchecked);
        cr_expect(made->site_count == cases[i].sites, "%zu: %zu sites", i, made->site_count);
    }
    cr_expect(rig.made.unlogged[ACCESS_SEGMENT] == 1);
    rig_close(&rig);
}

Test(duplicate, entries_have_checks_as_chosen, .fini = build_clean)
{
    /* calls_in() is a root; odd() is called by even(), which is further from it */
    static const uint32_t checks[] = {[DUPLICATE_ENTRIES_ALL] = 4,
                                      [DUPLICATE_ENTRIES_CALLERS] = 3,
                                      [DUPLICATE_ENTRIES_CYCLES] = 2,
                                      [DUPLICATE_ENTRIES_NONE] = 0};
    struct rig rig = {0};
    rig_open(&rig);
    for (unsigned e = 0; e < 4; e++) {
        const struct duplicate_options options = {.entries = (enum duplicate_entries)e,
                                                  .boring = DUPLICATE_LOOPS_NONE};
        cr_assert(duplicate(&rig, options, CHOSEN("calls_in", "odd", "even", "leaf")) == 0);
        cr_expect(rig.made.entry_checks == checks[e] && rig.made.functions == 4, "%u: %u", e,
                  rig.made.entry_checks);
    }
    rig_close(&rig);
}

Test(duplicate, sites_are_those_of_the_old_code, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    const struct duplicate_options options = {.boring = DUPLICATE_LOOPS_ALL};
    cr_assert(duplicate(&rig, options, CHOSEN("nested", "strings")) == 0);
    cr_assert(rig.made.site_count == 3);
    uint64_t nested = build_function(rig.image, "nested"), last = 0;
    unsigned found = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct duplicate_site *site = &rig.made.sites[i];
        cr_expect(site->pc > last);
        last = site->pc;
        found += site->address == nested + 2 && site->load && !site->store && site->size == 8;
        found += site->form == ACCESS_STRING && site->store;
    }
    cr_expect(found == 2);
    rig_close(&rig);
}

Test(duplicate, refuses_code_that_uses_gs, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    cr_expect(duplicate(&rig, (struct duplicate_options){0}, CHOSEN("segment")) == -ENOTSUP);
    rig_close(&rig);
}

/* Functions moved into a new segment: edited, cloned, refused. They run in this process. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/move/move.h"
#include "image/cfi/cfi.h"
#include "image/code/code.h"
#include "tests/image/build.h"

/* depth() returns its CFA, grows(n) and pushes() how far it is below their own (and n): with and without a "sub".
 * twice() returns the difference of two calls of pushes(). through(f) calls f, and vague(f) by the register that guards use. */
static const char macros[] =
    ".macro f name\n.p2align 4\n.type \\name, @function\n\\name:\n.cfi_startproc\n.endm\n"
    ".macro end name\n.cfi_endproc\n.size \\name, .-\\name\n.endm\n";
static const char program[] =
    ".text\n"
    "f depth\n lea 8(%rsp), %rax\n ret\nend depth\n"
    "f grows\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n sub $0x20, %rsp\n.cfi_def_cfa_offset "
    "48\n"
    " mov %rdi, 8(%rsp)\n lea 0x30(%rsp), %rbx\n call depth\n sub %rax, %rbx\n mov %rbx, %rax\n add 8(%rsp), "
    "%rax\n"
    " add $0x20, %rsp\n.cfi_def_cfa_offset 16\n pop %rbx\n.cfi_def_cfa_offset 8\n ret\nend grows\n"
    "f pushes\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n lea 16(%rsp), %rbx\n call depth\n"
    " sub %rax, %rbx\n mov %rbx, %rax\n pop %rbx\n.cfi_def_cfa_offset 8\n ret\nend pushes\n"
    "f twice\n push %r12\n.cfi_def_cfa_offset 16\n.cfi_offset 12, -16\n call pushes\n mov %rax, %r12\n call "
    "pushes\n"
    " sub %r12, %rax\n pop %r12\n.cfi_def_cfa_offset 8\n ret\nend twice\n"
    "f through\n sub $24, %rsp\n.cfi_def_cfa_offset 32\n mov %rdi, 8(%rsp)\n call *8(%rsp)\n add $24, "
    "%rsp\n.cfi_def_cfa_offset 8\n ret\nend through\n"
    "f vague\n push %rbx\n.cfi_def_cfa_offset 16\n mov %rdi, %r11\n call *%r11\n pop "
    "%rbx\n.cfi_def_cfa_offset 8\n ret\nend vague\n"
    "f entered\n nop\n nop\n nop\n nop\n nop\n nop\n xor %eax, %eax\n ret\nend entered\n"
    "f intruder\n test %edi, %edi\n jne entered + 6\n xor %eax, %eax\n ret\nend intruder\n"
    "f leaver\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n test %edi, %edi\n jne stray\n mov "
    "%edi, %eax\n"
    " pop %rbx\n.cfi_def_cfa_offset 8\n ret\nend leaver\n"
    "f stray\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n mov $7, %eax\n pop %rbx\n.cfi_def_cfa_offset 8\n "
    "ret\n"
    "end stray\n"
    /* two ends, the second behind CFI that is remembered */
    "f ends\n push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n lea 16(%rsp), %rax\n sub %rdi, %rax\n"
    " test %edi, %edi\n jne 1f\n.cfi_remember_state\n pop %rbx\n.cfi_def_cfa_offset 8\n ret\n"
    "1:\n.cfi_restore_state\n pop %rbx\n.cfi_def_cfa_offset 8\n ret\nend ends\n"
    "f label\n lea 1f(%rip), %rax\n push %rax\n.cfi_def_cfa_offset 16\n ret\n1: ret\nend label\n"
    "f tiny\n ret\nend tiny\n"
    ".p2align 0\n.type bare, @function\nbare: xor %eax, %eax\n nop\n nop\n nop\n nop\n ret\n.size bare, "
    ".-bare\n"
    "f computed\n lea labels(%rip), %rax\n jmp *(%rax, %rdi, 8)\n1: mov $11, %eax\n ret\n2: mov $22, %eax\n "
    "ret\n"
    "end computed\n"
    "f chosen\n lea table(%rip), %rax\n movslq (%rax, %rdi, 4), %rdi\n add %rdi, %rax\n jmp *%rax\n"
    "3: mov $33, %eax\n ret\n4: mov $44, %eax\n ret\n5: mov $55, %eax\n ret\nend chosen\n"
    /* what seems to be an object inside of the table */
    "f biased\n lea table + 4(%rip), %rax\n mov (%rax), %eax\n ret\nend biased\n"
    ".section .data.rel.ro, \"aw\"\nlabels: .quad 1b, 2b\n"
    ".section .rodata\n.p2align 2\ntable: .long 3b - table, 4b - table, 5b - table\n";

/* What has addresses: by_lea() and by_word() those of target(), by_symbol() that of shown(), alone() its own. */
static const char addresses[] = ".text\n"
                                "f target\n mov $5, %eax\n ret\nend target\n"
                                ".globl shown\nf shown\n mov $6, %eax\n ret\nend shown\n"
                                "f by_lea\n lea target(%rip), %rax\n ret\nend by_lea\n"
                                "f by_word\n mov words(%rip), %rax\n ret\nend by_word\n"
                                "f by_symbol\n mov shown@GOTPCREL(%rip), %rax\n ret\nend by_symbol\n"
                                "f alone\n lea alone(%rip), %rax\n ret\nend alone\n"
                                "f alone_too\n lea alone(%rip), %rax\n ret\nend alone_too\n"
                                ".section .data.rel.ro, \"aw\"\nwords: .quad target, alone\n";

struct rig {
    struct image *image;
    struct move_survey *survey;
    struct move_result result;
    void *library;
};

static void rig_source(void)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s", macros, program);
    build_source("m.s", text);
}

static void rig_open_source(struct rig *rig, const char *source)
{
    struct fathom_error err = {0};
    char text[8192];
    snprintf(text, sizeof text, "%s%s", macros, source);
    build_source("m.s", text);
    build_run("$CC -shared -Wl,--build-id -o m.so m.s");
    rig->image = build_open("m.so");
    cr_assert(move_survey_new(rig->image, &rig->survey, &err) == 0, "%s", err.text);
}

static void rig_open(struct rig *rig)
{
    rig_open_source(rig, program);
}

static void rig_close(struct rig *rig)
{
    if (rig->library)
        dlclose(rig->library);
    move_result_free(&rig->result);
    move_survey_free(rig->survey);
    image_close(rig->image);
}

/* The address of a function's instruction with this number. */
static uint64_t at(const struct rig *rig, const char *function, unsigned number)
{
    uint64_t address = build_function(rig->image, function);
    struct code_insn insn;
    for (; number; number--, address += insn.length) {
        size_t size;
        const uint8_t *bytes = image_bytes(rig->image, address, &size);
        cr_assert(bytes && code_read(bytes, size, address, &insn));
    }
    return address;
}

/* A copy of a function with so many edits. */
#define MOVED(function, changes, number)                                                                     \
    {                                                                                                        \
        .address = at(&rig, function, 0), .edits = (changes), .edit_count = (number)                         \
    }

/* Moves and checks. */
static void apply(struct rig *rig, const struct move_plan *plan)
{
    struct fathom_error err = {0};
    cr_assert(move_apply(rig->survey, plan, &rig->result, &err) == 0, "%s", err.text);
    cr_assert(move_check(rig->survey, plan, &rig->result, &err) == 0, "%s", err.text);
    FILE *f = fopen(build_path("moved.so"), "wb");
    cr_assert(f && fwrite(rig->result.elf, 1, rig->result.size, f) == rig->result.size);
    fclose(f);
    rig->library = dlopen(build_path("moved.so"), RTLD_NOW);
    cr_assert(rig->library, "%s", dlerror());
}

/* Calls a function by its old address. */
static long call(const struct rig *rig, const char *function, long argument)
{
    struct link_map *map;
    cr_assert(dlinfo(rig->library, RTLD_DI_LINKMAP, &map) == 0);
    uint64_t address = map->l_addr + build_function(rig->image, function);
    return ((long (*)(long))(uintptr_t)address)(argument); // NOLINT
}

static enum move_refusal refusal(const struct rig *rig, const char *function)
{
    enum move_refusal out;
    uint32_t f = image_function_entry(rig->image, build_function(rig->image, function));
    cr_assert(move_refusal_of(rig->survey, f, &out) == 0);
    return out;
}

Test(move, all_functions_and_refuses_with_a_reason, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    static const char *const names[] = {"depth",    "grows", "pushes", "twice", "computed", "chosen",
                                        "intruder", "tiny",  "label",  "bare",  "entered"};
    static const enum move_refusal wanted[] = {MOVE_MOVABLE,     MOVE_MOVABLE, MOVE_MOVABLE, MOVE_MOVABLE,
                                               MOVE_MOVABLE,     MOVE_MOVABLE, MOVE_MOVABLE, MOVE_TOO_SHORT,
                                               MOVE_LABEL_TAKEN, MOVE_NO_CFI,  MOVE_ENTERED};
    struct move_function functions[11] = {0};
    for (unsigned i = 0; i < 11; i++) {
        functions[i].address = build_function(rig.image, names[i]);
        cr_expect(refusal(&rig, names[i]) == wanted[i], "%s: %s", names[i],
                  move_refusal_text(refusal(&rig, names[i])));
    }
    const struct move_plan plan = {.functions = functions, .function_count = 11};
    apply(&rig, &plan);
    for (unsigned i = 0; i < 11; i++)
        cr_expect(rig.result.refusals[i] == wanted[i], "%s", names[i]);
    cr_expect(call(&rig, "grows", 1000) == 1048 && call(&rig, "pushes", 0) == 16 &&
              call(&rig, "twice", 0) == 0);
    cr_expect(call(&rig, "computed", 0) == 11 && call(&rig, "computed", 1) == 22);
    cr_expect(call(&rig, "chosen", 0) == 33 && call(&rig, "chosen", 2) == 55);
    cr_expect(call(&rig, "intruder", 1) == 0);
    cr_expect(rig.result.id.size && !build_id_equal(&rig.result.id, image_build_id(rig.image)));
    rig_close(&rig);
}

Test(move, frames_grow_by_any_amount, .fini = build_clean)
{
    static const int32_t pads[] = {16, 112, 128, 4096, 1 << 20};
    for (unsigned i = 0; i < sizeof pads / sizeof *pads; i++) {
        int32_t pad = pads[i];
        struct rig rig = {0};
        rig_open(&rig);
        const struct move_edit grows[] = {
            {at(&rig, "grows", 1), 0x20 + pad, MOVE_IMMEDIATE},
            {at(&rig, "grows", 2), pad, MOVE_CFA},
            {at(&rig, "grows", 3), 0x30 + pad, MOVE_DISPLACEMENT},
            {at(&rig, "grows", 8), 0x20 + pad, MOVE_IMMEDIATE},
            {at(&rig, "grows", 9), 0, MOVE_CFA},
        };
        const struct move_edit pushes[] = {
            {at(&rig, "pushes", 0), -pad, MOVE_LEA_AFTER},
            {at(&rig, "pushes", 1), pad, MOVE_CFA},
            {at(&rig, "pushes", 1), 16 + pad, MOVE_DISPLACEMENT},
            {at(&rig, "pushes", 5), pad, MOVE_LEA_BEFORE},
            {at(&rig, "pushes", 5), 0, MOVE_CFA},
        };
        const struct move_function functions[] = {MOVED("grows", grows, 5), MOVED("pushes", pushes, 5)};
        const struct move_plan plan = {.functions = functions, .function_count = 2};
        apply(&rig, &plan);
        cr_expect(rig.result.refusals[0] == MOVE_MOVABLE && rig.result.refusals[1] == MOVE_MOVABLE);
        cr_expect(call(&rig, "grows", 1000) == 1048 + pad);
        cr_expect(call(&rig, "pushes", 0) == 16 + pad);
        cr_expect(call(&rig, "twice", 0) == 0);
        struct image *after = build_open("moved.so");
        uint64_t inside, back;
        cr_assert(move_translate(&rig.result, at(&rig, "grows", 4), 0, false, &inside));
        cr_assert(move_translate(&rig.result, at(&rig, "grows", 5), 0, true, &back) && back == inside + 5);
        cr_expect(cfi_lookup(image_cfi(after), inside).cfa_offset == 48 + pad);
        cr_assert(move_translate(&rig.result, at(&rig, "pushes", 5), 0, false, &inside));
        cr_expect(cfi_lookup(image_cfi(after), inside).cfa_offset == 16);
        cr_expect(cfi_lookup(image_cfi(after), inside - 1).cfa_offset == 16 + pad);
        image_close(after);
        rig_close(&rig);
    }
}

static int64_t offset_at(const struct image *image, uint64_t address)
{
    return cfi_lookup(image_cfi(image), address).cfa_offset;
}

Test(move, what_is_added_before_an_instruction, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    /* below the return address, and so before the first instruction */
    const struct move_edit pushes[] = {
        {at(&rig, "pushes", 0), -64, MOVE_LEA_BEFORE},
        {at(&rig, "pushes", 0), 64, MOVE_CFA},
        {at(&rig, "pushes", 1), 16 + 64, MOVE_DISPLACEMENT},
        {at(&rig, "pushes", 5), 64, MOVE_LEA_AFTER},
        {at(&rig, "pushes", 6), 0, MOVE_CFA},
    };
    const struct move_edit ends[] = {
        {at(&rig, "ends", 0), -48, MOVE_LEA_AFTER},
        {at(&rig, "ends", 1), 48, MOVE_CFA},
        {at(&rig, "ends", 1), 16 + 48, MOVE_DISPLACEMENT},
        {at(&rig, "ends", 5), 48, MOVE_LEA_BEFORE},
        {at(&rig, "ends", 5), 0, MOVE_CFA},
        {at(&rig, "ends", 7), 48, MOVE_LEA_BEFORE},
        {at(&rig, "ends", 7), 48, MOVE_CFA_BEFORE},
        {at(&rig, "ends", 7), 0, MOVE_CFA},
    };
    const struct move_function functions[] = {MOVED("pushes", pushes, 5), MOVED("ends", ends, 8)};
    const struct move_plan plan = {.functions = functions, .function_count = 2};
    apply(&rig, &plan);
    cr_expect(rig.result.refusals[0] == MOVE_MOVABLE && rig.result.refusals[1] == MOVE_MOVABLE);
    cr_expect(call(&rig, "pushes", 0) == 16 + 64 && call(&rig, "twice", 0) == 0);
    cr_expect(call(&rig, "ends", 0) - call(&rig, "ends", 8) == 8, "both ends free what was added");
    struct image *after = build_open("moved.so");
    uint64_t entry, first, end;
    cr_assert(move_entry(&rig.result, at(&rig, "pushes", 0), 0, &entry) &&
              move_translate(&rig.result, at(&rig, "pushes", 0), 0, false, &first));
    cr_expect_eq(first - entry, 5);
    cr_expect(offset_at(after, entry) == 8 && offset_at(after, first - 1) == 8 &&
              offset_at(after, first) == 8 + 64);
    cr_assert(move_translate(&rig.result, at(&rig, "ends", 7), 0, false, &end));
    cr_expect(offset_at(after, end - 6) == 8 && offset_at(after, end - 5) == 16 + 48 &&
              offset_at(after, end) == 16);
    cr_expect_not(move_entry(&rig.result, at(&rig, "twice", 0), 0, &entry));
    image_close(after);
    rig_close(&rig);
}

/* As the file's own CFI returns to what was remembered, where the added instruction is executed the CFA must be told. */
Test(move, a_row_of_what_is_added_is_checked, .fini = build_clean)
{
    struct rig rig = {0};
    struct fathom_error err = {0};
    rig_open(&rig);
    struct move_edit ends[] = {
        {at(&rig, "ends", 0), -48, MOVE_LEA_AFTER}, {at(&rig, "ends", 1), 48, MOVE_CFA},
        {at(&rig, "ends", 5), 48, MOVE_LEA_BEFORE}, {at(&rig, "ends", 5), 0, MOVE_CFA},
        {at(&rig, "ends", 7), 48, MOVE_LEA_BEFORE}, {at(&rig, "ends", 7), 48, MOVE_CFA_BEFORE},
        {at(&rig, "ends", 7), 0, MOVE_CFA},
    };
    const struct move_function function = MOVED("ends", ends, 7);
    const struct move_plan plan = {.functions = &function, .function_count = 1};
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == 0);
    ends[5].value = 32;
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG);
    rig_close(&rig);
}

Test(move, copies_are_called_from_their_own_sites, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    const struct move_edit edits[] = {
        {at(&rig, "pushes", 0), -64, MOVE_LEA_AFTER},
        {at(&rig, "pushes", 1), 64, MOVE_CFA},
        {at(&rig, "pushes", 1), 16 + 64, MOVE_DISPLACEMENT},
        {at(&rig, "pushes", 5), 64, MOVE_LEA_BEFORE},
        {at(&rig, "pushes", 5), 0, MOVE_CFA},
    };
    /* twice() stays */
    const struct move_function functions[] = {MOVED("pushes", NULL, 0), MOVED("pushes", edits, 5),
                                              MOVED("computed", NULL, 0), MOVED("computed", NULL, 0)};
    const struct move_call calls[] = {{at(&rig, "twice", 3), 0, 1, 0}};
    const struct move_plan plan = {
        .functions = functions, .function_count = 4, .calls = calls, .call_count = 1};
    apply(&rig, &plan);
    cr_expect(call(&rig, "twice", 0) == 64);
    cr_expect(call(&rig, "pushes", 0) == 16, "pointers lead to the first copy");
    cr_expect(rig.result.refusals[2] == MOVE_MOVABLE && rig.result.refusals[3] == MOVE_CLONED_LABELS);
    uint64_t first, second;
    cr_expect(move_translate(&rig.result, at(&rig, "pushes", 2), 0, false, &first) &&
              move_translate(&rig.result, at(&rig, "pushes", 2), 1, false, &second) && first != second);
    cr_expect(!move_translate(&rig.result, at(&rig, "twice", 0), 0, false, &first));
    rig_close(&rig);
}

/* The address of a function: that of its first copy. */
static long address_of(const struct rig *rig, const char *function)
{
    struct link_map *map;
    uint64_t address = build_function(rig->image, function);
    cr_assert(dlinfo(rig->library, RTLD_DI_LINKMAP, &map) == 0);
    move_entry(&rig->result, address, 0, &address);
    return (long)(map->l_addr + address);
}

/* Calls a function with the address of another. */
static long call_with(const struct rig *rig, const char *function, const char *pointer)
{
    return call(rig, function, address_of(rig, pointer));
}

/* All that has an address has one and the same, whether the code that has it is moved or stays. */
static void same_addresses(bool moved)
{
    struct rig rig = {0};
    rig_open_source(&rig, addresses);
    const struct move_function functions[] = {MOVED("target", NULL, 0),   MOVED("shown", NULL, 0),
                                              MOVED("alone", NULL, 0),    MOVED("by_lea", NULL, 0),
                                              MOVED("by_word", NULL, 0),  MOVED("by_symbol", NULL, 0),
                                              MOVED("alone_too", NULL, 0)};
    const struct move_plan plan = {.functions = functions, .function_count = moved ? 7 : 3};
    apply(&rig, &plan);
    long target = address_of(&rig, "target"), shown = address_of(&rig, "shown");
    cr_expect(call(&rig, "by_lea", 0) == target && call(&rig, "by_word", 0) == target);
    cr_expect(call(&rig, "by_symbol", 0) == shown && (long)(intptr_t)dlsym(rig.library, "shown") == shown);
    cr_expect(((long (*)(void))(intptr_t)target)() == 5 && ((long (*)(void))(intptr_t)shown)() == 6);
    cr_expect(call(&rig, "alone", 0) == call(&rig, "alone_too", 0), "the old address, for all");
    cr_expect(call(&rig, "alone", 0) != address_of(&rig, "alone"));
    rig_close(&rig);
}

Test(move, pointers_to_functions_stay_equal, .fini = build_clean)
{
    same_addresses(true);
    same_addresses(false);
}

/* Changes one byte of the new file where `bytes` stand there. */
static void expect_seen(struct rig *rig, const struct move_plan *plan, const void *bytes, size_t size,
                        const char *what)
{
    struct fathom_error err = {0};
    uint8_t *found = memmem(rig->result.elf, rig->result.size, bytes, size);
    cr_assert(found, "%s", what);
    *found ^= 1;
    cr_expect(move_check(rig->survey, plan, &rig->result, &err) == -EBADMSG, "%s", what);
    *found ^= 1;
}

Test(move, the_check_sees_other_addresses, .fini = build_clean)
{
    struct rig rig = {0};
    struct fathom_error err = {0};
    uint64_t target, shown, lea, offset;
    rig_open_source(&rig, addresses);
    const struct move_function functions[] = {MOVED("target", NULL, 0), MOVED("shown", NULL, 0)};
    const struct move_plan plan = {.functions = functions, .function_count = 2};
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_assert(move_check(rig.survey, &plan, &rig.result, &err) == 0, "%s", err.text);
    cr_assert(move_entry(&rig.result, at(&rig, "target", 0), 0, &target) &&
              move_entry(&rig.result, at(&rig, "shown", 0), 0, &shown));
    expect_seen(&rig, &plan, &target, sizeof target, "the relocation of a word");
    expect_seen(&rig, &plan, &shown, sizeof shown, "a dynamic symbol");
    lea = at(&rig, "by_lea", 0);
    cr_assert(image_offset(rig.image, lea, &offset));
    expect_seen(&rig, &plan, rig.result.elf + offset + 3, 4, "a lea of code that stays");
    rig_close(&rig);
}

Test(move, guards_lead_pointers_to_copies, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    const struct move_edit larger[] = {
        {at(&rig, "pushes", 0), -64, MOVE_LEA_AFTER},
        {at(&rig, "pushes", 1), 64, MOVE_CFA},
        {at(&rig, "pushes", 1), 16 + 64, MOVE_DISPLACEMENT},
        {at(&rig, "pushes", 5), 64, MOVE_LEA_BEFORE},
        {at(&rig, "pushes", 5), 0, MOVE_CFA},
    };
    /* the operand of the guarded call gets longer, too */
    const struct move_edit wide[] = {
        {at(&rig, "through", 0), 24 + 256, MOVE_IMMEDIATE},
        {at(&rig, "through", 1), 256, MOVE_CFA},
        {at(&rig, "through", 1), 8 + 256, MOVE_DISPLACEMENT},
        {at(&rig, "through", 2), 8 + 256, MOVE_DISPLACEMENT},
        {at(&rig, "through", 3), 24 + 256, MOVE_IMMEDIATE},
        {at(&rig, "through", 4), 0, MOVE_CFA},
    };
    const struct move_function functions[] = {MOVED("pushes", NULL, 0), MOVED("pushes", larger, 5),
                                              MOVED("depth", NULL, 0), MOVED("depth", NULL, 0),
                                              MOVED("through", wide, 6)};
    uint64_t site = at(&rig, "through", 2), caller = at(&rig, "through", 0), after = at(&rig, "through", 3);
    const struct move_guard guards[] = {{site, caller, at(&rig, "pushes", 0), 0, 1},
                                        {site, caller, at(&rig, "depth", 0), 0, 1}};
    const struct move_plan plan = {
        .functions = functions, .function_count = 5, .guards = guards, .guard_count = 2};
    cr_expect(move_guardable(rig.image, site));
    apply(&rig, &plan);
    cr_expect(call_with(&rig, "through", "pushes") == 16 + 64 && call(&rig, "pushes", 0) == 16);
    cr_expect(call_with(&rig, "through", "twice") == 0, "no guard has it");
    cr_expect(call_with(&rig, "through", "depth") != 0);
    uint64_t to[4], call;
    cr_assert(move_translate(&rig.result, site, 0, false, &call));
    cr_assert(move_translate(&rig.result, after, 0, true, &to[0]) &&
              move_translate_return(&rig.result, after, 0, guards[0].target, &to[1]) &&
              move_translate_return(&rig.result, after, 0, guards[1].target, &to[2]) &&
              move_translate_return(&rig.result, after, 0, at(&rig, "twice", 0), &to[3]));
    cr_expect(to[0] == call + 7 && to[3] == to[0], "the call itself is 7 bytes long now");
    cr_expect(to[1] != to[2] && to[1] < call && to[2] < call);
    rig_close(&rig);
}

Test(move, guards_need_a_register_and_capacity, .fini = build_clean)
{
    struct rig rig = {0};
    struct fathom_error err = {0};
    rig_open(&rig);
    uint64_t vague = at(&rig, "vague", 2), through = at(&rig, "through", 2);
    cr_expect(!move_guardable(rig.image, vague) && !move_guardable(rig.image, at(&rig, "twice", 1)));
    const struct move_function functions[] = {MOVED("pushes", NULL, 0), MOVED("vague", NULL, 0),
                                              MOVED("through", NULL, 0)};
    struct move_guard guards[MOVE_GUARDS_MOST + 1] = {
        {vague, functions[1].address, functions[0].address, 0, 0}};
    struct move_plan plan = {.functions = functions, .function_count = 3, .guards = guards, .guard_count = 1};
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_expect(rig.result.refusals[1] == MOVE_EDIT && rig.result.refusals[2] == MOVE_MOVABLE);
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG, "the guard is not there");
    move_result_free(&rig.result);
    for (uint32_t i = 0; i <= MOVE_GUARDS_MOST; i++)
        guards[i] = (struct move_guard){through, functions[2].address, at(&rig, "depth", 0) + i, 0, 0};
    plan.guard_count = MOVE_GUARDS_MOST + 1;
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_expect(rig.result.refusals[2] == MOVE_EDIT);
    move_result_free(&rig.result);
    guards[1] = guards[0];
    cr_expect(move_apply(rig.survey, &plan, &rig.result, &err) == -EINVAL);
    /* a guard that the plan does not have, or another one */
    const struct move_function cloned[] = {functions[0], functions[0], functions[2]};
    guards[0] = (struct move_guard){through, functions[2].address, functions[0].address, 0, 1};
    plan = (struct move_plan){.functions = cloned, .function_count = 3, .guards = guards, .guard_count = 1};
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == 0);
    guards[0].copy = 0;
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG);
    guards[0] = (struct move_guard){through, functions[2].address, at(&rig, "depth", 0), 0, 1};
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG);
    rig_close(&rig);
}

/* What is added before a copy's first instruction is executed by the calls that are led to it. */
Test(move, calls_lead_to_what_is_added_first_in_a_copy, .fini = build_clean)
{
    struct rig rig = {0};
    rig_open(&rig);
    const struct move_edit edits[] = {
        {at(&rig, "pushes", 0), -64, MOVE_LEA_BEFORE},
        {at(&rig, "pushes", 0), 64, MOVE_CFA},
        {at(&rig, "pushes", 1), 16 + 64, MOVE_DISPLACEMENT},
        {at(&rig, "pushes", 5), 64, MOVE_LEA_AFTER},
        {at(&rig, "pushes", 6), 0, MOVE_CFA},
    };
    const struct move_function functions[] = {MOVED("pushes", NULL, 0), MOVED("pushes", edits, 5)};
    const struct move_call calls[] = {{at(&rig, "twice", 3), 0, 1, 0}};
    const struct move_plan plan = {
        .functions = functions, .function_count = 2, .calls = calls, .call_count = 1};
    apply(&rig, &plan);
    cr_expect(call(&rig, "twice", 0) == 64 && call(&rig, "pushes", 0) == 16);
    rig_close(&rig);
}

/* grows(0) goes on in the second copy, which adds 100, lowers SP meanwhile, and is left for the first one by grows(1). */
Test(move, puts_code_before_instructions, .fini = build_clean)
{
    static const uint8_t leave[] = {0x85, 0xff, 0x0f, 0x84, 0, 0, 0, 0}; /* test %edi,%edi; je */
    static const uint8_t low[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x90, 0x48,
                                  0x8d, 0xa4, 0x24, 0x80, 0,    0,    0}; /* SP - 128, nop, back */
    static const uint8_t more[] = {0x48, 0x83, 0xc0, 0x64};               /* add $100,%rax */
    struct rig rig = {0};
    struct fathom_error err = {0};
    rig_open(&rig);
    struct move_code_fix fix = {
        .at = 4, .from = 8, .kind = MOVE_TO_CODE, .behind = 0, .copy = 1, .target = at(&rig, "grows", 0)};
    const struct move_code first[] = {
        {.address = at(&rig, "grows", 0), .bytes = leave, .size = 8, .fixes = &fix, .fix_count = 1}};
    struct move_code second[] = {
        {at(&rig, "grows", 0), low, NULL, sizeof low, 0, 5, sizeof low, 128},
        {at(&rig, "grows", 3), low, NULL, sizeof low, 0, 5, sizeof low, 128},
        {.address = at(&rig, "grows", 8), .bytes = more, .size = 4},
        {at(&rig, "grows", 8), low, NULL, sizeof low, 0, 5, sizeof low, 128},
        {at(&rig, "grows", 10), low, NULL, sizeof low, 0, 5, sizeof low, 128},
    };
    struct move_function functions[] = {
        {.address = at(&rig, "grows", 0), .codes = first, .code_count = 1},
        {.address = at(&rig, "grows", 0), .codes = second, .code_count = 5},
        {.address = at(&rig, "computed", 0), .crosses = true},
        {.address = at(&rig, "computed", 0), .crosses = true},
    };
    const struct move_plan plan = {.functions = functions, .function_count = 4};
    apply(&rig, &plan);
    cr_expect(rig.result.refusals[2] == MOVE_MOVABLE && rig.result.refusals[3] == MOVE_MOVABLE);
    cr_expect(call(&rig, "grows", 5) == 48 + 5, "%ld", call(&rig, "grows", 5));
    cr_expect(call(&rig, "grows", 0) == 48 + 100, "%ld", call(&rig, "grows", 0));
    cr_expect(call(&rig, "computed", 1) == 22);
    fix.kind = MOVE_TO_BODY;
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG, "it leads elsewhere");
    fix.kind = MOVE_TO_CODE;
    second[4].low = 120;
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG, "another CFI");
    second[4].low = 128;
    functions[1].code_count--;
    cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG, "more code than planned");
    struct move_result result;
    fix.copy = 2;
    cr_expect(move_apply(rig.survey, &plan, &result, &err) == -EINVAL, "there is no third copy");
    rig_close(&rig);
}

Test(move, refuses_edits_that_do_not_fit, .fini = build_clean)
{
    struct rig rig = {0};
    struct fathom_error err = {0};
    rig_open(&rig);
    const struct move_edit edits[] = {{at(&rig, "grows", 0), 8, MOVE_IMMEDIATE},
                                      {at(&rig, "grows", 5), 8, MOVE_DISPLACEMENT},
                                      {at(&rig, "grows", 1) + 1, 8, MOVE_IMMEDIATE},
                                      {at(&rig, "grows", 4), 8, MOVE_IMMEDIATE}};
    const struct move_edit leaver = {at(&rig, "leaver", 1), 8, MOVE_CFA};
    const struct move_function frame = MOVED("leaver", &leaver, 1);
    const struct move_plan alone = {.functions = &frame, .function_count = 1};
    cr_assert(move_apply(rig.survey, &alone, &rig.result, &err) == 0);
    cr_expect(rig.result.refusals[0] == MOVE_LEAVES && refusal(&rig, "leaver") == MOVE_MOVABLE);
    move_result_free(&rig.result);
    for (unsigned i = 0; i < 4; i++) {
        const struct move_function function = MOVED("grows", &edits[i], 1);
        const struct move_plan plan = {.functions = &function, .function_count = 1};
        cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
        cr_expect(rig.result.refusals[0] == MOVE_EDIT, "%u", i);
        move_result_free(&rig.result);
    }
    const struct move_call calls[] = {{at(&rig, "twice", 1), 0, 1, 0}, {at(&rig, "twice", 1), 0, 0, 0}};
    const struct move_plan plan = {.calls = calls, .call_count = 2};
    cr_expect(move_apply(rig.survey, &plan, &rig.result, &err) == -EINVAL);
    rig_close(&rig);
}

Test(move, the_check_sees_any_other_byte, .fini = build_clean)
{
    struct rig rig = {0};
    struct fathom_error err = {0};
    rig_open(&rig);
    const struct move_function functions[] = {MOVED("grows", NULL, 0), MOVED("chosen", NULL, 0)};
    const struct move_plan plan = {.functions = functions, .function_count = 2};
    cr_assert(move_apply(rig.survey, &plan, &rig.result, &err) == 0);
    cr_assert(move_check(rig.survey, &plan, &rig.result, &err) == 0, "%s", err.text);
    static const char *const names[] = {"grows", "chosen"};
    struct image *after;
    cr_assert(image_open_memory("m", rig.result.elf, rig.result.size, NULL, &after, &err) == 0);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t start, offset;
        const struct image_function *f =
            image_function(rig.image, image_function_at(rig.image, build_function(rig.image, names[i])));
        cr_assert(move_translate(&rig.result, f->address, 0, false, &start) &&
                  image_offset(after, start, &offset));
        for (uint32_t k = 0; k < f->size; k++) {
            rig.result.elf[offset + k] ^= 1;
            cr_expect(move_check(rig.survey, &plan, &rig.result, &err) == -EBADMSG, "%s+%u", names[i], k);
            rig.result.elf[offset + k] ^= 1;
        }
    }
    image_close(after);
    rig_close(&rig);
}

Test(move, needs_an_index_of_cfi, .fini = build_clean)
{
    struct fathom_error err = {0};
    struct move_survey *survey;
    struct move_result result;
    rig_source();
    build_run("$CC -shared -Wl,--no-eh-frame-hdr -o m.so m.s");
    struct image *image = build_open("m.so");
    cr_assert(move_survey_new(image, &survey, &err) == 0);
    cr_expect(move_apply(survey, &(struct move_plan){0}, &result, &err) == -ENOTSUP);
    move_survey_free(survey);
    image_close(image);
}

/* Archives and signatures are found from the end of the file. */
Test(move, keeps_what_is_appended_at_the_end, .fini = build_clean)
{
    rig_source();
    build_run("$CC -shared -o m.so m.s");
    build_run("cp m.so zeros.so; head -c 100 /dev/zero >>zeros.so");
    build_run("cp m.so signed.so; echo signature >>signed.so");
    static const char *const names[] = {"m.so", "zeros.so", "signed.so"};
    for (unsigned i = 0; i < 3; i++) {
        struct fathom_error err = {0};
        struct move_survey *survey;
        struct move_result result = {0};
        struct image *image = build_open(names[i]);
        cr_assert(move_survey_new(image, &survey, &err) == 0);
        int rc = move_apply(survey, &(struct move_plan){0}, &result, &err);
        cr_expect(rc == (i == 2 ? -ENOTSUP : 0), "%s: %s", names[i], err.text);
        move_result_free(&result);
        move_survey_free(survey);
        image_close(image);
    }
}

Test(move, leaves_alone_what_has_no_section_names, .fini = build_clean)
{
    struct fathom_error err = {0};
    struct move_survey *survey;
    struct move_result result = {0};
    Elf64_Ehdr header;
    const uint64_t outside = 1ull << 60;
    rig_source();
    build_run("$CC -shared -o m.so m.s");
    struct image *whole = build_open("m.so");
    FILE *file = fopen(image_path(whole), "r+b");
    cr_assert(file && fread(&header, sizeof header, 1, file) == 1);
    cr_assert(fseek(file,
                    (long)(header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr) +
                           offsetof(Elf64_Shdr, sh_offset)),
                    SEEK_SET) == 0 &&
              fwrite(&outside, sizeof outside, 1, file) == 1 && fclose(file) == 0);
    image_close(whole);
    struct image *image = build_open("m.so");
    cr_assert(move_survey_new(image, &survey, &err) == 0);
    cr_expect(move_apply(survey, &(struct move_plan){0}, &result, &err) == -ENOTSUP, "%s", err.text);
    move_result_free(&result);
    move_survey_free(survey);
    image_close(image);
}

/* From where on the unwinder's own frame holds a landing pad's registers. */
#include <criterion/criterion.h>

#include "image/code/code.h"
#include "image/handler_jump.h"
#include "tests/image/build.h"

/* As libgcc's, without shadow stacks; and the same code by another name. */
static const char source[] = ".text\n"
                             ".globl _Unwind_Resume, other\n"
                             ".type _Unwind_Resume, @function; .type other, @function\n"
                             "_Unwind_Resume: .cfi_startproc\n"
                             "call install\n"
                             "cmpl $7, %eax\n"
                             "jne 1f\n"
                             "call install\n"
                             "movq %rax, %rsi\n"
                             "call hook\n"
                             "movq %rcx, %rsp\n"
                             "popq %rcx\n"
                             "jmp *%rcx\n"
                             "1: ret\n"
                             ".cfi_endproc\n"
                             ".size _Unwind_Resume, . - _Unwind_Resume\n"
                             "other: .cfi_startproc\n"
                             "jmp *%rcx\n"
                             ".cfi_endproc\n"
                             ".size other, . - other\n"
                             ".type install, @function\n"
                             "install: .cfi_startproc\n"
                             "ret\n"
                             ".cfi_endproc\n"
                             ".size install, . - install\n"
                             ".type hook, @function\n"
                             "hook: .cfi_startproc\n"
                             "ret\n"
                             ".cfi_endproc\n"
                             ".size hook, . - hook\n"
                             ".section .note.GNU-stack, \"\", @progbits\n";

static bool at(const struct image *image, const char *name, uint64_t offset)
{
    uint64_t address = build_function(image, name);
    return image_jumps_to_handler(image, image_function_at(image, address), address + offset);
}

#define TESTED    5                    /* the first call */
#define INSTALLED (TESTED + 3 + 2 + 5) /* cmp, jne, the second call */
#define JUMP      (INSTALLED + 3 + 5 + 3 + 1)

Test(handler_jump, from_the_installing_call_to_the_jump, .fini = build_clean)
{
    build_source("unwinder.s", source);
    build_run("$CC -shared -nostdlib -o unwinder.so unwinder.s");
    struct image *image = build_open("unwinder.so");
    cr_expect_not(at(image, "_Unwind_Resume", 0));
    cr_expect_not(at(image, "_Unwind_Resume", TESTED), "a branch comes first");
    cr_expect_not(at(image, "_Unwind_Resume", INSTALLED - 5), "two calls follow");
    for (uint64_t offset = INSTALLED; offset <= JUMP; offset += offset == INSTALLED ? 3 : 5)
        cr_expect(at(image, "_Unwind_Resume", offset));
    cr_expect_not(at(image, "_Unwind_Resume", JUMP + 2), "the branch's way out");
    cr_expect_not(at(image, "other", 0), "no other function is looked at");
    cr_expect_not(image_jumps_to_handler(image, IMAGE_NO_FUNCTION, 0));
    image_close(image);
}

/* How many instructions of a function are; *last: whether one that jumps is. */
static unsigned count_at(const struct image *image, const char *name, unsigned *all, bool *last)
{
    uint64_t address = build_function(image, name);
    uint32_t function = image_function_at(image, address);
    size_t size = 0;
    const uint8_t *code = image_bytes(image, address, &size);
    uint64_t length = image_function(image, function)->size;
    unsigned count = 0;
    struct code_insn insn;
    *all = 0;
    *last = false;
    cr_assert(code && size >= length);
    for (uint64_t offset = 0;
         offset < length && code_read(code + offset, length - offset, address + offset, &insn);
         offset += insn.length, ++*all) {
        bool is = image_jumps_to_handler(image, function, address + offset);
        count += is;
        *last |= is && insn.kind == CODE_JUMP_INDIRECT;
    }
    return count;
}

Test(handler_jump, in_libgcc, .fini = build_clean)
{
    static const char *const names[] = {"_Unwind_Resume", "_Unwind_RaiseException", "_Unwind_ForcedUnwind",
                                        "_Unwind_Resume_or_Rethrow"};
    build_run("cp \"$($CC -print-file-name=libgcc_s.so.1)\" libgcc_s.so");
    struct image *image = build_open("libgcc_s.so");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned all;
        bool jump;
        unsigned count = count_at(image, names[i], &all, &jump);
        cr_expect(jump, "%s", names[i]);
        cr_expect(count >= 8 && count < all / 2, "%s: %u of %u instructions", names[i], count, all);
    }
    image_close(image);
}

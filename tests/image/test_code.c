/* The fast instruction reader against capstone, over all functions of real binaries. */
#include <criterion/criterion.h>

#include <glob.h>
#include <string.h>

#include "image/cfi/cfi.h"
#include "image/code/code.h"
#include "image/code/fields.h"
#include "image/code/insn.h"
#include "image/image.h"

/* How control goes on, in the words of insn.h. (It tells no stops from plain instructions where those are ud2
 * or hlt.) */
static bool same_flow(const struct code_insn *ours, const struct insn *theirs)
{
    switch (theirs->flow) {
    case INSN_PLAIN:
        return ours->kind == CODE_PLAIN || ours->kind == CODE_NOP || ours->kind == CODE_STOP;
    case INSN_JUMP:
        return ours->kind == (theirs->direct ? CODE_JUMP : CODE_JUMP_INDIRECT);
    case INSN_CONDITIONAL:
    case INSN_LOOP:
        return ours->kind == CODE_BRANCH;
    case INSN_CALL:
        return ours->kind == (theirs->direct ? CODE_CALL : CODE_CALL_INDIRECT);
    case INSN_RETURN:
        return ours->kind == CODE_RETURN;
    default:
        return ours->kind != CODE_CALL && ours->kind != CODE_JUMP;
    }
}

static bool agree(const struct code_insn *ours, const struct insn *theirs)
{
    return ours->length == theirs->length && same_flow(ours, theirs) &&
           (!theirs->direct || ours->target == theirs->target) &&
           ours->rip_relative == theirs->rip_relative &&
           (!theirs->rip_relative || ours->memory == theirs->memory);
}

/* Capstone reads the code from where it stands; wherever both know an instruction they say the same, and
 * there are few that one of them does not know. */
static void check(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        cr_skip_test("%s is not installed", pattern);
    struct image *image;
    struct fathom_error err = {0};
    struct image_options options = {.no_debug_files = true};
    cr_assert_eq(image_open(found.gl_pathv[0], &options, &image, &err), 0, "%s", err.text);
    globfree(&found);
    struct insn_reader *reader = insn_reader_new();
    cr_assert_not_null(reader);
    unsigned count = 0, unknown = 0;
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        const struct image_function *function = image_function(image, f);
        if (cfi_lookup(image_cfi(image), function->address).cfa == CFI_NONE)
            continue; /* it may be data between functions */
        size_t size;
        const uint8_t *code = image_bytes(image, function->address, &size);
        cr_assert_not_null(code);
        for (size_t at = 0; at < function->size; count++) {
            struct code_insn ours;
            struct insn theirs;
            size_t left = function->size - at;
            uint64_t address = function->address + at;
            bool known = code_read(code + at, left, address, &ours);
            bool right = insn_read(reader, code + at, left, address, &theirs);
            if (known && right)
                cr_assert(agree(&ours, &theirs), "%s+%lx: %02x %02x %02x", image_name(image), address,
                          code[at], left > 1 ? code[at + 1] : 0, left > 2 ? code[at + 2] : 0);
            else
                unknown += known != right;
            at += right ? theirs.length : 1;
        }
    }
    cr_expect_gt(count, 10000u);
    cr_expect_leq(unknown, count / 50000, "%s: %u of %u", image_name(image), unknown, count);
    insn_reader_free(reader);
    image_close(image);
}

Test(code, libc)
{
    check("/lib/x86_64-linux-gnu/libc.so.6");
}

Test(code, libsqlite3)
{
    check("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0");
}

Test(code, libstdcxx)
{
    check("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

Test(code, perl)
{
    check("/usr/bin/perl");
}

/* SSE to AVX-512, hand-written */
Test(code, libcrypto)
{
    check("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
}

struct effect {
    const char *bytes;
    unsigned length;
    enum code_stack stack;
    int32_t amount;
};

Test(code, says_what_happens_to_sp)
{
    static const struct effect cases[] = {
        {"\x55", 1, CODE_SP_MOVED, 8},                            /* push %rbp */
        {"\x41\x57", 2, CODE_SP_MOVED, 8},                        /* push %r15 */
        {"\x6a\x05", 2, CODE_SP_MOVED, 8},                        /* push $5 */
        {"\x68\x05\x00\x00\x00", 5, CODE_SP_MOVED, 8},            /* push $5 */
        {"\xff\x35\x00\x00\x00\x00", 6, CODE_SP_MOVED, 8},        /* push 0(%rip) */
        {"\xff\x70\x08", 3, CODE_SP_MOVED, 8},                    /* push 8(%rax) */
        {"\x5b", 1, CODE_SP_MOVED, -8},                           /* pop %rbx */
        {"\x5c", 1, CODE_SP_OTHER, 0},                            /* pop %rsp */
        {"\x41\x5c", 2, CODE_SP_MOVED, -8},                       /* pop %r12 */
        {"\x48\x83\xec\x18", 4, CODE_SP_MOVED, 24},               /* sub $24,%rsp */
        {"\x48\x81\xec\x00\x10\x00\x00", 7, CODE_SP_MOVED, 4096}, /* sub $4096,%rsp */
        {"\x48\x83\xc4\x80", 4, CODE_SP_MOVED, 128},              /* add $-128,%rsp */
        {"\x48\x83\xe4\xe0", 4, CODE_SP_OTHER, 0},                /* and $-32,%rsp */
        {"\x48\x83\xfc\x20", 4, CODE_SP_SAME, 0},                 /* cmp $32,%rsp */
        {"\x49\x83\xec\x18", 4, CODE_SP_SAME, 0},                 /* sub $24,%r12 */
        {"\x48\x29\xc4", 3, CODE_SP_OTHER, 0},                    /* sub %rax,%rsp */
        {"\x48\x2b\x65\x08", 4, CODE_SP_OTHER, 0},                /* sub 8(%rbp),%rsp */
        {"\x48\x29\xe0", 3, CODE_SP_SAME, 0},                     /* sub %rsp,%rax */
        {"\x48\x8d\x65\xd8", 4, CODE_SP_FROM_BP, -40},            /* lea -40(%rbp),%rsp */
        {"\x48\x8d\x64\x24\x10", 5, CODE_SP_MOVED, -16},          /* lea 16(%rsp),%rsp */
        {"\x48\x8d\x44\x24\x10", 5, CODE_SP_SAME, 0},             /* lea 16(%rsp),%rax */
        {"\x48\x89\xec", 3, CODE_SP_FROM_BP, 0},                  /* mov %rbp,%rsp */
        {"\x48\x8b\xe5", 3, CODE_SP_FROM_BP, 0},                  /* the same, encoded otherwise */
        {"\x48\x89\xe5", 3, CODE_SP_SAME, 0},                     /* mov %rsp,%rbp */
        {"\x48\x89\xc4", 3, CODE_SP_OTHER, 0},                    /* mov %rax,%rsp */
        {"\x48\x94", 2, CODE_SP_OTHER, 0},                        /* xchg %rax,%rsp */
        {"\xc9", 1, CODE_SP_FROM_BP, 8},                          /* leave */
        {"\xc8\x10\x00\x00", 4, CODE_SP_OTHER, 0},                /* enter $16,$0 */
        {"\x80\xcc\x01", 3, CODE_SP_SAME, 0},                     /* or $1,%ah */
        {"\x40\x80\xcc\x01", 4, CODE_SP_OTHER, 0},                /* or $1,%spl (compilers never do) */
        {"\x88\xc4", 2, CODE_SP_SAME, 0},                         /* mov %al,%ah */
        {"\x8a\x27", 2, CODE_SP_SAME, 0},                         /* mov (%rdi),%ah */
        {"\x00\xc4", 2, CODE_SP_SAME, 0},                         /* add %al,%ah */
        {"\x0f\x94\xc4", 3, CODE_SP_SAME, 0},                     /* sete %ah */
        {"\x0f\x28\xe0", 3, CODE_SP_SAME, 0},                     /* movaps %xmm0,%xmm4 */
        {"\xc4\xe2\x78\xf2\xe0", 5, CODE_SP_SAME, 0},             /* andn (to %rsp: compilers never do) */
        {"\x48\xbc\x01\x00\x00\x00\x00\x00\x00\x00", 10, CODE_SP_OTHER, 0}, /* movabs $1,%rsp */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct code_insn insn;
        const struct effect *c = &cases[i];
        cr_assert(code_read((const uint8_t *)c->bytes, c->length, 0x1000, &insn), "case %zu", i);
        cr_expect_eq(insn.length, c->length, "case %zu: %u bytes", i, insn.length);
        cr_expect_eq(insn.stack, c->stack, "case %zu: %u", i, insn.stack);
        cr_expect_eq(insn.amount, c->amount, "case %zu: %d", i, insn.amount);
    }
}

/* Where the displacement and the immediate are. */
Test(code, fields_of_known_instructions)
{
    static const struct {
        const char *bytes;
        uint8_t length, displacement_at, displacement_size, immediate_at, immediate_size;
        bool scaled;
    } cases[] = {
        {"\x48\x83\xec\x18", 4, 0, 0, 3, 1, false},                  /* sub $24,%rsp */
        {"\x48\x81\xec\x88\0\0\0", 7, 0, 0, 3, 4, false},            /* sub $136,%rsp */
        {"\x48\x8b\x44\x24\x08", 5, 4, 1, 0, 0, false},              /* mov 8(%rsp),%rax */
        {"\x66\xc7\x84\x24\x80\0\0\0\x01\0", 10, 4, 4, 8, 2, false}, /* movw $1,128(%rsp) */
        {"\x66\x0f\x6f\x84\x24\x80\0\0\0", 9, 5, 4, 0, 0, false},    /* movdqa 128(%rsp),%xmm0 */
        {"\xc5\xf9\x70\x44\x24\x10\x1b", 7, 5, 1, 0, 0, false},      /* vpshufd $27,16(%rsp),%xmm0 */
        {"\x62\xf1\xfd\x48\x6f\x44\x24\x01", 8, 7, 1, 0, 0, true},   /* vmovdqa64 64(%rsp),%zmm0 */
        {"\x8b\x04\x24", 3, 0, 0, 0, 0, false},                      /* mov (%rsp),%eax */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct code_fields f;
        cr_assert(code_read_fields((const uint8_t *)cases[i].bytes, cases[i].length, &f), "case %zu", i);
        cr_expect_eq(f.displacement_size, cases[i].displacement_size, "case %zu", i);
        cr_expect_eq(f.scaled, cases[i].scaled, "case %zu", i);
        if (f.displacement_size)
            cr_expect_eq(f.displacement_at, cases[i].displacement_at, "case %zu", i);
        if (!f.vector)
            cr_expect_eq(f.immediate_size, cases[i].immediate_size, "case %zu", i);
        if (!f.vector && f.immediate_size)
            cr_expect_eq(f.immediate_at, cases[i].immediate_at, "case %zu", i);
    }
    struct code_fields f;
    cr_expect_not(code_read_fields((const uint8_t *)"\x48\x83\xec", 3, &f), "cut");
}

/* Every prefix of an instruction is refused, and nothing beyond the end is read (a sanitizer sees). */
Test(code, cut_instructions_are_none)
{
    static const uint8_t whole[] = {0x66, 0x48, 0xc7, 0x84, 0x88, 1, 2, 3, 4, 5, 6, 7, 8};
    struct code_insn insn;
    cr_assert(code_read(whole, sizeof whole, 0, &insn));
    cr_expect_eq(insn.length, sizeof whole);
    for (size_t size = 0; size < sizeof whole; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, whole, size);
        cr_expect_not(code_read(copy, size, 0, &insn), "%zu bytes", size);
        free(copy);
    }
    static const uint8_t prefixes[20] = {[0 ... 19] = 0x66};
    cr_expect_not(code_read(prefixes, sizeof prefixes, 0, &insn), "longer than any instruction");
}

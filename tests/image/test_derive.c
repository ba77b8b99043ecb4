/* Rows derived from code against those that the compiler wrote. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "image/cfi/cfi.h"
#include "image/cfi/registers.h"
#include "image/code/code.h"
#include "image/derive.h"
#include "tests/image/build.h"

/* Frames of all sorts: none, of a fixed size, of a variable one, with early returns, a jump table, a call that does not return,
 * tail calls, and recursion. */
static const char source[] =
    "#include <alloca.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#define F __attribute__((noinline)) int\n"
    "static volatile int sink;\n"
    "F leaf(int x) { return x * 3 + sink; }\n"
    "F early(int x) { char line[200]; if (x < 3) return leaf(x); sprintf(line, \"%d\", x); sink += line[x % "
    "200];\n"
    "    if (x > 90) return 7; return leaf(x) + leaf(x + 1); }\n"
    "F fatal(int x) { if (x == 99) { fprintf(stderr, \"%d\\n\", x); abort(); } return early(x) + 1; }\n"
    "F variable(int n) { char *p = alloca(n + 1); memset(p, n, n); p[n] = 0; return early(p[n / 2]) + "
    "leaf(n); }\n"
    "F table(int n) { int r = early(n); switch (n) { case 0: return early(r) + 3; case 1: sink = fatal(r); "
    "break;\n"
    "    case 2: r += variable(r & 63); break; case 3: return fatal(r); case 4: r = leaf(r) * early(2); "
    "break;\n"
    "    case 5: sink++; break; case 6: return leaf(sink); case 7: r -= early(r); break; } return r + sink; "
    "}\n"
    "F deep(int a, int b, int c, int d, int e, int f, int g, int h) { if (a < 0) return b;\n"
    "    return deep(a - 1, h, b, c, d, e, f, g) + deep(a - 2, b, h, c, d, e, f, g) + a * h; }\n"
    "F (*volatile through)(int) = table;\n"
    "F tail(int n) { sink = early(n); return through(n + 1); }\n"
    "int main(int c, char **v) { return tail(c) + deep(c, 1, 2, 3, 4, 5, 6, 7) + variable(c) + v[0][0]; }\n";

struct compared {
    unsigned instructions, covered, wrong;
};

/* Whether a row says nothing that the compiler's does not. */
static bool agrees(struct cfi_row derived, struct cfi_row real)
{
    if (derived.root)
        return true; /* also the C library's own entry, which prints its version */
    if (derived.cfa == CFI_SIGNAL_FRAME || real.cfa == CFI_SIGNAL_FRAME)
        return derived.cfa == real.cfa;
    if (derived.cfa == real.cfa && derived.cfa_offset != real.cfa_offset)
        return false;
    if (derived.bp == CFI_BP_SAME && real.bp == CFI_BP_AT_CFA && real.bp_offset < -derived.cfa_offset)
        return true; /* it was popped, and its slot below SP still has it */
    if (derived.bp == CFI_BP_AT_CFA && real.bp == CFI_BP_SAME && derived.bp_offset >= -derived.cfa_offset)
        return true; /* it was pushed, and is in the register still */
    return derived.bp == CFI_BP_UNKNOWN ||
           (derived.bp == real.bp && (real.bp != CFI_BP_AT_CFA || derived.bp_offset == real.bp_offset));
}

/* Multiplications written by hand push registers without saying so. */
static bool is_wrong_itself(const struct image_function *f)
{
    return f->name && strncmp(f->name, "__mpn_", 6) == 0;
}

static void compare_function(const struct image *image, const struct image *bare,
                             const struct image_function *f, struct compared *out)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, f->address, &size);
    struct code_insn insn;
    for (uint64_t at = 0; bytes && at < f->size && at < size; at += insn.length) {
        if (!code_read(bytes + at, size - at, f->address + at, &insn))
            return;
        struct cfi_row real = cfi_lookup(image_cfi(image), f->address + at),
                       derived = cfi_lookup(image_cfi(bare), f->address + at);
        if (real.cfa == CFI_NONE || real.cfa == CFI_UNSUPPORTED || insn.kind == CODE_NOP)
            continue;
        out->instructions++;
        out->covered += derived.cfa != CFI_NONE;
        bool wrong = derived.cfa != CFI_NONE && !agrees(derived, real) && !is_wrong_itself(f);
        out->wrong += wrong;
        cr_expect(!wrong || out->wrong > 3, "%s+%llu: CFA %d%+d not %d%+d, BP %d%+d not %d%+d",
                  f->name ? f->name : "?", (unsigned long long)at, derived.cfa, derived.cfa_offset, real.cfa,
                  real.cfa_offset, derived.bp, derived.bp_offset, real.bp, real.bp_offset);
    }
}

#define IN_PARTS 0

/* Of the functions with symbols of a file in the test's directory. whole_most: as image_derive_rows() takes it. */
static struct compared compare(const char *name, uint64_t whole_most)
{
    struct compared compared = {0};
    build_run("objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr %s bare", name);
    struct image *image = build_open(name), *bare = build_open("bare");
    cr_assert_eq(image_derive_rows(bare, whole_most), 0);
    for (uint32_t i = 0; i < image_function_count(bare); i++)
        if (image_function(bare, i)->name)
            compare_function(image, bare, image_function(bare, i), &compared);
    image_close(bare);
    image_close(image);
    return compared;
}

Test(derive, as_the_compiler_wrote, .fini = build_clean)
{
    static const char *const flags[] = {"-O0",
                                        "-O1",
                                        "-O2",
                                        "-O3",
                                        "-Os",
                                        "-O2 -fno-omit-frame-pointer",
                                        "-O2 -fcf-protection=full -fstack-protector-all",
                                        "-O2 -mavx2"};
    build_source("frames.c", source);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        build_run("$CC %s -o frames frames.c", flags[i]);
        struct compared compared = compare("frames", UINT64_MAX);
        cr_expect_eq(compared.wrong, 0, "%s", flags[i]);
        cr_expect_geq(compared.covered * 100ULL, compared.instructions * 97ULL, "%s: %u of %u", flags[i],
                      compared.covered, compared.instructions);
        cr_expect_geq(compared.instructions, 200u);
    }
}

/* The rows of "bare" are the same in whatever order its parts are derived. */
static void compare_orders(void)
{
    struct image *first = build_open("bare"), *second = build_open("bare");
    const uint64_t start = image_function(first, 0)->address,
                   end = image_function(first, image_function_count(first) - 1)->address, step = 4096;
    unsigned differ = 0;
    cr_assert_eq(image_derive_rows(first, IN_PARTS), 0);
    cr_assert_eq(image_derive_rows(second, IN_PARTS), 0);
    for (uint64_t at = start; at < end; at += step)
        cfi_lookup(image_cfi(first), at);
    for (uint64_t at = end; at > start + step; at -= step)
        cfi_lookup(image_cfi(second), at);
    for (uint64_t at = start; at < end; at++) {
        const struct cfi_row x = cfi_lookup(image_cfi(first), at), y = cfi_lookup(image_cfi(second), at);
        differ += !cfi_row_same(&x, &y);
        cr_expect(differ > 3 || cfi_row_same(&x, &y), "%#llx", (unsigned long long)at);
    }
    cr_expect_eq(differ, 0, "%u", differ);
    image_close(first);
    image_close(second);
}

/* Where no symbol or FDE divides the code, what is derived is of that which has one. */
Test(derive, of_the_c_library, .fini = build_clean)
{
    char path[4096] = "", line[8192];
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "/libc.so.6"))
            sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", path);
    fclose(maps);
    if (!*path)
        cr_skip_test("this program is not linked to libc.so.6");
    build_run("cp %s libc.so", path);
    struct compared compared = compare("libc.so", UINT64_MAX), parts = compare("libc.so", IN_PARTS);
    cr_expect_eq(compared.wrong, 0);
    cr_expect_geq(compared.covered * 100ULL, compared.instructions * 90ULL, "%u of %u", compared.covered,
                  compared.instructions);
    /* What leads from one part far into another is all that differs. */
    cr_expect_eq(parts.wrong, 0);
    cr_expect_geq(parts.covered * 100ULL, compared.covered * 99ULL, "%u in parts, %u whole", parts.covered,
                  compared.covered);
    compare_orders();
}

/* A function that leaves the stack as it did not find it has no rows. */
Test(derive, what_is_not_proved_has_no_row, .fini = build_clean)
{
    build_source(
        "odd.s",
        ".globl good, unbalanced, twice\n.text\n"
        ".type good, @function\ngood: push %rbx\n call good\n pop %rbx\n ret\n.size good, .-good\n"
        ".type unbalanced, @function\nunbalanced: push %rbx\n nop\n ret\n.size unbalanced, .-unbalanced\n"
        ".type twice, @function\ntwice: test %edi, %edi\n je 1f\n push %rbx\n1: nop\n jmp 1b\n"
        ".size twice, .-twice\n");
    build_run("$CC -nostdlib -shared -o odd.so odd.s");
    struct image *image = build_open("odd.so");
    cr_assert_eq(image_derive_rows(image, UINT64_MAX), 0);
    uint64_t good = build_function(image, "good"), unbalanced = build_function(image, "unbalanced"),
             twice = build_function(image, "twice");
    struct cfi_row row = cfi_lookup(image_cfi(image), good + 1);
    cr_expect_eq(row.cfa, CFI_SP);
    cr_expect_eq(row.cfa_offset, 16);
    cr_expect(row.derived);
    cr_expect_eq(cfi_lookup(image_cfi(image), unbalanced).cfa, CFI_NONE);
    cr_expect_eq(cfi_lookup(image_cfi(image), twice).cfa, CFI_SP);
    cr_expect_eq(cfi_lookup(image_cfi(image), twice + 5).cfa, CFI_NONE, "reached with two depths");
    image_close(image);
}

/* A library of assembler, and the same without symbols, whose rows were derived. */
static struct image *bare_of(const char *text, struct image **whole)
{
    build_source("source.s", text);
    build_run("$CC -nostdlib -shared -o whole source.s && strip -o bare whole");
    *whole = build_open("whole");
    struct image *bare = build_open("bare");
    cr_assert_eq(image_derive_rows(bare, UINT64_MAX), 0);
    return bare;
}

static struct cfi_row row_at(const struct image *whole, const struct image *bare, const char *name)
{
    return cfi_lookup(image_cfi(bare), build_function(whole, name));
}

static void expect_row(const struct image *whole, const struct image *bare, const char *name,
                       struct cfi_row expected)
{
    const struct cfi_row row = row_at(whole, bare, name);
    cr_expect(cfi_row_same(&row, &expected), "%s: CFA %d%+d+%u, BP %d%+d", name, row.cfa, row.cfa_offset,
              row.cfa_add, row.bp, row.bp_offset);
}

/* musl's wrapper_cmp() of qsort(), behind the end of a function and a call that does not return. That a label's jump goes by an argument
 * proves nothing where no code takes its address. */
Test(derive, of_functions_that_only_call_an_argument, .fini = build_clean)
{
    build_source("wrap.s", ".globl start\n.text\n.p2align 4\n"
                           ".type start, @function\nstart: call sort\n ret\n.p2align 4\n"
                           ".type sorts, @function\nsorts: push %rbx\n call sort\n pop %rbx\n ret\n"
                           " call abort@plt\n.p2align 4\n"
                           ".type wrapped, @function\nwrapped: jmp *%rdx\n.p2align 4\n"
                           ".type high, @function\nhigh: endbr64\n jmp *%r9\n.p2align 4\n"
                           ".type own, @function\nown: jmp *%rbx\n.p2align 4\n"
                           ".type unknown, @function\nunknown: jmp *%rdx\n.p2align 4\n"
                           ".type sort, @function\nsort: lea wrapped(%rip), %rcx\n lea own(%rip), %rax\n"
                           " lea high(%rip), %rdi\n jmp sorts\n");
    build_run("$CC -nostdlib -shared -o whole wrap.s");
    build_run("objcopy --strip-all whole bare");
    struct image *whole = build_open("whole"), *bare = build_open("bare");
    cr_assert_eq(image_derive_rows(bare, UINT64_MAX), 0);
    const struct cfi_row row = row_at(whole, bare, "wrapped");
    cr_expect_eq(row.cfa, CFI_SP);
    cr_expect_eq(row.cfa_offset, 8);
    cr_expect_eq(row_at(whole, bare, "high").cfa, CFI_SP);
    cr_expect_eq(row_at(whole, bare, "own").cfa, CFI_NONE);
    cr_expect_eq(row_at(whole, bare, "unknown").cfa, CFI_NONE);
    image_close(bare);
    image_close(whole);
}

/* Without symbols functions are found first, and what begins in the middle of one has no rows. gcc puts what is hardly run into parts of
 * their own, in front of all functions. */
static const char cold_source[] =
    "#include <stdio.h>\n#include <stdlib.h>\n"
    "static __attribute__((noinline, noreturn, cold)) void die(const char *why, int x) {\n"
    "    fprintf(stderr, \"%s %d\\n\", why, x); exit(x); }\n"
    "static __attribute__((noinline, cold)) int mend(int *all, int n) { int sum = 0;\n"
    "    for (int i = 0; i < n; i++) sum += printf(\"%d\\n\", all[i]); return sum; }\n"
    "static __attribute__((noinline)) int checked(int *all, int n) { int mine[40], sum = 0;\n"
    "    if (n > 40) die(\"many\", n);\n"
    "    for (int i = 0; i < n; i++) { if (all[i] < 0) { sum += mend(all, n); all[i] = mend(mine, i); }\n"
    "        mine[i] = all[i] * 3; sum += getchar() + mine[i]; }\n"
    "    if (sum == 7) { mend(mine, n); puts(\"seven\"); sum += mend(all, 1); } return sum; }\n"
    "static __attribute__((noinline)) int pick(int n, int x) { switch (n) { case 0: return getchar(); case "
    "1: x += getchar();\n"
    "    case 2: x *= 7; break; case 3: return mend(&x, 1); case 4: puts(\"4\"); break; case 5: "
    "die(\"five\", x);\n"
    "    case 6: x -= getchar(); break; default: die(\"else\", n); } return x + rand(); }\n"
    "int main(int c, char **v) { int all[] = {c, rand(), 3}; return checked(all, 3) + pick(c, v[0][0]) + "
    "pick(rand(), 2); }\n";

static struct compared compare_stripped(void)
{
    struct compared compared = {0};
    build_run("objcopy --strip-all --remove-section .eh_frame --remove-section .eh_frame_hdr whole bare");
    struct image *whole = build_open("whole"), *bare = build_open("bare");
    cr_assert_eq(image_derive_rows(bare, UINT64_MAX), 0);
    for (uint32_t i = 0; i < image_function_count(whole); i++)
        if (image_function(whole, i)->name)
            compare_function(whole, bare, image_function(whole, i), &compared);
    image_close(bare);
    image_close(whole);
    return compared;
}

Test(derive, of_functions_without_symbols, .fini = build_clean)
{
    static const char *const flags[] = {"-O0 -fcf-protection=none", "-O1", "-O2 -fcf-protection=none",
                                        "-O3 -fcf-protection=full", "-Os", "-O2 -mavx2"};
    static const char *const sources[] = {source, cold_source};
    for (size_t i = 0; i < 2 * sizeof flags / sizeof *flags; i++) {
        build_source("frames.c", sources[i % 2]);
        build_run("$CC %s -o whole frames.c", flags[i / 2]);
        struct compared compared = compare_stripped();
        cr_expect_eq(compared.wrong, 0, "%s", flags[i / 2]);
        cr_expect_geq(compared.covered * 100ULL, compared.instructions * 97ULL, "%s: %u of %u", flags[i / 2],
                      compared.covered, compared.instructions);
        cr_expect_geq(compared.instructions, 100u);
    }
}

/* The parts are what no symbol or FDE tells of. */
static const char parts_source[] =
    ".irp name, hot, back, other, aligned, inside, done, switched, first, thrower, pad, part, foreign, "
    "leave, shared, "
    "never, second\n"
    ".type \\name, @function\n.endr\n"
    ".text\n.globl start\n.type start, @function\n"
    "start: push %rbx\n call hot\n call other\n call aligned\n call switched\n call thrower\n pop %rbx\n "
    "ret\n.size start, "
    ".-start\n"
    ".p2align 4\n"
    "hot: push %rbx\n sub $16, %rsp\n test %edi, %edi\n js part\n je shared\n"
    "back: add $16, %rsp\n pop %rbx\n ret\n"
    ".p2align 4\n"
    "other: sub $40, %rsp\n test %edi, %edi\n je shared\n add $40, %rsp\n ret\n"
    ".p2align 4\n"
    "aligned: lea 8(%rsp), %r10\n and $-32, %rsp\n push -8(%r10)\n push %rbp\n mov %rsp, %rbp\n push %r10\n"
    " sub $40, %rsp\n"
    "inside: call other\n add $40, %rsp\n pop %r10\n pop %rbp\n lea -8(%r10), %rsp\n"
    "done: ret\n"
    ".p2align 4\n"
    "switched: sub $24, %rsp\n cmp $1, %edi\n ja never\n lea table(%rip), %rdx\n movslq (%rdx,%rdi,4), %rax\n"
    " add %rdx, %rax\n jmp *%rax\n"
    "first: add $24, %rsp\n ret\n"
    ".p2align 4\n"
    "thrower: push %rbx\n call other\n mov %eax, %ebx\n pop %rbx\n ret\n"
    "pad: mov %rax, %rbx\n call abort@plt\n"
    ".section .rodata\n.p2align 2\ntable: .long first - table, second - table\n"
    ".section .text.unlikely,\"ax\"\n"
    "part: mov %edi, %esi\n jns leave\n call abort@plt\n"
    "foreign: mov %rax, %rbx\n ud2\n"
    "leave: xor %eax, %eax\n jmp back\n"
    "shared: xor %eax, %eax\n ud2\n"
    "never: mov %rbx, %rdi\n ud2\n"
    "second: xor %edi, %edi\n jmp first\n";

Test(derive, parts_have_the_rows_of_the_jumps_to_them, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(parts_source, &whole);
    cr_expect_eq(row_at(whole, bare, "part").cfa_offset, 32);
    cr_expect_eq(row_at(whole, bare, "leave").cfa_offset, 32);
    cr_expect_eq(row_at(whole, bare, "back").cfa_offset, 32);
    cr_expect_eq(row_at(whole, bare, "second").cfa_offset, 32);
    cr_expect_eq(row_at(whole, bare, "first").cfa_offset, 32);
    cr_expect_eq(row_at(whole, bare, "other").cfa_offset, 8);
    cr_expect_eq(row_at(whole, bare, "pad").cfa_offset, 16);
    cr_expect_eq(row_at(whole, bare, "foreign").cfa, CFI_NONE, "behind a call that does not return");
    cr_expect_eq(row_at(whole, bare, "shared").cfa, CFI_NONE, "of two functions with different rows");
    cr_expect_eq(row_at(whole, bare, "never").cfa, CFI_NONE, "a default that is never taken");
    struct cfi_row inside = row_at(whole, bare, "inside");
    cr_expect(inside.cfa == CFI_BP_MEMORY && inside.cfa_offset == -8 && inside.bp == CFI_BP_AT_BP &&
              inside.bp_offset == 0);
    cr_expect(row_at(whole, bare, "done").cfa == CFI_SP && row_at(whole, bare, "done").cfa_offset == 8);
    image_close(bare);
    image_close(whole);
}

/* Frames that are aligned, and lead back by a word: that of libjpeg-turbo, of libgcrypt, and of x86inc, which has pushed before. In the
 * next ones that word is overwritten, and differs by the way. */
static const char aligned_source[] =
    ".irp name, by_bp, kept, before, after, by_sp, out, in, back, pushed, deep, popped, lost, gone, two, "
    "met\n"
    ".type \\name, @function\n.endr\n"
    ".text\n.globl start\n.type start, @function\n"
    "start: push %rbx\n call by_bp\n call by_sp\n call pushed\n call lost\n call two\n call plain\n pop "
    "%rbx\n ret\n"
    ".size start, .-start\n"
    ".p2align 4\n"
    "by_bp: push %rbp\n mov %rsp, %rax\n sub $4, %rsp\n and $-32, %rsp\n mov %rax, (%rsp)\n"
    "before: mov %rsp, %rbp\n lea -64(%rbp), %rsp\n push %r12\n"
    "kept: call plain\n pop %r12\n mov %rbp, %rsp\n pop %rsp\n"
    "after: pop %rbp\n ret\n"
    ".p2align 4\n"
    "by_sp: xor %eax, %eax\n mov %rsp, %rax\n sub $208, %rsp\n and $-64, %rsp\n mov %rax, 0x98(%rsp)\n"
    " mov %rbp, 0xa0(%rsp)\n"
    "in: xor %ebp, %ebp\n call plain\n mov 0xa0(%rsp), %rbp\n"
    "back: mov 0x98(%rsp), %rsp\n"
    "out: ret\n"
    ".p2align 4\n"
    "pushed: push %rbx\n push %r12\n mov %rsp, %rcx\n and $-32, %rsp\n sub $96, %rsp\n mov %rcx, 64(%rsp)\n"
    " push %rdi\n"
    "deep: call plain\n pop %rdi\n mov 64(%rsp), %rsp\n"
    "popped: pop %r12\n pop %rbx\n ret\n"
    ".p2align 4\n"
    "lost: mov %rsp, %rax\n and $-32, %rsp\n mov %rax, (%rsp)\n mov %rdi, (%rsp)\n"
    "gone: call plain\n mov (%rsp), %rsp\n ret\n"
    ".p2align 4\n"
    "two: mov %rsp, %rax\n and $-32, %rsp\n sub $32, %rsp\n test %edi, %edi\n je 1f\n mov %rax, (%rsp)\n jmp "
    "2f\n"
    "1: mov %rax, 8(%rsp)\n2: xor %eax, %eax\n"
    "met: ud2\n"
    ".p2align 4\n"
    "plain: xor %eax, %eax\n ret\n";

Test(derive, aligned_frames_lead_back_by_a_word, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(aligned_source, &whole);
    const struct {
        const char *name;
        struct cfi_row row;
    } expected[] = {
        {"before", {.cfa = CFI_SP_MEMORY, .cfa_add = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16}},
        {"kept", {.cfa = CFI_BP_MEMORY, .cfa_add = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16}},
        {"after", {.cfa = CFI_SP, .cfa_offset = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16}},
        {"in", {CFI_SP_MEMORY, CFI_BP_AT_SP, .cfa_add = 8, .cfa_offset = 0x98, .bp_offset = 0xa0}},
        {"back", {.cfa = CFI_SP_MEMORY, .cfa_add = 8, .cfa_offset = 0x98, .bp = CFI_BP_SAME}},
        {"out", {.cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_SAME}},
        {"deep", {.cfa = CFI_SP_MEMORY, .cfa_add = 24, .cfa_offset = 72, .bp = CFI_BP_SAME}},
        {"popped", {.cfa = CFI_SP, .cfa_offset = 24, .bp = CFI_BP_SAME}},
        {"gone", {.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN}},
        {"met", {.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        expect_row(whole, bare, expected[i].name, expected[i].row);
    image_close(bare);
    image_close(whole);
}

/* Code with an FDE ends by a jump to a function that has none, and pushes nothing first. */
static const char jumped_source[] =
    ".irp name, other, jumped, inside\n.type \\name, @function\n.endr\n"
    ".text\n.globl thunk\n.type thunk, @function\n"
    "thunk: .cfi_startproc\n nop\n jmp jumped\n .cfi_endproc\n.size thunk, .-thunk\n"
    ".p2align 4\nother: xor %eax, %eax\n jmp 1f\n1: ret\n"
    ".p2align 4\njumped: movups (%rdx), %xmm3\n push %rbx\n"
    "inside: nop\n pop %rbx\n ret\n";

Test(derive, what_covered_code_jumps_to_is_a_function, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(jumped_source, &whole);
    const struct cfi_row row = row_at(whole, bare, "inside");
    cr_expect(row.cfa == CFI_SP && row.cfa_offset == 16, "CFA %d%+d", row.cfa, row.cfa_offset);
    image_close(bare);
    image_close(whole);
}

/* A function that goes on into the next one, which is called, too, returns as that does. */
static const char fallen_source[] =
    ".irp name, user, half, rest, inside\n.type \\name, @function\n.endr\n"
    ".text\n.globl start\n.type start, @function\nstart: call user\n call rest\n ret\n.size start, .-start\n"
    ".p2align 4\nuser: sub $24, %rsp\n call half\ninside: nop\n jmp 1f\n1: add $24, %rsp\n ret\n"
    ".p2align 4\nhalf: lea (%rsi,%rsi,2), %rdx\nrest: mov %edi, %eax\n ret\n";

Test(derive, what_goes_on_into_a_function_returns_as_it_does, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(fallen_source, &whole);
    const struct cfi_row row = row_at(whole, bare, "inside");
    cr_expect(row.cfa == CFI_SP && row.cfa_offset == 32, "CFA %d%+d", row.cfa, row.cfa_offset);
    image_close(bare);
    image_close(whole);
}

/* Functions that share another one's end, which they enter at different places, from far away. What they go on to there may be another
 * function's, but for the rows of one that is called. */
static const char shared_source[] =
    ".irp name, called, pointed, later\n.type \\name, @function\n.endr\n"
    ".text\n.globl start\n.type start, @function\n"
    "start: lea pointed(%rip), %rax\n lea later(%rip), %rdx\n call called\n ret\n.size start, .-start\n"
    ".p2align 4\ncalled: xor %eax, %eax\n1: not %edi\n2: add %edi, %eax\n ret\n"
    ".p2align 8\n.fill 128, 1, 0xcc\n"
    "pointed: mov $1, %eax\n jmp 1b\n"
    ".p2align 4\nlater: mov $2, %eax\n jmp 2b\n";

Test(derive, functions_share_the_end_of_one_that_is_called, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(shared_source, &whole);
    cr_expect_eq(row_at(whole, bare, "pointed").cfa_offset, 8);
    cr_expect_eq(row_at(whole, bare, "later").cfa_offset, 8);
    image_close(bare);
    image_close(whole);
}

/* An aligned frame of which a register alone leads back, as x86inc has them: one that callees keep, one that they do not, and one
 * that this callee does. */
static const char register_source[] =
    ".irp name, kept, in, back, leaf, free, other, behind, held, still\n.type \\name, @function\n.endr\n"
    ".text\n.globl start\n.type start, @function\nstart: call kept\n call leaf\n call other\n ret\n.size "
    "start, .-start\n"
    ".p2align 4\nkept: push %rbp\n push %r14\n mov %rsp, %r14\n and $-64, %rsp\n sub $256, %rsp\n xor %ebp, "
    "%ebp\n"
    "in: call plain\n add $8, %rsp\nback: mov %r14, %rsp\n pop %r14\n pop %rbp\n ret\n"
    ".p2align 4\nleaf: mov %rsp, %r9\n and $-32, %rsp\nfree: nop\n mov %r9, %rsp\n ret\n"
    ".p2align 4\nother: mov %rsp, %rax\n and $-32, %rsp\n call plain\nbehind: ud2\n"
    ".p2align 4\nheld: mov %rsp, %rcx\n and $-32, %rsp\n call plain\nstill: mov %rcx, %rsp\n ret\n"
    ".p2align 4\nplain: xor %eax, %eax\n ret\n";

Test(derive, aligned_frames_lead_back_by_a_register, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(register_source, &whole);
    const struct cfi_row kept = {CFI_UNSUPPORTED, CFI_BP_AT_CFA, .cfa_add = 14 * 8, .cfa_offset = 24,
                                 .bp_offset = -16};
    expect_row(whole, bare, "in", kept);
    expect_row(whole, bare, "back", kept);
    expect_row(whole, bare, "free", (struct cfi_row){CFI_UNSUPPORTED, CFI_BP_SAME, 9 * 8, .cfa_offset = 8});
    expect_row(whole, bare, "still", (struct cfi_row){CFI_UNSUPPORTED, CFI_BP_SAME, 8, .cfa_offset = 8});
    expect_row(whole, bare, "behind", (struct cfi_row){.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN});
    struct cfi_registers rules;
    cr_assert(image_registers(bare, build_function(whole, "in"), &rules));
    cr_expect(rules.cfa.where == CFI_REGISTER && rules.cfa.number == 14 && rules.cfa.offset == 24);
    cr_expect(rules.of[6].where == CFI_AT_CFA && rules.of[6].offset == -16, "rbp");
    cr_expect(rules.of[16].where == CFI_AT_CFA && rules.of[16].offset == -8, "the return address");
    image_close(bare);
    image_close(whole);
}

/* Assembler that does not keep BP, or in a word of its frame. What calls it does not, either, wherever it stands. A function that may be
 * none (pointed) is one only if it keeps BP. */
static const char bp_source[] =
    ".irp name, calls, behind, loses, lost, keeps, kept, back, over, gone, pointed\n.type \\name, "
    "@function\n.endr\n"
    ".text\n.globl start\n.type start, @function\n"
    "start: call calls\n call keeps\n call over\n lea pointed(%rip), %rax\n ret\n.size start, .-start\n"
    ".p2align 4\ncalls: push %rbx\n call loses\nbehind: nop\n pop %rbx\n ret\n"
    ".p2align 4\nloses: xor %ebp, %ebp\nlost: nop\n ret\n"
    ".p2align 4\nkeeps: sub $24, %rsp\n mov %rbp, 8(%rsp)\n xor %ebp, %ebp\n"
    "kept: nop\n mov 8(%rsp), %rbp\nback: add $24, %rsp\n ret\n"
    ".p2align 4\nover: sub $24, %rsp\n mov %rbp, 8(%rsp)\n mov %rdi, 8(%rsp)\n xor %ebp, %ebp\n"
    "gone: nop\n add $24, %rsp\n ret\n"
    ".p2align 4\npointed: xor %ebp, %ebp\n ret\n";

Test(derive, of_functions_that_do_not_keep_bp, .fini = build_clean)
{
    struct image *whole, *bare = bare_of(bp_source, &whole);
    const struct {
        const char *name;
        struct cfi_row row;
    } expected[] = {
        {"calls", {.cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_SAME}},
        {"behind", {.cfa = CFI_SP, .cfa_offset = 16, .bp = CFI_BP_UNKNOWN}},
        {"loses", {.cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_SAME}},
        {"lost", {.cfa = CFI_SP, .cfa_offset = 8, .bp = CFI_BP_UNKNOWN}},
        {"kept", {.cfa = CFI_SP, .cfa_offset = 32, .bp = CFI_BP_AT_CFA, .bp_offset = -24}},
        {"back", {.cfa = CFI_SP, .cfa_offset = 32, .bp = CFI_BP_SAME}},
        {"gone", {.cfa = CFI_SP, .cfa_offset = 32, .bp = CFI_BP_UNKNOWN}},
        {"pointed", {.cfa = CFI_NONE, .bp = CFI_BP_UNKNOWN}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        expect_row(whole, bare, expected[i].name, expected[i].row);
    image_close(bare);
    image_close(whole);
}

/* Whether the part of a function that changes BP was derived before does not matter to those that call it from far away. */
Test(derive, parts_in_any_order, .fini = build_clean)
{
    build_source("far.s",
                 ".globl near\n.text\n"
                 ".type near, @function\nnear: push %rbx\n call far\n pop %rbx\n ret\n.size near, .-near\n"
                 ".skip 1 << 20, 0xcc\n"
                 ".type far, @function\nfar: xor %ebp, %ebp\n ret\n.size far, .-far\n");
    build_run("$CC -nostdlib -shared -o bare far.s");
    struct image *image = build_open("bare");
    cr_assert_eq(image_derive_rows(image, IN_PARTS), 0);
    const uint64_t far = build_function(image, "far"), near = build_function(image, "near");
    cr_expect_eq(cfi_lookup(image_cfi(image), far).cfa, CFI_SP);
    cr_expect_eq(cfi_lookup(image_cfi(image), near).cfa, CFI_SP);
    image_close(image);
    compare_orders();
}

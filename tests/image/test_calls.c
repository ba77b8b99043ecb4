/* The calls of programs whose source says what they are. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/calls/calls.h"
#include "image/calls/entry_checks.h"
#include "image/cfi/cfi.h"
#include "tests/image/build.h"

static struct image *image;
static struct calls *calls;

static void open_calls(const char *name)
{
    struct fathom_error err = {0};
    image = build_open(name);
    cr_assert_eq(calls_build(image, &calls, &err), 0, "%s", err.text);
}

static void close_calls(void)
{
    calls_free(calls);
    image_close(image);
    build_clean();
}

static uint32_t function(const char *name)
{
    uint32_t f = image_function_entry(image, build_function(image, name));
    cr_assert_neq(f, IMAGE_NO_FUNCTION);
    return f;
}

static size_t sites_of(const char *name, const struct call_site **out)
{
    return calls_of(calls, function(name), out);
}

/* The n-th site of `caller` that leads to `callee` by whatever way names it; NULL: there are less. */
static const struct call_site *site(const char *caller, const char *callee, unsigned n)
{
    const struct call_site *sites;
    size_t count = sites_of(caller, &sites);
    for (size_t i = 0; i < count; i++) {
        const struct call_site *s = &sites[i];
        uint32_t f = s->target ? image_function_entry(image, s->target) : IMAGE_NO_FUNCTION;
        const char *name = s->symbol                ? s->symbol
                           : f == IMAGE_NO_FUNCTION ? "*"
                                                    : image_function(image, f)->name;
        if (strcmp(name, callee) == 0 && n-- == 0)
            return s;
    }
    return NULL;
}

#define NEED(s) cr_assert_not_null(s)

static bool is_taken(const char *name)
{
    const uint32_t *taken;
    size_t count = calls_taken(calls, &taken);
    for (size_t i = 0; i < count; i++)
        if (taken[i] == function(name))
            return true;
    return false;
}

static const char basics[] =
    "#include <string.h>\n#include <stdio.h>\n"
    "#define F __attribute__((noinline, noipa)) int\n"
    "F leaf(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
    "F direct(int x) { return leaf(x) + 1; }\n"
    "F jumps(int x) { return leaf(x * 2); }\n"
    "F length(const char *s) { return (int)strlen(s) + 1; }\n"
    "F show(const char *s) { return puts(s); }\n"
    "F many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {\n"
    "    __asm__ volatile(\"\"); return a + b + c + d + e + f + g + h + i; }\n"
    "F pushes(int x) { int r = leaf(x); r += many(r, 2, 3, 4, 5, 6, 7, x, r); return r + leaf(r); }\n"
    "int (*hook)(int) = direct;\n"
    "int (*const table[])(int) = {leaf, jumps};\n"
    "int (*later)(int);\n"
    "F stored(int x) { __asm__ volatile(\"\"); return x; }\n"
    "F stores(int x) { later = stored; return later(x); }\n"
    "F through(int x) { return hook(x) + 1; }\n"
    "F pointer(int (*f)(int), int x) { return f(x) + 1; }\n"
    "F last(int (*f)(int), int x) { return f(x); }\n"
    "F passes(int x) { return pointer(pushes, x) + 1; }\n"
    "F nobody(int x) { __asm__ volatile(\"\"); return x; }\n"
    "F itself(int x) { return x > 1 ? itself(x - 1) * itself(x - 2) : nobody(x); }\n"
    "int main(int c, char **v) { return table[c & 1](c) + through(c) + passes(c) + last(jumps, c)\n"
    "    + length(v[0]) + show(v[0]) + itself(c) + stores(c); }\n";

static void check_basics(void)
{
    const struct call_site *s = site("direct", "leaf", 0);
    NEED(s);
    cr_expect_eq(s->kind, CALL_DIRECT);
    cr_expect_not(s->tail);
    cr_expect_not(s->open);
    cr_expect_eq(s->next, s->address + 5);
    cr_expect_eq(s->offset % 8, 0);
    cr_expect_gt(s->offset, 0);
    cr_expect_eq(calls_before(calls, s->next), s);
    cr_expect_null(calls_before(calls, s->next - 1));
    cr_expect_null(calls_before(calls, 0));
    cr_expect_null(calls_before(calls, UINT64_MAX));

    NEED(s = site("jumps", "leaf", 0));
    cr_expect_eq(s->kind, CALL_DIRECT);
    cr_expect(s->tail);
    cr_expect_eq(s->next, 0);
    cr_expect_null(calls_before(calls, s->address + 5));

    NEED(s = site("length", "strlen", 0));
    cr_expect_eq(s->kind, CALL_IMPORT);
    cr_expect_not(s->tail);
    NEED(s = site("show", "puts", 0));
    cr_expect_eq(s->kind, CALL_IMPORT);
    cr_expect(s->tail);

    NEED(s = site("through", "direct", 0));
    cr_expect_eq(s->kind, CALL_INDIRECT);
    const struct call_site *sites;
    cr_assert_eq(sites_of("pointer", &sites), 1);
    cr_expect_eq(sites->kind, CALL_INDIRECT);
    cr_expect_eq(sites->target, 0);
    cr_expect_not(sites->tail);
    cr_assert_eq(sites_of("last", &sites), 1);
    cr_expect(sites->tail);
    cr_expect_eq(sites->kind, CALL_INDIRECT);
    NEED(site("itself", "itself", 0));

    cr_expect(is_taken("leaf"));
    cr_expect(is_taken("jumps"));
    cr_expect(is_taken("direct"));
    cr_expect(is_taken("pushes"));
    cr_expect(is_taken("main"));
    cr_expect(is_taken("stored"));
    cr_expect_not(is_taken("nobody"));
    cr_expect_not(is_taken("itself"));
    const uint32_t *by;
    cr_assert_eq(calls_taken_by(calls, function("passes"), &by), 1);
    cr_expect_eq(by[0], function("pushes"));
    cr_expect_eq(calls_taken_by(calls, function("direct"), &by), 0);
}

/* Calls of one function with and without arguments on the stack: the pushed ones count. */
static void check_pushes(bool frame_pointer)
{
    const struct call_site *one = site("pushes", "leaf", 0), *many = site("pushes", "many", 0),
                           *other = site("pushes", "leaf", 1);
    NEED(one);
    NEED(many);
    NEED(other);
    cr_expect_eq(one->offset, other->offset);
    cr_expect_eq(many->offset - one->offset, 32, "3 words and 8 bytes of alignment, not %d",
                 many->offset - one->offset);
    struct cfi_row row = cfi_lookup(image_cfi(image), many->address);
    cr_expect_eq(row.cfa, frame_pointer ? CFI_BP : CFI_SP);
}

Test(calls, basic_kinds, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fPIE -pie -o basics basics.c");
    open_calls("basics");
    check_basics();
    check_pushes(false);
    const struct call_site *s = site("length", "strlen", 0);
    cr_expect(image_function_is_stub(image, image_function_entry(image, s->target)));
}

Test(calls, got_calls, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fno-plt -o basics basics.c");
    open_calls("basics");
    check_basics();
    cr_expect_eq(site("length", "strlen", 0)->target, 0);
    const char *const *symbols;
    size_t count = calls_taken_symbols(calls, &symbols);
    for (size_t i = 0; i < count; i++)
        cr_expect_str_neq(symbols[i], "strlen", "its slot is only called through");
}

Test(calls, fixed_address, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fno-pie -no-pie -o basics basics.c");
    open_calls("basics");
    check_basics();
    check_pushes(false);
}

/* Pointers that only DT_RELR tells of are seen as those of DT_RELA are. */
Test(calls, packed_relocations, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fPIE -pie -Wl,-z,pack-relative-relocs -o basics basics.c");
    build_run("readelf -d basics | grep -q '(RELR)' && ! readelf -r basics | grep -q R_X86_64_RELATIVE");
    open_calls("basics");
    check_basics();
}

Test(calls, frame_pointers, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o basics basics.c");
    open_calls("basics");
    check_basics();
    check_pushes(true);
}

Test(calls, endbr_and_notrack, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -fcf-protection -o basics basics.c");
    open_calls("basics");
    check_basics();
}

Test(calls, clang, .fini = close_calls)
{
    if (system("clang --version >/dev/null 2>&1") != 0)
        cr_skip_test("clang is not installed");
    build_source("basics.c", basics);
    build_run("clang -O2 -Wno-attributes -fPIE -pie -o basics basics.c");
    open_calls("basics");
    const struct call_site *s = site("direct", "leaf", 0), *sites;
    NEED(s);
    cr_expect_eq(s->offset, 16);
    NEED(s = site("length", "strlen", 0));
    NEED(s = site("show", "puts", 0));
    cr_expect(s->tail);
    cr_assert_eq(sites_of("last", &sites), 1);
    cr_expect(sites->tail);
    check_pushes(false);
}

/* A stripped program has the same sites. */
Test(calls, stripped, .fini = close_calls)
{
    build_source("basics.c", basics);
    build_run("gcc -O2 -o basics basics.c && strip -o bare basics");
    open_calls("bare");
    struct image *whole = build_open("basics");
    struct calls *of_whole;
    cr_assert_eq(calls_build(whole, &of_whole, NULL), 0);
    const struct call_site *sites;
    size_t count = calls_all(of_whole, &sites), compared = 0;
    for (size_t i = 0; i < count; i++) {
        const struct call_site *other = sites[i].next ? calls_before(calls, sites[i].next) : NULL;
        /* (without symbols nothing tells the start-up code, which has no FDE) */
        if (!other)
            continue;
        compared++;
        cr_expect_eq(other->kind, sites[i].kind);
        cr_expect_eq(other->offset, sites[i].offset);
        cr_expect_eq(other->target, sites[i].target);
    }
    cr_expect_geq(compared, 12);
    calls_free(of_whole);
    image_close(whole);
}

Test(calls, frames_of_dynamic_size_are_open, .fini = close_calls)
{
    build_source(
        "open.c",
        "#define F __attribute__((noinline)) int\n"
        "F leaf(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
        "F use(char *p) { __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); return *p; }\n"
        "F dynamic(int n) { int r = leaf(n); if (r < 100) { char *p = __builtin_alloca((unsigned long)n);\n"
        "    r += use(p); } return r; }\n"
        "F aligned(int n) { char line[64] __attribute__((aligned(64))); int r = leaf(n);\n"
        "    r += use(line); return r; }\n"
        "F plain(int n) { char line[64]; return use(line) + leaf(n); }\n"
        "int main(int c, char **v) { (void)v; return dynamic(c) + aligned(c) + plain(c); }\n");
    build_run("gcc -O2 -fno-omit-frame-pointer -fno-shrink-wrap -o open open.c");
    open_calls("open");
    const struct call_site *before = site("dynamic", "leaf", 0), *after = site("dynamic", "use", 0);
    NEED(before);
    NEED(after);
    cr_expect_not(before->open, "SP has not moved yet");
    cr_expect(after->open);
    const struct call_site *s;
    NEED(s = site("aligned", "leaf", 0));
    cr_expect(s->open);
    NEED(s = site("aligned", "use", 0));
    cr_expect(s->open);
    NEED(s = site("plain", "use", 0));
    cr_expect_not(s->open);
    cr_expect_eq(s->offset % 16, 0);
    cr_expect_geq(s->offset, 64 + 16);
}

/* Switches stay in their function, whichever way the compiler writes their tables; so do computed jumps. */
static const char switches[] =
    "#define F __attribute__((noinline)) int\n"
    "F leaf(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
    "F other(int x) { __asm__ volatile(\"\"); return x + 2; }\n"
    "F choose(int x) { switch (x) { case 0: return leaf(7) * 3; case 1: return other(x) + 1;\n"
    "    case 2: return leaf(leaf(x)) + 5; case 3: return x * x; case 4: return other(3) - x;\n"
    "    case 5: return leaf(x) + other(x); case 6: return 1; } return 0; }\n"
    "F bare(int x, int y) { switch (x) { case 0: return y * 3; case 1: return y + 1; case 2: return y - 7;\n"
    "    case 3: return y * y; case 4: return ~y; case 5: return y << 3; } return leaf(y); }\n"
    "F computed(const unsigned char *p, int y) { static void *const to[] = {&&a, &&b, &&c, &&d};\n"
    "    goto *to[*p++]; a: y += 3; goto *to[*p++]; b: y *= y; goto *to[*p++]; c: y ^= 5; goto *to[*p++];\n"
    "    d: return y; }\n"
    "int main(int c, char **v) { return choose(c) + bare(c, c) + computed((unsigned char *)v[0], c); }\n";

static void check_switches(void)
{
    const struct call_site *sites;
    size_t count = sites_of("choose", &sites), to_leaf = 0, to_other = 0;
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(sites[i].kind, CALL_DIRECT, "%lx", sites[i].address);
        cr_expect_not(sites[i].open);
        to_leaf += sites[i].target == build_function(image, "leaf");
        to_other += sites[i].target == build_function(image, "other");
    }
    cr_expect_geq(to_leaf, 3);
    cr_expect_geq(to_other, 2);
    cr_assert_eq(sites_of("bare", &sites), 1, "only the call at its end");
    cr_expect_eq(sites->target, build_function(image, "leaf"));
    cr_expect_eq(sites_of("computed", &sites), 0);
}

Test(calls, switches_relative, .fini = close_calls)
{
    build_source("switch.c", switches);
    build_run("gcc -O2 -fPIE -pie -fno-tree-switch-conversion -o switch switch.c");
    open_calls("switch");
    check_switches();
}

Test(calls, switches_absolute, .fini = close_calls)
{
    build_source("switch.c", switches);
    build_run("gcc -O2 -fno-pie -no-pie -fno-tree-switch-conversion -o switch switch.c");
    open_calls("switch");
    check_switches();
}

Test(calls, switches_with_frame_pointers, .fini = close_calls)
{
    build_source("switch.c", switches);
    build_run("gcc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-tree-switch-conversion "
              "-o switch switch.c");
    open_calls("switch");
    check_switches();
}

/* A function that jumps through a table of functions, itself among them, leaves; a switch with a case that goes
 * on at the function's start does not. */
static const char jump_tables[] =
    "#define F __attribute__((noipa)) int\n"
    "int itself(int x); int away(int x);\n"
    "static int (*const volatile ways[])(int) = {itself, away};\n"
    "F itself(int x) { return x < 3 ? x : ways[x & 1](x - 1); }\n"
    "F away(int x) { return x + 2; }\n"
    "int again(int x);\n"
    "__asm__(\".text\\n.globl again\\n.type again, @function\\nagain: .cfi_startproc\\n\"\n"
    "    \"dec %edi\\nmov %edi, %eax\\nand $3, %eax\\njmp *cases(,%rax,8)\\n\"\n"
    "    \"1: mov $1, %eax\\nret\\n2: mov $2, %eax\\nret\\n.cfi_endproc\\n.size again, . - again\\n\"\n"
    "    \".section .data.rel.ro,\\\"aw\\\"\\n.balign 8\\ncases: .quad again, 1b, again, 2b\\n.text\\n\");\n"
    "int main(int c, char **v) { (void)v; return itself(c) + again(c); }\n";

Test(calls, tables_of_functions_that_have_the_function_itself, .fini = close_calls)
{
    build_source("tables.c", jump_tables);
    build_run("gcc -O2 -fno-pie -no-pie -o tables tables.c");
    open_calls("tables");
    const struct call_site *sites;
    cr_assert_eq(sites_of("itself", &sites), 1);
    cr_expect(sites->tail);
    cr_expect_eq(sites->kind, CALL_INDIRECT);
    cr_expect_eq(sites_of("again", &sites), 0);
}

/* As in the C library's string functions; the last one jumps to what lies behind another function. */
static const char computed_jumps[] =
    "#define F(name) \".globl \" #name \"\\n.type \" #name \", @function\\n\" #name \": .cfi_startproc\\n\"\n"
    "#define E(name) \".cfi_endproc\\n.size \" #name \", . - \" #name \"\\n\"\n"
    "__asm__(\".text\\n\"\n"
    "    F(added) \"lea 1f(%rip), %r9\\nshl $2, %edi\\nadd %r9, %rdi\\njmp *%rdi\\n\"\n"
    "    \"1: mov $1, %eax\\nret\\n\" E(added)\n"
    "    F(summed) \"lea table(%rip), %r11\\nmovslq (%r11,%rdi,4), %rcx\\nlea (%r11,%rcx,1), %rcx\\njmp "
    "*%rcx\\n\"\n"
    "    \"1: mov $1, %eax\\nret\\n2: mov $2, %eax\\nret\\n\" E(summed)\n"
    "    F(checked) \"cmp %rdx, %rcx\\njb added\\n\" E(checked)\n"
    "    F(padded) \"mov %rdi, %rax\\nnop\\nnopl 0(%rax,%rax,1)\\n\" E(padded)\n"
    "    F(outside) \"lea added(%rip), %r9\\nadd %r9, %rdi\\njmp *%rdi\\n\" E(outside)\n"
    "    \".section .rodata\\n.balign 4\\ntable: .long 1b - table, 2b - table\\n.text\\n\");\n"
    "int puts(const char *);\n"
    "int main(void) { return puts(\"x\"); }\n";

Test(calls, jumps_that_are_computed, .fini = close_calls)
{
    build_source("computed.c", computed_jumps);
    build_run("gcc -O2 -o computed computed.c");
    open_calls("computed");
    const struct call_site *sites;
    cr_expect_eq(sites_of("added", &sites), 0);
    cr_expect_eq(sites_of("summed", &sites), 0);
    cr_assert_eq(sites_of("checked", &sites), 2); /* the branch, and on into what follows */
    cr_expect(sites[0].tail && sites[1].tail);
    cr_expect(sites[1].target == build_function(image, "padded") ||
              sites[0].target == build_function(image, "padded"));
    cr_assert_eq(sites_of("padded", &sites), 1); /* its last instructions do nothing */
    cr_expect(sites[0].tail);
    cr_expect_eq(sites[0].target, build_function(image, "outside"));
    cr_assert_eq(sites_of("outside", &sites), 1);
    cr_expect(sites->tail);
    cr_expect_eq(sites->kind, CALL_INDIRECT);
}

/* What a PLT that binds lazily leads to: nothing but the loader. */
Test(calls, lazy_binding, .fini = close_calls)
{
    build_source("computed.c", computed_jumps);
    build_run("gcc -O2 -Wl,-z,lazy -o lazy computed.c");
    open_calls("lazy");
    const struct call_site *sites;
    size_t count = calls_all(calls, &sites), binders = 0;
    for (size_t i = 0; i < count; i++)
        binders += sites[i].kind == CALL_BINDER && sites[i].tail;
    cr_expect_eq(binders, 1, "%zu", binders);
}

/* The loader's own side of it: a few functions, which lead to no other by a jump. */
Test(calls, binders, .fini = close_calls)
{
    build_run("cp \"$(gcc -print-file-name=ld-linux-x86-64.so.2)\" loader");
    open_calls("loader");
    size_t binders = 0;
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        const struct call_site *sites;
        if (!calls_is_binder(calls, f))
            continue;
        binders++;
        for (size_t i = calls_of(calls, f, &sites); i-- > 0;)
            cr_expect(!sites[i].tail || sites[i].kind != CALL_INDIRECT, "%s at %lx",
                      image_function(image, f)->name, sites[i].address);
    }
    cr_expect(binders >= 1 && binders <= 8, "%zu", binders);
}

Test(calls, vtables, .fini = close_calls)
{
    build_source(
        "virtual.cc",
        "struct shape { virtual int area(int); virtual int edge(int) = 0; int n; };\n"
        "struct named { virtual int name(int); int m; };\n"
        "int shape::area(int x) { return x + n; }\n"
        "int named::name(int x) { return x * m; }\n"
        "struct square : shape, named { int edge(int x) override; int name(int x) override; };\n"
        "int square::edge(int x) { return x * 3; }\n"
        "int square::name(int x) { return x * 5; }\n"
        "extern \"C\" __attribute__((noinline)) int call_edge(shape *s, int x) { return s->edge(x) + 1; }\n"
        "extern \"C\" __attribute__((noinline)) int call_area(shape *s, int x) { return s->area(x); }\n"
        "int main(int c, char **) { square s; s.n = c; s.m = c; named *n = &s;\n"
        "    return call_edge(&s, c) + call_area(&s, c) + n->name(c); }\n");
    build_run("g++ -O2 -o virtual virtual.cc");
    open_calls("virtual");
    const struct call_site *sites;
    cr_assert_eq(sites_of("call_edge", &sites), 1);
    cr_expect_eq(sites->kind, CALL_INDIRECT);
    cr_expect_eq(sites->field, 8);
    cr_assert_eq(sites_of("call_area", &sites), 1);
    cr_expect_eq(sites->field, 0);
    cr_expect(sites->tail);
    cr_expect(is_taken("_ZN6square4edgeEi"));
    cr_expect(is_taken("_ZThn16_N6square4nameEi"));
    const struct call_table *tables;
    size_t count = calls_tables(calls, &tables), primary = 0, secondary = 0, pure = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *f = tables[i].functions;
        if (tables[i].count == 3 && f[0] == function("_ZN5shape4areaEi"))
            primary += f[1] == function("_ZN6square4edgeEi") && f[2] == function("_ZN6square4nameEi");
        secondary += tables[i].count == 1 && f[0] == function("_ZThn16_N6square4nameEi");
        pure += tables[i].count == 2 && f[0] == function("_ZN5shape4areaEi") && f[1] == IMAGE_NO_FUNCTION;
    }
    cr_expect_eq(primary, 1);
    cr_expect_eq(secondary, 1);
    cr_expect_eq(pure, 1, "shape's own, with __cxa_pure_virtual");
}

/* The n-th function by name that stands in this field of an object; NULL: there are less. */
static const char *in_field(int32_t field, unsigned n)
{
    const struct call_field *fields;
    size_t count = calls_fields(calls, &fields);
    for (size_t i = 0; i < count; i++)
        if (fields[i].field == field && n-- == 0)
            return fields[i].symbol ? fields[i].symbol : image_function(image, fields[i].function)->name;
    return NULL;
}

static void check_fields(void)
{
    cr_expect_str_eq(in_field(8, 0), "file_open");
    cr_expect_str_eq(in_field(8, 1), "pipe_open");
    cr_expect_null(in_field(8, 2));
    cr_expect_str_eq(in_field(24, 0), "both_close");
    cr_expect_null(in_field(24, 1), "each once");
    cr_expect_null(in_field(16, 0));
    const struct call_site *s = site("use", "*", 0);
    NEED(s);
    cr_expect_eq(s->field, 8);
}

/* Structures of pointers to functions, which code and data point to. */
Test(calls, fields, .fini = close_calls)
{
    build_source("fields.c",
                 "#define F __attribute__((noipa)) int\n"
                 "struct methods { long version; int (*open)(int); long flags; int (*close)(int); };\n"
                 "F file_open(int x) { return x + 1; }\n"
                 "F pipe_open(int x) { return x + 2; }\n"
                 "F both_close(int x) { return x + 3; }\n"
                 "static const struct methods file = {1, file_open, 0, both_close};\n"
                 "static const struct methods pipes = {1, pipe_open, 0, both_close};\n"
                 "const struct methods *choice = &pipes;\n"
                 "F use(const struct methods *m, int x) { return m->open(x) + 1; }\n"
                 "int main(int c, char **v) { (void)v; return use(c > 1 ? choice : &file, c); }\n");
    build_run("gcc -O2 -o fields fields.c");
    open_calls("fields");
    check_fields();
}

Test(calls, functions_that_never_return, .fini = close_calls)
{
    build_source("ends.c", "#include <stdlib.h>\n"
                           "#define F __attribute__((noipa)) int\n"
                           "F leaf(int x) { return x + 1; }\n"
                           "__attribute__((noipa, noreturn)) void fail(int x) { exit(x); }\n"
                           "F checks(int x) { if (x > 5) fail(x); return leaf(x) + 1; }\n"
                           "F jumps(int x) { return leaf(x * 2); }\n"
                           "int main(int c, char **v) { (void)v; return checks(c) + jumps(c); }\n");
    build_run("gcc -O2 -o ends ends.c");
    open_calls("ends");
    cr_expect_not(calls_returns(calls, function("fail")));
    cr_expect(calls_returns(calls, function("leaf")));
    cr_expect(calls_returns(calls, function("checks")));
    cr_expect(calls_returns(calls, function("jumps")), "its target does");
    cr_expect_not(calls_returns(calls, UINT32_MAX));
}

/* Calls of a part that gcc moved away belong to the function that it is from, at its frame's depth. */
Test(calls, cold_parts, .fini = close_calls)
{
    build_source("cold.c",
                 "#define F __attribute__((noipa)) int\n"
                 "__attribute__((cold, noipa)) void repair(int x) { __asm__ volatile(\"\" : : \"r\"(x)); }\n"
                 "F leaf(int x) { return x + 1; }\n"
                 "F plain(int x) { volatile char frame[40]; frame[0] = 1; int r = leaf(x);\n"
                 "    if (x > 5) { repair(x); repair(r); } return r; }\n"
                 "int main(int c, char **v) { (void)v; return plain(c); }\n");
    build_run("gcc -O2 -o cold cold.c"); /* clang splits no functions */
    open_calls("cold");
    const struct call_site *hot = site("plain", "leaf", 0), *cold = site("plain", "repair", 1);
    NEED(hot);
    NEED(cold);
    uint32_t f = function("plain");
    /* (unsigned: below or above) */
    cr_expect_geq(cold->address - image_function(image, f)->address, image_function(image, f)->size);
    cr_expect_eq(cold->offset, hot->offset);
    cr_expect_eq(cold->function, f);
    cr_expect_eq(calls_before(calls, cold->next), cold);
}

/* What other images can call, and what that calls. */
static const char entered[] =
    "#define F __attribute__((noinline, noipa)) int\n"
    "static F deep(int x) { __asm__ volatile(\"\"); return x; }\n"
    "static F alone(int x) { __asm__ volatile(\"\"); return x + 2; }\n"
    "static F taken(int x) { return deep(x) + 1; }\n"
    "static F hidden(int x) { return alone(x) + 1; }\n"
    "F given(int x) { __asm__ volatile(\"\"); return x + 3; }\n"
    "int (*volatile hook)(int) = taken;\n"
    "int main(int c, char **v) { (void)v; return hook(c) + hidden(c) + given(c); }\n";

static bool is_entered(const bool *of, const char *name)
{
    return of[function(name)];
}

Test(calls, entered_from_outside, .fini = close_calls)
{
    build_source("entered.c", entered);
    build_run("$CC -O2 -fPIE -pie -Wl,--export-dynamic-symbol=given -o entered entered.c");
    open_calls("entered");
    uint32_t main_function = function("main");
    bool *all, *but;
    cr_assert_eq(calls_entered(calls, NULL, 0, &all), 0);
    cr_assert_eq(calls_entered(calls, &main_function, 1, &but), 0);
    static const char *const always[] = {"taken", "deep", "given"}, *const of_main[] = {"main", "hidden",
                                                                                        "alone"};
    for (unsigned i = 0; i < 3; i++) {
        cr_expect(is_entered(all, always[i]), "%s", always[i]);
        cr_expect(is_entered(but, always[i]), "%s", always[i]);
        cr_expect(is_entered(all, of_main[i]), "%s", of_main[i]);
        cr_expect_not(is_entered(but, of_main[i]), "%s", of_main[i]);
    }
    cr_expect(image_exports(image, "given"));
    cr_expect_not(image_exports(image, "hidden"));
    free(all);
    free(but);
}

/* glibc: functions that are chosen by the processor; exports by name. */
Test(calls, resolvers)
{
    struct fathom_error err = {0};
    cr_assert_eq(image_open("/lib/x86_64-linux-gnu/libc.so.6", NULL, &image, &err), 0, "%s", err.text);
    cr_assert_eq(calls_build(image, &calls, &err), 0, "%s", err.text);
    bool resolver = false;
    uint32_t f = calls_export(calls, "qsort", &resolver);
    cr_assert_neq(f, IMAGE_NO_FUNCTION);
    cr_expect_not(resolver);
    f = calls_export(calls, "strlen", &resolver);
    cr_assert_neq(f, IMAGE_NO_FUNCTION);
    cr_expect(resolver);
    const uint32_t *choices;
    cr_expect_geq(calls_taken_by(calls, f, &choices), 3);
    cr_expect_eq(calls_export(calls, "no such function", &resolver), IMAGE_NO_FUNCTION);
    const struct call_site *sites, *own;
    size_t count = calls_all(calls, &sites), chosen = 0;
    for (size_t i = 0; i < count; i++) {
        f = sites[i].kind == CALL_DIRECT ? image_function_entry(image, sites[i].target) : IMAGE_NO_FUNCTION;
        if (f != IMAGE_NO_FUNCTION && image_function_is_stub(image, f) && calls_of(calls, f, &own) >= 1)
            chosen += own->tail && own->resolver;
        if (i) {
            cr_assert_geq(sites[i].function, sites[i - 1].function);
            if (sites[i].function == sites[i - 1].function)
                cr_assert_gt(sites[i].address, sites[i - 1].address);
        }
    }
    cr_expect_geq(chosen, 500, "calls of its own strlen, memcpy and so on: %zu", chosen);
    calls_free(calls);
    image_close(image);
}

/* The graph of figure 5 of the paper: check, match and substitute call each other; only check is called from below. */
Test(calls, entry_checks, .fini = close_calls)
{
    build_source("digrams.c", "#define APART __attribute__((noinline, noipa))\n"
                              "volatile int n;\n"
                              "int check(void);\n"
                              "APART int delete_digram(void) { return n; }\n"
                              "APART int join(void) { return delete_digram() + 1; }\n"
                              "APART int substitute(void) { return n ? check() + join() : 2; }\n"
                              "APART int match(void) { return substitute() + 3; }\n"
                              "APART int check(void) { return n > 1 ? match() + 4 : join() + 1; }\n"
                              "APART int self(int i) { return i ? self(i - 1) * 3 + join() : 5; }\n"
                              "APART int called_back(int i) { return i + join(); }\n"
                              "int (*volatile pointer)(int) = called_back;\n"
                              "int main(void) { return check() + join() + self(n) + pointer(2); }\n");
    build_run("$CC -O1 -fno-optimize-sibling-calls digrams.c -o digrams");
    open_calls("digrams");
    bool *checks;
    cr_assert_eq(calls_entry_checks(image, calls, &checks), 0);
    cr_expect(checks[function("main")]);
    cr_expect(checks[function("check")]);
    cr_expect(checks[function("self")]);
    cr_expect(checks[function("called_back")]);
    cr_expect_not(checks[function("match")]);
    cr_expect_not(checks[function("substitute")]);
    cr_expect_not(checks[function("join")]);
    cr_expect_not(checks[function("delete_digram")]);
    free(checks);
}

/* test_wrap.c - calls that take more stack: which of some hand-written ones may, that they do what they
 * did, and which of a small map do. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "disambig/ambiguity/ambiguity.h"
#include "rewrite/edits.h"
#include "disambig/wrap/candidates.h"
#include "disambig/wrap/wrap.h"
#include "tests/disambig/maps.h"
#include "tests/image/build.h"

/* Code -------------------------------------------------------------------------------------------------------- */

#define BEGIN(name)   ".p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"
#define END(name)     ".cfi_endproc\n.size " #name ", .-" #name "\n"
#define PUSH(reg, at) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n.cfi_offset " #reg ", -" #at "\n"
#define POP(reg)      "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define DOWN(n)       "sub $" #n ", %rsp\n.cfi_adjust_cfa_offset " #n "\n"
#define UP(n)         "add $" #n ", %rsp\n.cfi_adjust_cfa_offset -" #n "\n"
#define LEAVE         "leave\n.cfi_def_cfa rsp, 8\n"
#define FRAMED                                                                                               \
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"

static const char callees[] = ".text\n" BEGIN(plain) "lea 1(%rdi), %rax\nret\n" END(plain)
    /* Locals: single ones, an array with an index, one whose address goes elsewhere, one that grows. */
    BEGIN(locals)
        DOWN(136) "mov %rdi, 120(%rsp)\nmov (%rsp,%rdi,8), %rax\nlea 8(%rsp), %rsi\nmov %rsp, %rdi\n"
                  "mov %rsi, (%rdi)\n" UP(136) "ret\n" END(locals) BEGIN(framed) FRAMED
    "sub $144, %rsp\nmov %rdi, -16(%rbp)\nlea -144(%rbp,%rdi,4), %rax\nsub %rdi, %rsp\n"
    "mov %rsp, %rax\n" LEAVE "ret\n" END(framed) BEGIN(saves) PUSH(rbx, 16)
        PUSH(r12, 24) "mov %rdi, %rbx\ncall plain\n" POP(r12) POP(rbx) "ret\n" END(saves) BEGIN(last)
            PUSH(rbx, 16) "call plain\n" POP(rbx) "jmp plain\n" END(last)
                BEGIN(alone) "test %edi, %edi\nje plain\nmov -16(%rsp), %rax\nret\n" END(alone)
    /* Arguments: by SP, by BP, written, their address, an index near them, a copy of SP, the frame pointer. */
    BEGIN(reads) "mov 8(%rsp), %rax\nret\n" END(reads) BEGIN(deeper) PUSH(rbx, 16)
        DOWN(16) "add 32(%rsp), %rax\n" UP(16) POP(rbx) "ret\n" END(deeper) BEGIN(by_frame) FRAMED
    "mov 16(%rbp), %rax\n" LEAVE "ret\n" END(by_frame) BEGIN(writes) "movl $0, 8(%rsp)\nret\n" END(writes)
        BEGIN(varies) "lea 8(%rsp), %rax\nret\n" END(varies) BEGIN(near)
            DOWN(40) "mov 8(%rsp,%rdi,8), %rax\n" UP(40) "ret\n" END(near)
                BEGIN(copies) "mov %rsp, %rax\nmov 8(%rax), %rax\nret\n" END(copies) BEGIN(saved)
                    PUSH(rbx, 16) "mov %rsp, %rax\nmov 16(%rax), %rax\n" POP(rbx) "ret\n" END(saved)
                        BEGIN(frame) FRAMED "mov %rbp, %rax\n" LEAVE "ret\n" END(frame) BEGIN(added) FRAMED
    "lea (%rdi,%rbp), %rax\n" LEAVE "ret\n" END(added) BEGIN(returns) "mov (%rsp), %rax\nret\n" END(returns)
        BEGIN(pushed) "push 8(%rsp)\n.cfi_adjust_cfa_offset 8\npop %rax\n.cfi_adjust_cfa_offset "
                      "-8\nret\n" END(pushed) BEGIN(jumps) "jmp further\n" END(jumps)
                          BEGIN(further) "test %edi, %edi\njne jumps\njmp reads\n" END(further)
    /* What is not known. */
    BEGIN(pointer) "jmp *%rdi\n" END(pointer) BEGIN(outside) "jmp getpid@PLT\n" END(outside)
        BEGIN(takes) "ret $8\n" END(takes)
            BEGIN(twice) "pop %rdx\n.cfi_adjust_cfa_offset -8\njmp *%rdx\n" END(twice)
                BEGIN(wrong) "push %rbx\npop %rbx\nret\n" END(wrong);

static const struct {
    const char *name;
    enum wrap_refusal refusal;
} expected[] = {
    {"plain", WRAP_POSSIBLE},
    {"locals", WRAP_POSSIBLE},
    {"framed", WRAP_POSSIBLE},
    {"saves", WRAP_POSSIBLE},
    {"last", WRAP_POSSIBLE},
    {"alone", WRAP_POSSIBLE},
    {"reads", WRAP_CALLEE_ARGUMENTS},
    {"deeper", WRAP_CALLEE_ARGUMENTS},
    {"by_frame", WRAP_CALLEE_ARGUMENTS},
    {"writes", WRAP_CALLEE_ARGUMENTS},
    {"varies", WRAP_CALLEE_ARGUMENTS},
    {"near", WRAP_CALLEE_ARGUMENTS},
    {"copies", WRAP_CALLEE_ARGUMENTS},
    {"saved", WRAP_CALLEE_ARGUMENTS},
    {"frame", WRAP_CALLEE_ARGUMENTS},
    {"added", WRAP_CALLEE_UNKNOWN},
    {"returns", WRAP_CALLEE_ARGUMENTS},
    {"pushed", WRAP_CALLEE_ARGUMENTS},
    {"jumps", WRAP_CALLEE_ARGUMENTS},
    {"further", WRAP_CALLEE_ARGUMENTS},
    {"pointer", WRAP_CALLEE_JUMPS},
    {"outside", WRAP_CALLEE_JUMPS},
    {"takes", WRAP_CALLEE_UNKNOWN},
    {"twice", WRAP_CALLEE_UNKNOWN},
    {"wrong", WRAP_CALLEE_UNKNOWN},
};

static struct growth *growth_of(const struct image *image)
{
    struct growth *growth;
    struct fathom_error err = {0};
    cr_assert_eq(growth_new(image, &growth, &err), 0, "%s", err.text);
    return growth;
}

/* The order of questions makes no difference. */
Test(wrap, callees_that_do_not_notice, .fini = build_clean)
{
    size_t count = sizeof expected / sizeof *expected;
    build_source("code.s", callees);
    build_run("$CC -shared -Wl,-Bsymbolic -o code.so code.s");
    struct image *image = build_open("code.so");
    struct growth *growth = growth_of(image);
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        struct callees *judge = callees_new(growth);
        cr_assert_not_null(judge);
        for (size_t k = 0; k < count; k++) {
            size_t i = backwards ? count - 1 - k : k;
            enum wrap_refusal refusal;
            uint32_t f = image_function_entry(image, build_function(image, expected[i].name));
            cr_assert_eq(callees_judge(judge, f, &refusal), 0);
            cr_expect_str_eq(wrap_refusal_text(refusal), wrap_refusal_text(expected[i].refusal), "%s: %s",
                             expected[i].name, wrap_refusal_text(refusal));
        }
        callees_free(judge);
    }
    for (unsigned r = 0; r < WRAP_REFUSALS; r++)
        cr_expect(*wrap_refusal_text((enum wrap_refusal)r));
    growth_free(growth);
    image_close(image);
}

#define MARK "lea 8(%rsp), %r11\n" /* the CFA */

/* below() returns how far its own CFA is below the address in r11. */
static const char callers[] =
    ".text\n" BEGIN(below) "mov %r11, %rax\nsub %rsp, %rax\nsub $8, %rax\nret\n" END(below) BEGIN(once)
        MARK DOWN(8) "call below\n" UP(8) "ret\n" END(once)
    /* One call behind the other, with nothing between them; the first is not executed if a jump passes it. */
    BEGIN(next) MARK DOWN(8) "mov %rdi, %r10\ntest %edi, %edi\nje 1f\ncall below\n1: call below\n" UP(
        8) "ret\n" END(next) BEGIN(sum)
        MARK DOWN(8) "call below\nmov %rax, %r10\ncall below\nadd %r10, %rax\n" UP(8) "ret\n" END(sum)
    /* A jump to the call. */
    BEGIN(loop) MARK PUSH(rbx, 16) "1: call below\ndec %edi\njns 1b\n" POP(rbx) "ret\n" END(loop)
        BEGIN(framed) MARK FRAMED "sub $16, %rsp\ncall below\n" LEAVE "ret\n" END(framed)
    /* Flags are kept behind the call; and a frame that is there only for a part. */
    BEGIN(part) "test %edi, %edi\nje 1f\n" MARK DOWN(24) "call below\n" UP(
        24) "ret\n1: mov $24, %eax\nret\n" END(part)
    /* Calls that do not return: at the end, where it is not wrapped, and with other code behind it. */
    BEGIN(stops) "ud2\n" END(stops) BEGIN(ends) MARK DOWN(8) "call below\ntest %edi, %edi\nje 1f\n" UP(
        8) "ret\n.cfi_adjust_cfa_offset 8\n1: call stops\n" END(ends)
        BEGIN(midst) "test %edi, %edi\nje 3f\n" MARK DOWN(8) "cmp $9, %edi\nje 2f\ncall below\n" UP(
            8) "ret\n.cfi_adjust_cfa_offset 8\n2: call stops\n.cfi_adjust_cfa_offset -8\n3: ret\n" END(midst);

static const struct {
    const char *name;
    int before, calls; /* bytes that it tells of; calls whose bytes it adds up */
} returned[] = {
    {"once", 16, 1},   {"next", 16, 1}, {"sum", 32, 2},  {"loop", 16, 1},
    {"framed", 32, 1}, {"part", 32, 1}, {"ends", 16, 1}, {"midst", 16, 1},
};
#define RETURNED (sizeof returned / sizeof *returned)

static int by_address(const void *a, const void *b)
{
    const struct pad *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Wraps all calls of the functions, which also grow, and loads the file. */
static void *wrap_all(const struct image *image, const struct growth *growth, uint32_t pad, uint32_t bytes)
{
    struct fathom_error err = {0};
    struct enlarged file;
    struct pad pads[RETURNED];
    struct wrap wraps[4 * RETURNED];
    bool movable[RETURNED];
    size_t count = 0;
    struct calls *calls;
    cr_assert_eq(calls_build(image, &calls, NULL), 0);
    for (size_t i = 0; i < RETURNED; i++)
        pads[i] = (struct pad){build_function(image, returned[i].name), pad, 0};
    qsort(pads, RETURNED, sizeof *pads, by_address);
    for (size_t i = 0; i < RETURNED; i++) {
        const struct call_site *sites;
        size_t all = calls_of(calls, image_function_entry(image, pads[i].address), &sites);
        for (size_t k = 0; k < all; k++)
            if (edits_behind_call(image, sites[k].address))
                wraps[count++] =
                    (struct wrap){.address = pads[i].address, .site = sites[k].address, .bytes = bytes};
    }
    calls_free(calls);
    struct enlarge_plan plan = {.pads = pads, .count = RETURNED, .wraps = wraps, .wrap_count = count};
    cr_assert_eq(enlarge_movable(image, growth, &plan, movable, &err), 0, "%s", err.text);
    for (size_t i = 0; i < RETURNED; i++)
        cr_expect(movable[i], "%#lx", (unsigned long)pads[i].address);
    cr_assert_eq(enlarge_frames(image, growth, &plan, &file, &err), 0, "%s", err.text);
    cr_expect_eq(file.anew, RETURNED, "none stays in place");
    FILE *f = fopen(build_path("wrapped.so"), "wb");
    cr_assert(f && fwrite(file.elf, 1, file.size, f) == file.size && fclose(f) == 0);
    enlarged_clear(&file);
    void *library = dlopen(build_path("wrapped.so"), RTLD_NOW);
    cr_assert(library, "%s", dlerror());
    return library;
}

Test(wrap, calls_take_more_stack_and_return, .fini = build_clean)
{
    build_source("code.s", callers);
    build_run("$CC -shared -Wl,-Bsymbolic -o code.so code.s");
    struct image *image = build_open("code.so");
    struct growth *growth = growth_of(image);
    static const struct {
        uint32_t pad, bytes;
    } tries[] = {{0, 16}, {16, 112}, {0, WRAP_MOST}, {304, 128}};
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        void *library = wrap_all(image, growth, tries[t].pad, tries[t].bytes);
        for (size_t i = 0; i < RETURNED; i++) {
            long (*function)(long) = (long (*)(long))(uintptr_t)dlsym(library, returned[i].name); // NOLINT
            cr_assert_not_null(function);
            for (long argument = 1; argument < 4; argument++)
                cr_expect_eq(function(argument),
                             returned[i].before + returned[i].calls * (long)(tries[t].pad + tries[t].bytes),
                             "%s(%ld): %ld", returned[i].name, argument, function(argument));
        }
        dlclose(library);
    }
    growth_free(growth);
    image_close(image);
}

/* Maps -------------------------------------------------------------------------------------------------------- */

/* Each pair of functions that call each other is an edge, and its own wrap. */
struct rig {
    struct maps maps;
    struct wrap_edges edges;
    uint32_t *wraps;
    uint32_t numbers[26][26]; /* edge, plus 1 */
};

static void rig_ready(struct rig *rig)
{
    maps_ready(&rig->maps);
    const struct pathmap *map = rig->maps.map;
    uint32_t nodes = pathmap_node_count(map);
    rig->wraps = malloc((nodes + 1ul) * sizeof *rig->wraps);
    rig->edges.by_node = malloc((nodes + 1ul) * sizeof *rig->edges.by_node);
    rig->edges.items = calloc(26ul * 26, sizeof *rig->edges.items);
    cr_assert(rig->wraps && rig->edges.by_node && rig->edges.items);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node at = pathmap_node(map, i);
        rig->edges.by_node[i] = rig->wraps[i] = PATHMAP_NONE;
        if (at.parent == PATHMAP_NONE)
            continue;
        uint32_t caller = pathmap_node(map, at.parent).function, *number = &rig->numbers[caller][at.function];
        if (!*number) {
            rig->edges.items[rig->edges.count] = (struct wrap_edge){.caller = caller, .callee = at.function};
            *number = ++rig->edges.count;
        }
        rig->edges.items[*number - 1].calls += at.passes;
        rig->edges.by_node[i] = *number - 1;
        rig->wraps[i] = rig->maps.functions + *number - 1;
    }
}

static void rig_end(struct rig *rig)
{
    wrap_edges_clear(&rig->edges);
    free(rig->wraps);
    maps_end(&rig->maps);
}

static uint32_t edge(const struct rig *rig, const char *pair)
{
    return rig->numbers[pair[0] - 'a'][pair[1] - 'a'] - 1;
}

static struct search_result run(const struct search_problem *p)
{
    struct search_result r;
    struct fathom_error err = {0};
    cr_assert_eq(search_run(p, &r, &err), 0, "%s", err.text);
    return r;
}

/* Figure 4 of the paper: b-a-d and a-b-d. */
Test(wrap, parts_the_same_functions_in_another_order)
{
    struct rig rig = {0};
    maps_begin(&rig.maps, 4);
    for (unsigned i = 0; i < 20; i++)
        maps_add(&rig.maps, "c", 16, 1);
    maps_add(&rig.maps, "cabd", 16, 50);
    maps_add(&rig.maps, "cbad", 16, 50);
    rig_ready(&rig);
    uint32_t most[4 + 26] = {0};
    for (uint32_t i = 0; i < 4 + rig.edges.count; i++)
        most[i] = 64;
    double worth[26];
    struct search_problem p = {.map = rig.maps.map, .most = most, .stack = 2, .target = 1, .seed = 1};
    struct search_result r = run(&p);
    cr_expect(r.paths_precise_after < r.paths, "frames cannot");
    cr_assert_eq(candidates_find(&p, r.pads, &rig.edges, worth, NULL), 0);
    cr_expect(worth[edge(&rig, "ab")] > 0 && worth[edge(&rig, "ba")] > 0);
    cr_expect(worth[edge(&rig, "ca")] > 0 && worth[edge(&rig, "bd")] > 0, "these differ, too");
    free(r.pads);
    for (int random = 0; random < 2; random++) {
        p.wraps = rig.wraps;
        p.wrap_count = rig.edges.count;
        p.random = random;
        r = run(&p);
        cr_expect_eq(r.paths_precise_after, r.paths);
        cr_expect_eq(r.precise_after, r.weight);
        uint32_t wrapped = 0;
        for (uint32_t e = 0; e < rig.edges.count; e++)
            wrapped += r.pads[4 + e] > 0;
        cr_expect(random || wrapped == 1, "one is enough: %u", wrapped);
        cr_assert_eq(candidates_find(&p, r.pads, &rig.edges, worth, NULL), 0);
        for (uint32_t e = 0; e < rig.edges.count; e++)
            cr_expect_eq(worth[e], 0, "nothing is ambiguous now");
        free(r.pads);
    }
    rig_end(&rig);
}

/* Where frames do, nothing is wrapped; and calls that nearly all are, cost more than they bring. */
Test(wrap, is_the_last_resort)
{
    struct rig rig = {0};
    maps_begin(&rig.maps, 5);
    maps_add(&rig.maps, "abd", 16, 50);
    maps_add(&rig.maps, "acd", 16, 50);
    rig_ready(&rig);
    uint32_t most[5 + 26] = {0};
    for (uint32_t i = 0; i < 5 + rig.edges.count; i++)
        most[i] = 64;
    struct search_problem p = {.map = rig.maps.map,
                               .most = most,
                               .stack = 2,
                               .target = 1,
                               .seed = 1,
                               .wraps = rig.wraps,
                               .wrap_count = rig.edges.count};
    struct search_result r = run(&p);
    cr_expect_eq(r.precise_after, 100);
    cr_expect(r.pads[1] || r.pads[2]);
    for (uint32_t e = 0; e < rig.edges.count; e++)
        cr_expect_eq(r.pads[5 + e], 0);
    free(r.pads);
    rig_end(&rig);
}

/* The weight that is precise, counted by force. */
static uint64_t count_precise(const struct rig *rig, const uint32_t *pads, uint64_t *heights)
{
    const struct pathmap *map = rig->maps.map;
    uint64_t precise = 0;
    uint32_t nodes = pathmap_node_count(map);
    for (uint32_t i = 0; i < nodes; i++) {
        heights[i] = pathmap_node(map, i).height;
        for (uint32_t n = i; pathmap_node(map, n).parent != PATHMAP_NONE; n = pathmap_node(map, n).parent)
            heights[i] += pads[pathmap_node(map, pathmap_node(map, n).parent).function] + pads[rig->wraps[n]];
    }
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node a = pathmap_node(map, i);
        bool alone = true;
        for (uint32_t k = 0; k < nodes && alone; k++) {
            struct pathmap_node b = pathmap_node(map, k);
            alone = a.function != b.function || heights[i] != heights[k] || a.path == b.path;
        }
        precise += alone ? pathmap_sampled(map) ? a.self : a.passes : 0;
    }
    return precise;
}

/* The search counts right, is never worse than frames alone, and never better than the ceiling. */
Test(wrap, random_maps)
{
    uint64_t gained = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig rig = {0};
        maps_begin(&rig.maps, 6);
        maps_grow(&rig.maps, seed, 60);
        rig_ready(&rig);
        uint32_t most[6 + 26 * 26] = {0};
        for (uint32_t i = 0; i < 6 + rig.edges.count; i++)
            most[i] = 128;
        struct search_problem p = {.map = rig.maps.map, .most = most, .stack = 8, .target = 1, .seed = seed};
        struct search_result frames = run(&p);
        p.wraps = rig.wraps;
        p.wrap_count = rig.edges.count;
        struct search_result r = run(&p);
        uint64_t *heights = malloc((pathmap_node_count(rig.maps.map) + 1ul) * sizeof *heights);
        cr_assert_not_null(heights);
        cr_expect_eq(r.precise_after, count_precise(&rig, r.pads, heights));
        gained += r.precise_after > frames.precise_after;
        struct ambiguity a;
        cr_assert_eq(ambiguity_measure(rig.maps.map, NULL, NULL, &a, NULL), 0);
        cr_expect(r.precise_after <= a.ceilings[AMBIGUITY_WRAP].weight, "%llu", (unsigned long long)seed);
        ambiguity_clear(&a);
        free(heights);
        free(frames.pads);
        free(r.pads);
        rig_end(&rig);
    }
    cr_expect(gained >= 5, "%llu", (unsigned long long)gained);
}

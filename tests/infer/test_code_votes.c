/* Bases of main threads' stacks by what the code of binaries allows. */
#include <criterion/criterion.h>

#include <string.h>

#include "infer/bases/code_votes.h"
#include "infer/bases/main_stacks.h"

/* Functions of the trie. */
enum { START, RUN, MAIN, WORK, DEEP, AGAIN, HANDLER, LEAF, ALLOCA, BELOW, BY_NAME, INNER, THREAD, FUNCTIONS };

static struct static_edge edges[] = {
    {.callee = START, .caller = STATIC_ROOT, .rise = 8},
    {.callee = THREAD, .caller = STATIC_ROOT, .rise = 0},
    {.callee = RUN, .caller = START, .rise = 16},
    {.callee = MAIN, .caller = RUN, .rise = 104},
    {.callee = WORK, .caller = MAIN, .rise = 32},
    {.callee = WORK, .caller = MAIN, .rise = 48},
    {.callee = DEEP, .caller = WORK, .rise = 64},
    {.callee = DEEP, .caller = MAIN, .rise = 96},
    {.callee = AGAIN, .caller = MAIN, .rise = 32},
    {.callee = AGAIN, .caller = AGAIN, .rise = 16},
    {.callee = LEAF, .caller = AGAIN, .rise = 32},
    {.callee = LEAF, .caller = HANDLER, .rise = 32},
    {.callee = ALLOCA, .caller = MAIN, .rise = 64},
    {.callee = BELOW, .caller = ALLOCA, .rise = 16, .open = true},
    {.callee = INNER, .caller = BY_NAME, .rise = 16},
    {.callee = INNER, .caller = MAIN, .rise = 32},
};
static struct static_jump jumps[] = {{.from = WORK, .to = DEEP}};
static uint32_t targets[] = {HANDLER}, threads[] = {THREAD}, exported[] = {BY_NAME, MAIN};
static struct static_class classes[] = {{.targets = targets, .target_count = 1}};
static const struct statics statics = {.edges = edges,
                                       .count = sizeof edges / sizeof *edges,
                                       .jumps = jumps,
                                       .jump_count = 1,
                                       .classes = classes,
                                       .class_count = 1,
                                       .exported = exported,
                                       .exported_count = 2,
                                       .threads = threads,
                                       .thread_count = 1};

static void expect_heights(struct code_heights *h, uint32_t function, const char *want)
{
    const uint32_t *list;
    char text[256] = "";
    int count = code_heights_of(h, function, &list);
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " " : "", list[i]);
    cr_expect_str_eq(text, want, "function %u", function);
}

Test(code_heights, are_known_where_all_chains_of_calls_are)
{
    struct code_heights *h = code_heights_new(&statics, FUNCTIONS);
    cr_assert_not_null(h);
    expect_heights(h, START, ""); /* its code keeps no account of its CFA */
    expect_heights(h, RUN, "24");
    expect_heights(h, MAIN, "128");
    expect_heights(h, WORK, "160 176");
    expect_heights(h, DEEP, "160 176 224 240"); /* jumped to from WORK as well */
    code_heights_free(h);
}

Test(code_heights, are_open_where_some_chain_is_not_known)
{
    struct code_heights *h = code_heights_new(&statics, FUNCTIONS);
    cr_assert_not_null(h);
    expect_heights(h, AGAIN, ""); /* calls itself */
    expect_heights(h, LEAF, "");  /* called by it, and by what a pointer leads to */
    expect_heights(h, HANDLER, "");
    expect_heights(h, ALLOCA, "192");
    expect_heights(h, BELOW, "");  /* from a frame of no fixed size */
    expect_heights(h, INNER, "");  /* called by what may be asked for by name */
    expect_heights(h, THREAD, ""); /* no main thread begins there */
    expect_heights(h, FUNCTIONS, "");
    code_heights_free(h);
}

Test(code_heights, of_resolvers_do_not_count)
{
    uint32_t resolvers[] = {HANDLER};
    struct static_edge only[] = {edges[0], {.callee = LEAF, .caller = START, .rise = 32}, edges[11]};
    struct statics s = {.edges = only, .count = 3, .classes = classes, .class_count = 1};
    struct code_heights *h = code_heights_new(&s, FUNCTIONS);
    expect_heights(h, LEAF, "");
    code_heights_free(h);
    s.resolvers = resolvers;
    s.resolver_count = 1;
    h = code_heights_new(&s, FUNCTIONS);
    expect_heights(h, LEAF, "40");
    code_heights_free(h);
}

#define BASE 0x7ffd12345670

struct vote {
    uint32_t function;
    uint64_t below; /* CFA, below BASE */
};

/* The base that these samples make, each taken 3 times; 0: none. */
static uint64_t elect(const struct vote *votes, size_t count)
{
    struct code_heights *h = code_heights_new(&statics, FUNCTIONS);
    struct code_votes *v = code_votes_new();
    uint64_t won, base = 0;
    for (size_t i = 0; i < 3 * count; i++)
        cr_assert_eq(code_votes_add(v, 7, votes[i / 3].function, BASE - votes[i / 3].below), 0);
    cr_assert_eq(code_votes_settle(v, h, &won), 0);
    cr_expect_eq(won, code_votes_base(v, 7, &base));
    uint64_t other;
    cr_expect_not(code_votes_base(v, 8, &other));
    code_votes_free(v);
    code_heights_free(h);
    return base;
}

#define ELECT(...)                                                                                           \
    elect((struct vote[]){__VA_ARGS__}, sizeof(struct vote[]){__VA_ARGS__} / sizeof(struct vote))

Test(code_votes, one_function_of_one_height_is_enough)
{
    cr_expect_eq(ELECT({MAIN, 128}), BASE);
    cr_expect_eq(ELECT({MAIN, 128}, {AGAIN, 160}, {AGAIN, 400}, {LEAF, 500}), BASE);
}

Test(code_votes, two_of_several_heights_must_agree_on_one_base)
{
    cr_expect_eq(ELECT({WORK, 176}), 0u, "either of two");
    cr_expect_eq(ELECT({WORK, 176}, {DEEP, 240}), 0u, "both are 16 bytes further up as well");
    cr_expect_eq(ELECT({WORK, 176}, {WORK, 160}), BASE);
    cr_expect_eq(ELECT({AGAIN, 160}, {LEAF, 500}), 0u, "nothing is known of these");
}

Test(code_votes, contradictions_elect_nobody)
{
    cr_expect_eq(ELECT({MAIN, 128}, {MAIN, 256}), 0u);
    cr_expect_eq(ELECT({MAIN, 128}, {AGAIN, -64}), 0u, "half of the samples lie above it");
    cr_expect_eq(ELECT({MAIN, 128}, {AGAIN, 9 << 20}), 0u, "or far too deep");
    cr_expect_eq(ELECT({MAIN, 120}), 0u, "no program starts with such an SP");
}

static void apply(struct main_stacks *s, enum record_kind kind, uint32_t pid, uint32_t parent,
                  uint32_t thread, uint64_t time)
{
    struct record record = {.kind = kind, .pid = pid, .tid = pid, .time = time};
    if (kind == RECORD_FORK) {
        record.fork.parent_pid = parent;
        record.fork.parent_tid = thread;
    } else if (kind == RECORD_COMM) {
        record.comm.exec = parent;
    } else {
        record.sample = (struct sample){.pid = pid, .tid = pid};
    }
    cr_assert_eq(main_stacks_apply(s, &record), 0);
}

Test(main_stacks, are_shared_with_children_until_they_exec)
{
    struct main_stacks *s = main_stacks_new();
    cr_expect_eq(main_stacks_of(s, 1, 1), 0u);
    apply(s, RECORD_COMM, 1, 1, 0, 5);
    uint32_t first = main_stacks_of(s, 1, 1);
    cr_expect_neq(first, 0u);
    cr_expect_eq(main_stacks_of(s, 1, 2), 0u, "another thread");
    apply(s, RECORD_FORK, 10, 1, 1, 6);
    apply(s, RECORD_FORK, 11, 10, 10, 7);
    apply(s, RECORD_FORK, 12, 1, 2, 8);
    cr_expect_eq(main_stacks_of(s, 10, 10), first);
    cr_expect_eq(main_stacks_of(s, 11, 11), first);
    cr_expect_eq(main_stacks_of(s, 12, 12), 0u, "on a copy of a thread's stack");
    apply(s, RECORD_COMM, 10, 1, 0, 9);
    cr_expect_neq(main_stacks_of(s, 10, 10), first);
    cr_expect_neq(main_stacks_of(s, 10, 10), 0u);
    apply(s, RECORD_COMM, 11, 0, 0, 9);
    cr_expect_eq(main_stacks_of(s, 11, 11), first, "a new name only");
    apply(s, RECORD_FORK, 20, 1, 1, 0);
    cr_expect_eq(main_stacks_of(s, 20, 20), 0u, "it was there before: it may have made an exec");
    apply(s, RECORD_SAMPLE, 20, 0, 0, 10);
    cr_expect_neq(main_stacks_of(s, 20, 20), 0u);
    cr_expect_neq(main_stacks_of(s, 20, 20), first);
    main_stacks_free(s);
}

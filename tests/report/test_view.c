/* The three views of hand-made trees, as exact text. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/report/report_tree.h"

static void expect(struct report_tree *tree, const struct view_options *options, const char *wanted)
{
    char *text = report_view(tree, options);
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%sgot:\n%s", wanted, text);
    free(text);
}

/* A compiler-like program: one fork in main, one below parse. */
static struct report_tree small_tree(void)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "_start;main;compile;parse;lex", 300);
    report_tree_add(&tree, "_start;main;compile;parse;gram", 250);
    report_tree_add(&tree, "_start;main;compile;parse", 50);
    report_tree_add(&tree, "_start;main;emit;write", 390);
    report_tree_add(&tree, "_start;main", 6);
    report_tree_add(&tree, "_start;main;tidy;free", 3);
    report_tree_add(&tree, "_start;main;tidy", 1);
    return tree;
}

Test(tree, only_forks_indent_and_heaviest_come_first)
{
    struct report_tree tree = small_tree();
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%             1000  _start\n"
           " 100.0%    0.6%     1000  main\n"
           "  60.0%              600  + compile\n"
           "  60.0%    5.0%      600    parse\n"
           "  30.0%   30.0%      300    + lex\n"
           "  25.0%   25.0%      250    + gram\n"
           "  39.0%              390  + emit\n"
           "  39.0%   39.0%      390    write\n"
           "   0.4%    0.1%        4  + tidy\n"
           "   0.3%    0.3%        3    free\n");
    report_tree_free(&tree);
}

static void add_below(struct report_tree *tree, const char *const levels[3], const char *function,
                      uint64_t weight)
{
    uint32_t items[4], count = 0;
    for (; count < 3 && levels[count]; count++)
        items[count] = frames_add(
            tree->frames, &(struct frame){.kind = FRAME_LEVEL, .name = levels[count], .address = count});
    items[count++] = frames_named(tree->frames, function, "prog", 0);
    cct_add(tree->cct, items, count, &weight);
}

/* make compiles, and sh, which it starts, too. */
static struct report_tree tree_of_programs(void)
{
    struct report_tree tree = report_tree_new();
    add_below(&tree, (const char *[3]){"make", "cc1"}, "parse", 500);
    add_below(&tree, (const char *[3]){"make", "sh", "cc1"}, "parse", 300);
    add_below(&tree, (const char *[3]){"make", "sh"}, "main", 50);
    add_below(&tree, (const char *[3]){"make"}, "main", 100);
    add_below(&tree, (const char *[3]){"make"}, "read", 50);
    return tree;
}

Test(groups, have_the_weight_of_their_functions)
{
    struct report_tree tree = tree_of_programs();
    struct doubts *doubts = doubts_new();
    tree.doubts = doubts;
    doubts_add(doubts, cct_root(tree.cct)->first_child->first_child, (struct doubt){.end = 400});
    struct view_options options = {.view = view_named("groups"), .unit = "samples"};
    expect(&tree, &options,
           "  total    self  samples  context\n"
           " 100.0%   15.0%     1000  make\n"
           "  50.0%   50.0%      500  + cc1\n"
           "  35.0%    5.0%      350  + sh\n"
           "  30.0%   30.0%      300    cc1\n");
    doubts_free(doubts);
    report_tree_free(&tree);
}

Test(flat, levels_are_no_functions)
{
    struct report_tree tree = tree_of_programs();
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples"},
           "   self    total  samples  image  function\n"
           "  80.0%    80.0%      800  prog   parse\n"
           "  15.0%    15.0%      150  prog   main\n"
           "   5.0%     5.0%       50  prog   read\n");
    report_tree_free(&tree);
}

Test(width, long_names_are_shortened_to_it)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;sort<int, std::less<int> >(int*, int*, std::less<int>);swap", 10000000);
    report_tree_add(&tree, "main;sort<int, std::less<int> >(int*, int*, std::less<int>)", 20000000);
    struct view_options options = {.view = view_named("tree"), .unit = "ns", .width = 60};
    expect(&tree, &options,
           "  total    self     time  context\n"
           " 100.0%          30.0 ms  main\n"
           " 100.0%   66.7%  30.0 ms  sort<int, std::less<int> >(..)\n"
           "  33.3%   33.3%  10.0 ms  swap\n");
    options.width = 50;
    options.view = view_named("callers");
    expect(&tree, &options,
           "   self    share     time  function, with its callers below\n"
           "  66.7%   100.0%  20.0 ms  sort<..>(..)\n"
           "  66.7%   100.0%  20.0 ms  main\n"
           "\n"
           "  33.3%   100.0%  10.0 ms  swap\n"
           "  33.3%   100.0%  10.0 ms  sort<..>(..)\n"
           "  33.3%   100.0%  10.0 ms  main\n");
    options.view = view_named("flat");
    expect(&tree, &options,
           "   self    total     time  image  function\n"
           "  66.7%   100.0%  20.0 ms  prog   sort<..>(..)\n"
           "  33.3%    33.3%  10.0 ms  prog   swap\n"
           "          100.0%     0 ns  prog   main\n");
    report_tree_free(&tree);
}

/* Where the name has the image's, no room is needed beside it. */
Test(width, names_that_fit_stay_whole)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "prog+0x1234567890;prog+0x17960", 30);
    struct view_options options = {.view = view_named("tree"), .unit = "ns", .width = 45, .show_image = true};
    expect(&tree, &options,
           "  total    self     time  context\n"
           " 100.0%            30 ns  prog+0x1234567890\n"
           " 100.0%  100.0%    30 ns  prog+0x17960\n");
    report_tree_free(&tree);
}

Test(sure, a_column_when_a_row_is_less_than_90_percent_sure)
{
    struct report_tree tree = report_tree_new();
    struct doubts *doubts = doubts_new();
    tree.doubts = doubts;
    struct cct_node *sure = report_tree_add(&tree, "main;run;step", 60);
    struct cct_node *unsure = report_tree_add(&tree, "main;run;walk;step", 40);
    struct view_options options = {.view = view_named("tree"), .unit = "samples"};
    expect(&tree, &options,
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           " 100.0%              100  run\n"
           "  60.0%   60.0%       60  + step\n"
           "  40.0%               40  + walk\n"
           "  40.0%   40.0%       40    step\n");
    /* 30 of the 40 are on their path, 36 go through run: of run's 100, 96. */
    doubts_add(doubts, unsure, (struct doubt){.end = 10});
    doubts_add(doubts, cct_parent(cct_parent(unsure)), (struct doubt){.relief = 6});
    doubts_add(doubts, cct_parent(cct_parent(cct_parent(unsure))), (struct doubt){.relief = 4});
    doubts_add(doubts, sure, (struct doubt){.end = 0});
    expect(&tree, &options,
           "  total    self  samples  sure  context\n"
           " 100.0%              100  100%  main\n"
           " 100.0%              100   96%  run\n"
           "  60.0%   60.0%       60  100%  + step\n"
           "  40.0%               40   75%  + walk\n"
           "  40.0%   40.0%       40   75%    step\n");
    options.view = view_named("callers");
    expect(&tree, &options,
           "   self    share  samples  sure  function, with its callers below\n"
           " 100.0%   100.0%      100  100%  step\n"
           "  60.0%    60.0%       60  100%  + run\n"
           "  60.0%    60.0%       60  100%    main\n"
           "  40.0%    40.0%       40   75%  + walk\n"
           "  40.0%    40.0%       40   75%    run\n"
           "  40.0%    40.0%       40   75%    main\n");
    /* The rows that tell of it are not shown. */
    options = (struct view_options){.view = view_named("tree"), .unit = "samples", .min_percent = 50};
    expect(&tree, &options,
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           " 100.0%              100  run\n"
           "  60.0%   60.0%       60  step\n"
           "... 1 more context under 50%: 40.0% self\n");
    options.confidence = true;
    expect(&tree, &options,
           "  total    self  samples  sure  context\n"
           " 100.0%              100  100%  main\n"
           " 100.0%              100   96%  run\n"
           "  60.0%   60.0%       60  100%  step\n"
           "... 1 more context under 50%: 40.0% self\n");
    doubts_free(doubts);
    report_tree_free(&tree);
}

Test(tree, a_minimum_leaves_out_subtrees_and_says_so)
{
    struct report_tree tree = small_tree();
    expect(&tree, &(struct view_options){.view = view_named("tree"), .min_percent = 30, .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%             1000  _start\n"
           " 100.0%    0.6%     1000  main\n"
           "  60.0%              600  + compile\n"
           "  60.0%    5.0%      600    parse\n"
           "  30.0%   30.0%      300    lex\n"
           "  39.0%              390  + emit\n"
           "  39.0%   39.0%      390    write\n"
           "... 3 more contexts under 30%: 25.4% self\n");
    report_tree_free(&tree);
}

Test(tree, a_number_of_rows_shows_the_paths_to_the_heaviest_contexts)
{
    struct report_tree tree = small_tree();
    expect(&tree, &(struct view_options){.view = view_named("tree"), .max_rows = 1, .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%             1000  _start\n"
           " 100.0%    0.6%     1000  main\n"
           "  39.0%              390  emit\n"
           "  39.0%   39.0%      390  write\n"
           "... 5 more contexts: 60.4% self\n");
    report_tree_free(&tree);
}

Test(tree, equal_weights_are_ordered_by_name_whatever_the_order_of_adding)
{
    const char *names[] = {"b", "a", "c"};
    for (int turn = 0; turn < 3; turn++) {
        struct report_tree tree = report_tree_new();
        for (int i = 0; i < 3; i++)
            report_tree_add(&tree, names[(i + turn) % 3], 5);
        expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "ns"},
               "  total    self     time  context\n"
               "  33.3%   33.3%     5 ns  + a\n"
               "  33.3%   33.3%     5 ns  + b\n"
               "  33.3%   33.3%     5 ns  + c\n");
        expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "ns", .max_rows = 1},
               "  total    self     time  context\n"
               "  33.3%   33.3%     5 ns  a\n"
               "... 2 more contexts: 66.7% self\n");
        report_tree_free(&tree);
    }
}

Test(tree, a_function_that_only_calls_itself_fills_one_row)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;fib;fib;fib", 70);
    report_tree_add(&tree, "main;fib;fib", 10);
    report_tree_add(&tree, "main;fib;fib;fib;add", 15);
    report_tree_add(&tree, "main;fib;fib;fib;fib", 5);
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           " 100.0%   85.0%      100  fib x4\n"
           "  15.0%   15.0%       15  add\n");
    report_tree_free(&tree);
}

Test(tree, functions_that_call_each_other_in_turns_fill_one_row_more)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;even;odd;even;odd;even;odd;even;odd;even;work",
                    60); /* the first turn and three more */
    report_tree_add(&tree, "main;even;odd;even;odd;even;odd", 30);
    report_tree_add(&tree, "main;even;odd", 10);
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           " 100.0%              100  even\n"
           " 100.0%   10.0%      100  odd\n"
           "  90.0%   30.0%       90  [the 2 rows above, 3 times more]\n"
           "  60.0%               60  even\n"
           "  60.0%   60.0%       60  work\n");
    report_tree_free(&tree);
}

Test(tree, two_more_turns_are_drawn_and_a_fork_ends_them)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "a;b;a;b;a;b", 50);
    report_tree_add(&tree, "a;b;a;b;a;b;a;b;a;c", 50);
    report_tree_add(&tree, "a;b;a;b;a;b;a;b;a;b;a;b;a;b;a;b;d", 100);
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%              200  a\n"
           " 100.0%              200  b\n"
           " 100.0%   25.0%      200  [the 2 rows above, 3 times more]\n"
           "  75.0%              150  a\n"
           "  50.0%              100  + b\n"
           "  50.0%              100    a\n"
           "  50.0%              100    b\n"
           "  50.0%              100    a\n"
           "  50.0%              100    b\n"
           "  50.0%              100    a\n"
           "  50.0%              100    b\n"
           "  50.0%   50.0%      100    d\n"
           "  25.0%   25.0%       50  + c\n");
    report_tree_free(&tree);
}

Test(tree, a_function_that_calls_itself_beside_others_is_one_row_with_what_all_its_calls_call)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;sort;less", 10);
    report_tree_add(&tree, "main;sort;sort;less", 20);
    report_tree_add(&tree, "main;sort;sort;sort;less", 30);
    report_tree_add(&tree, "main;sort;sort;copy", 25);
    report_tree_add(&tree, "main;sort;sort", 10);
    report_tree_add(&tree, "main;less;sort", 5); /* called by another */
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           "  95.0%   10.0%       95  + sort x3\n"
           "  60.0%   60.0%       60    + less\n"
           "  25.0%   25.0%       25    + copy\n"
           "   5.0%                5  + less\n"
           "   5.0%    5.0%        5    sort\n");
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples"},
           "   self    total  samples  image  function\n"
           "  60.0%    65.0%       60  prog   less\n"
           "  25.0%    25.0%       25  prog   copy\n"
           "  15.0%   100.0%       15  prog   sort\n"
           "          100.0%        0  prog   main\n");
    report_tree_free(&tree);
}

/* A path of a function with a line, or a text in place of one, below it. */
static void add_lines(struct report_tree *tree, const char *const *names, uint32_t count, uint64_t weight)
{
    uint32_t path[8];
    for (uint32_t i = 0; i < count; i++)
        path[i] = strchr(names[i], ':') || *names[i] == '[' ? frames_label(tree->frames, FRAME_LINE, names[i])
                                                            : frames_named(tree->frames, names[i], "prog", 0);
    cr_assert_not_null(cct_add(tree->cct, path, count, &weight));
}

Test(lines, text_for_several_call_sites_is_left_out_of_the_tree_and_flat_rows_have_their_functions)
{
    struct report_tree tree = report_tree_new();
    add_lines(&tree, (const char *const[]){"main", "[several call sites]", "work", "a.c:7"}, 4, 60);
    add_lines(&tree, (const char *const[]){"main", "a.c:3", "work", "a.c:7"}, 4, 20);
    add_lines(&tree,
              (const char *const[]){"main", "[several call sites]", "work", "[several call sites]", "work",
                                    "a.c:8"},
              6, 20);
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"},
           "  total    self  samples  context\n"
           " 100.0%              100  main\n"
           "  80.0%               80  + work x2\n"
           "  60.0%   60.0%       60    + a.c:7\n"
           "  20.0%   20.0%       20    + a.c:8\n"
           "  20.0%               20  + a.c:3\n"
           "  20.0%               20    work\n"
           "  20.0%   20.0%       20    a.c:7\n");
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples", .max_rows = 2},
           "   self    total  samples  image  function\n"
           "  80.0%    80.0%       80  prog   work a.c:7\n"
           "  20.0%    20.0%       20  prog   work a.c:8\n"
           "... 4 more functions: 0.0% self\n");
    report_tree_free(&tree);
}

Test(tree, images_bounds_and_weight_that_was_not_kept_are_told)
{
    struct report_tree tree = report_tree_new();
    *cct_error_of(report_tree_add(&tree, "main;copy", 123)) = 4;
    report_tree_add(&tree, "main;prog+0x1234", 777);
    cct_root(tree.cct)->self[0] = 100;
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples", .show_image = true},
           "  total            self  samples  context\n"
           "  90.0%                      900  main (prog)\n"
           "  77.7%           77.7%      777  + prog+0x1234\n"
           "  12.3%     12.3% +-0.4      123  + copy (prog)\n"
           "... 10.0% of the weight is in contexts that were not kept\n");
    report_tree_free(&tree);
}

Test(tree, hot_rows_are_coloured_on_request_only)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;hot", 980);
    report_tree_add(&tree, "main;warm", 15);
    report_tree_add(&tree, "main;cold", 5);
    expect(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples", .colour = true},
           "  total    self  samples  context\n"
           " 100.0%             1000  main\n"
           "\033[1;31m  98.0%   98.0%      980  + hot\033[0m\n"
           "\033[33m   1.5%    1.5%       15  + warm\033[0m\n"
           "   0.5%    0.5%        5  + cold\n");
    report_tree_free(&tree);
}

Test(tree, forks_deeper_than_the_margin_tell_their_level)
{
    struct report_tree tree = report_tree_new();
    uint32_t f[2] = {frames_named(tree.frames, "f", "", 0), frames_named(tree.frames, "g", "", 0)};
    uint32_t leaf = frames_named(tree.frames, "leaf", "", 0);
    struct cct_node *node = cct_root(tree.cct);
    for (unsigned level = 0; level < 50; level++) {
        node = cct_child(tree.cct, node, f[level % 2]);
        cct_child(tree.cct, node, leaf)->self[0] = 1;
    }
    cct_child(tree.cct, node, f[0])->self[0] = 1;
    char *text = report_view(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"});
    cr_expect(strstr(text, "  + leaf\n"));
    char deepest[128];
    snprintf(deepest, sizeof deepest, "%*s[50] + leaf\n", 80, "");
    cr_expect(strstr(text, deepest), "%s", text);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        cr_assert_lt(end - line, 140);
    free(text);
    report_tree_free(&tree);
}

Test(callers, each_function_has_the_shares_of_its_callers)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;read;copy", 40);
    report_tree_add(&tree, "main;write;copy", 15);
    report_tree_add(&tree, "thread;write;copy", 5);
    report_tree_add(&tree, "main;write", 30);
    report_tree_add(&tree, "main", 9);
    report_tree_add(&tree, "main;rare", 1);
    expect(&tree, &(struct view_options){.view = view_named("callers"), .min_percent = 2, .unit = "samples"},
           "   self    share  samples  function, with its callers below\n"
           "  60.0%   100.0%       60  copy\n"
           "  40.0%    66.7%       40  + read\n"
           "  40.0%    66.7%       40    main\n"
           "  20.0%    33.3%       20  + write\n"
           "  15.0%    25.0%       15    + main\n"
           "   5.0%     8.3%        5    + thread\n"
           "\n"
           "  30.0%   100.0%       30  write\n"
           "  30.0%   100.0%       30  main\n"
           "\n"
           "   9.0%   100.0%        9  main\n"
           "... 1 more function under 2%: 1.0% self\n");
    expect(&tree,
           &(struct view_options){
               .view = view_named("callers"), .min_percent = 20, .max_rows = 1, .unit = "samples"},
           "   self    share  samples  function, with its callers below\n"
           "  60.0%   100.0%       60  copy\n"
           "  40.0%    66.7%       40  + read\n"
           "  40.0%    66.7%       40    main\n"
           "  20.0%    33.3%       20  + write\n"
           "  15.0%    25.0%       15    main\n"
           "... 3 more functions: 40.0% self\n");
    report_tree_free(&tree);
}

Test(callers, recursion_shows_where_paths_leave_it)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;walk", 10);
    report_tree_add(&tree, "main;walk;walk", 20);
    report_tree_add(&tree, "main;walk;walk;walk", 70);
    expect(&tree, &(struct view_options){.view = view_named("callers"), .unit = "samples"},
           "   self    share  samples  function, with its callers below\n"
           " 100.0%   100.0%      100  walk\n"
           "  90.0%    90.0%       90  + walk\n"
           "  70.0%    70.0%       70    + walk\n"
           "  70.0%    70.0%       70      main\n"
           "  20.0%    20.0%       20    + main\n"
           "  10.0%    10.0%       10  + main\n");
    report_tree_free(&tree);
}

Test(flat, recursion_counts_once_in_totals)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;fib;fib;fib", 50);
    report_tree_add(&tree, "main;fib;fib", 20);
    report_tree_add(&tree, "main;even;odd;even", 20);
    report_tree_add(&tree, "main;even;fib", 10);
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples"},
           "   self    total  samples  image  function\n"
           "  80.0%    80.0%       80  prog   fib\n"
           "  20.0%    30.0%       20  prog   even\n"
           "          100.0%        0  prog   main\n"
           "           20.0%        0  prog   odd\n");
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples", .max_rows = 1},
           "   self    total  samples  image  function\n"
           "  80.0%    80.0%       80  prog   fib\n"
           "... 3 more functions: 20.0% self\n");
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples", .min_percent = 25},
           "   self    total  samples  image  function\n"
           "  80.0%    80.0%       80  prog   fib\n"
           "  20.0%    30.0%       20  prog   even\n"
           "          100.0%        0  prog   main\n"
           "... 1 more function under 25%: 0.0% self\n");
    report_tree_free(&tree);
}

Test(flat, shows_bounds_labels_and_wide_names_uncut)
{
    struct report_tree tree = report_tree_new();
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    uint32_t path[] = {frames_label(tree.frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]"),
                       frames_named(tree.frames, name, "libverylong.so.1", 16)};
    *cct_error_of(cct_add(tree.cct, path, 2, (uint64_t[]){9999})) = 500;
    cct_add(tree.cct, path, 1, (uint64_t[]){1});
    char wanted[1024];
    snprintf(wanted, sizeof wanted,
             "          self    total  samples  image             function\n"
             "   99.9%% +-5.0    99.9%%     9999  libverylong.so.1  %s\n"
             "         <0.1%%   100.0%%        1                    [unknown context]\n",
             name);
    expect(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples"}, wanted);
    report_tree_free(&tree);
}

Test(view, an_empty_tree_says_so)
{
    struct report_tree tree = report_tree_new();
    for (const struct view *view = view_table; view->name; view++)
        expect(&tree, &(struct view_options){.view = view}, "nothing was sampled\n");
    report_tree_free(&tree);
}

Test(view, samples_without_weight_are_told)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;a", 0);
    for (const struct view *view = view_table; view->name; view++)
        expect(&tree, &(struct view_options){.view = view, .unit = "cycles"}, "no sample has any weight\n");
    report_tree_free(&tree);
}

Test(view, without_locks_it_says_so)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;a", 5);
    char *text = report_view(&tree, &(struct view_options){.view = view_named("locks"), .unit = "ns"});
    cr_expect(strstr(text, "no thread waited for a lock\n"), "%s", text);
    free(text);
    report_tree_free(&tree);
}

/* They are there where another metric has something. */
Test(view, contexts_without_weight_are_not_shown)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;a", 5);
    report_tree_add(&tree, "main;b", 0);
    for (const struct view *view = view_table; view->name; view++) {
        if (view->not_of_calls)
            continue;
        char *text = report_view(&tree, &(struct view_options){.view = view, .unit = "cycles"});
        cr_expect(strstr(text, "a\n") && !strstr(text, "b\n") && !strstr(text, "more"), "%s", text);
        free(text);
    }
    report_tree_free(&tree);
}

Test(view, weights_at_the_limit_do_not_overflow)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;a", UINT64_MAX - 1);
    report_tree_add(&tree, "main;b", UINT64_MAX / 2);
    for (const struct view *view = view_table; view->name; view++) {
        if (view->not_of_calls)
            continue;
        char *text = report_view(&tree, &(struct view_options){.view = view, .unit = "ns"});
        cr_expect(strstr(text, "50.0%") && strstr(text, "99.9%"), "%s", text);
        free(text);
    }
    report_tree_free(&tree);
}

Test(view, an_item_without_a_frame_is_refused)
{
    struct report_tree tree = report_tree_new();
    cct_add(tree.cct, &(uint32_t){7}, 1, (uint64_t[]){1});
    struct contexts contexts = report_tree_contexts(&tree);
    struct fathom_error err = {0};
    FILE *out = fopen("/dev/null", "w");
    cr_expect_eq(view_write(&contexts, &(struct view_options){0}, out, &err), -ERANGE);
    cr_expect_eq(folded_write(&contexts, out, &err), -ERANGE);
    fclose(out);
    report_tree_free(&tree);
}

Test(view, a_full_disk_is_told)
{
    struct report_tree tree = small_tree();
    struct contexts contexts = report_tree_contexts(&tree);
    for (int buffered = 0; buffered < 2; buffered++) {
        FILE *out = fopen("/dev/full", "w");
        if (!buffered)
            setvbuf(out, NULL, _IONBF, 0);
        for (const struct view *view = view_table; view->name; view++) {
            struct fathom_error err = {0};
            clearerr(out);
            cr_expect_eq(view_write(&contexts, &(struct view_options){.view = view}, out, &err), -ENOSPC);
            cr_expect_str_eq(err.text, "cannot write the report: No space left on device");
        }
        struct fathom_error err = {0};
        clearerr(out);
        cr_expect_eq(folded_write(&contexts, out, &err), -ENOSPC);
        clearerr(out);
        cr_expect_eq(view_heading_write(&(struct view_heading){0}, &(struct view_options){0}, out, &err),
                     -ENOSPC);
        fclose(out);
    }
    report_tree_free(&tree);
}

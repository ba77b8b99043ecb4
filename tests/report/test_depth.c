/* Stacks of 200,000 frames in every view: no recursion on the C stack, no indentation without end. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/report/report_tree.h"

enum { DEPTH = 200000 };

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

/* A chain of so many functions that call each other in turns; every frame has weight. */
static struct report_tree chain(unsigned functions)
{
    struct rlimit small = {256 * 1024, 256 * 1024};
    setrlimit(RLIMIT_STACK, &small);
    struct report_tree tree = report_tree_new();
    struct cct_node *node = cct_root(tree.cct);
    for (unsigned i = 0; i < DEPTH; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i % functions);
        node = cct_child(tree.cct, node, frames_named(tree.frames, name, "prog", 8 * (i % functions)));
        node->self[0] = 1;
    }
    return tree;
}

enum { MANY = 20 }; /* no view takes so many for turns */

Test(depth, a_tree_has_a_row_for_every_frame_and_no_indentation)
{
    struct report_tree tree = chain(MANY);
    char *text = report_view(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"});
    cr_expect_eq(count_lines(text), DEPTH + 1u);
    cr_expect(strstr(text, "\n 100.0%   <0.1%   200000  f0\n"));
    cr_expect(strstr(text, "\n  <0.1%   <0.1%        1  f19\n"));
    free(text);
    text = report_view(
        &tree, &(struct view_options){.view = view_named("tree"), .unit = "samples", .min_percent = 50});
    cr_expect_eq(count_lines(text), DEPTH / 2 + 3u);
    cr_expect(strstr(text, "\n... 99999 more contexts under 50%: 50.0% self\n"), "%s",
              text + strlen(text) - 80);
    free(text);
    report_tree_free(&tree);
}

Test(depth, recursion_of_one_function_is_one_row)
{
    struct report_tree tree = report_tree_new();
    uint32_t item = frames_named(tree.frames, "walk", "prog", 0);
    struct cct_node *node = cct_root(tree.cct);
    for (unsigned i = 0; i < DEPTH; i++)
        node = cct_child(tree.cct, node, item);
    node->self[0] = 9;
    char *text = report_view(&tree, &(struct view_options){.view = view_named("tree"), .unit = "samples"});
    cr_expect_str_eq(text, "  total    self  samples  context\n"
                           " 100.0%  100.0%        9  walk x200000\n");
    free(text);
    report_tree_free(&tree);
}

Test(depth, flat_totals_count_each_path_once)
{
    struct report_tree tree = chain(2);
    char *text = report_view(&tree, &(struct view_options){.view = view_named("flat"), .unit = "samples"});
    cr_expect_str_eq(text, "   self    total  samples  image  function\n"
                           "  50.0%   100.0%   100000  prog   f0\n"
                           "  50.0%    99.9%   100000  prog   f1\n");
    free(text);
    report_tree_free(&tree);
}

Test(depth, callers_stop_at_a_limit_and_say_so)
{
    struct report_tree tree = chain(MANY);
    char *text = report_view(
        &tree, &(struct view_options){.view = view_named("callers"), .unit = "samples", .min_percent = 1});
    cr_expect(strstr(text, "\n... callers more than 256 levels out are not shown\n"));
    cr_expect_eq(count_lines(text), MANY * 258u + 1);
    free(text);
    report_tree_free(&tree);
}

Test(depth, a_folded_line_holds_the_whole_path)
{
    struct report_tree tree = report_tree_new();
    uint32_t items[] = {frames_named(tree.frames, "even", "prog", 0),
                        frames_named(tree.frames, "odd", "prog", 8)};
    struct cct_node *node = cct_root(tree.cct);
    for (unsigned i = 0; i < DEPTH; i++)
        node = cct_child(tree.cct, node, items[i % 2]);
    node->self[0] = 9;
    char *text = report_folded(&tree);
    cr_expect_eq(strlen(text), DEPTH / 2 * strlen("even;odd;") + strlen(" 9\n") - 1);
    cr_expect_eq(strncmp(text, "even;odd;even;", 14), 0);
    cr_expect_str_eq(text + strlen(text) - 11, "even;odd 9\n");
    free(text);
    report_tree_free(&tree);
}

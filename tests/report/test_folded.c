/* Folded stacks: exact lines, and the order of their bytes. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "tests/report/report_tree.h"

static void expect(struct report_tree *tree, const char *wanted)
{
    char *text = report_folded(tree);
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%sgot:\n%s", wanted, text);
    free(text);
}

Test(folded, one_line_for_each_context_with_weight)
{
    struct report_tree tree = report_tree_new();
    report_tree_add(&tree, "main;run;memcpy", 12);
    report_tree_add(&tree, "main;run", 3);
    report_tree_add(&tree, "main;run;alloc;mmap", 1);
    report_tree_add(&tree, "main;run;gone", 0);
    report_tree_add(&tree, "[unknown context];lex", 7);
    cct_root(tree.cct)->self[0] = 5;
    expect(&tree, "[contexts not kept] 5\n"
                  "[unknown context];lex 7\n"
                  "main;run 3\n"
                  "main;run;alloc;mmap 1\n"
                  "main;run;memcpy 12\n");
    report_tree_free(&tree);
}

Test(folded, names_that_would_break_a_line_are_mended_and_equal_texts_joined)
{
    struct report_tree tree = report_tree_new();
    uint32_t main_item = frames_named(tree.frames, "main", "prog", 0);
    uint32_t odd[] = {
        frames_named(tree.frames, "a;b", "prog", 1), frames_named(tree.frames, "a:b", "prog", 2),
        frames_named(tree.frames, "line\nbreak\r", "prog", 3), frames_named(tree.frames, "", "", 4)};
    uint32_t leaf = frames_named(tree.frames, "leaf", "prog", 5);
    for (uint32_t i = 0; i < 4; i++) {
        cct_add(tree.cct, (uint32_t[]){main_item, odd[i]}, 2, (uint64_t[]){10 + i});
        cct_add(tree.cct, (uint32_t[]){main_item, odd[i], leaf}, 3, (uint64_t[]){100 + i});
    }
    expect(&tree, "main;? 13\n"
                  "main;?;leaf 103\n"
                  "main;a:b 21\n"
                  "main;a:b;leaf 201\n"
                  "main;line?break? 12\n"
                  "main;line?break?;leaf 102\n");
    report_tree_free(&tree);
}

Test(folded, lines_are_in_the_order_of_their_bytes)
{
    /* Names of which some are beginnings of others, with bytes on both sides of ' ' and ';'. */
    static const char *const names[] = {
        "a", "a b", "a!", "ab", "a 5", "a:", "a<int>", "operator new(unsigned long)", "\xc3\xa4", "a 51"};
    enum { NAMES = sizeof names / sizeof *names };
    struct report_tree tree = report_tree_new();
    uint32_t items[NAMES], path[5];
    for (int i = 0; i < NAMES; i++)
        items[i] = frames_named(tree.frames, names[i], "prog", 0);
    uint64_t seed = 1, total = 0;
    for (int n = 0; n < 3000; n++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        size_t depth = 1 + (seed >> 60) % 5;
        for (size_t i = 0; i < depth; i++)
            path[i] = items[(seed >> (20 + 4 * i)) % NAMES];
        cct_add(tree.cct, path, depth, (uint64_t[]){1 + (seed >> 50) % 60});
        total += 1 + (seed >> 50) % 60;
    }
    char *text = report_folded(&tree), *previous = NULL, *rest = text;
    uint64_t sum = 0;
    size_t lines = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; previous = line, lines++) {
        if (previous)
            cr_assert_lt(strcmp(previous, line), 0, "\"%s\" stands before \"%s\"", previous, line);
        sum += strtoull(strrchr(line, ' '), NULL, 10);
    }
    cr_expect_eq(sum, total);
    cr_expect_gt(lines, 1000u);
    free(text);
    report_tree_free(&tree);
}

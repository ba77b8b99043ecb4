/* What changed, as exact text. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "report/changes.h"

/* Counted calls of paths "main;a 12", a space between path and count, "|" between them: exact, so that any change is one. */
static void add_side(struct difference *d, unsigned side, const char *text)
{
    struct cct *tree = cct_new(1);
    struct frames *frames = frames_new();
    struct fathom_error err = {0};
    char *copy = strdup(text), *rest = copy;
    for (char *path; (path = strsep(&rest, "|"));) {
        uint32_t items[16];
        size_t count = 0;
        uint64_t weight = strtoull(strchr(path, ' '), NULL, 10);
        *strchr(path, ' ') = 0;
        for (char *name; (name = strsep(&path, ";"));)
            items[count++] = frames_named(frames, name, "prog", 0);
        cr_assert_not_null(cct_add(tree, items, count, &weight));
    }
    free(copy);
    cr_assert_eq(difference_add(d, side, &(struct contexts){.tree = tree, .frames = frames}, &err), 0, "%s",
                 err.text);
    cct_free(tree);
    frames_free(frames);
}

static void expect(const char *a, const char *b, bool absolute, struct changes_report report,
                   const char *wanted)
{
    struct difference *d = difference_new(&(struct difference_options){.absolute = absolute});
    struct changes changes;
    struct fathom_error err = {0};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    add_side(d, 0, a);
    add_side(d, 1, b);
    cr_assert_eq(difference_find(d, &changes, &err), 0);
    report.changes = &changes;
    report.names[0] = "old";
    report.names[1] = "new\033[31m";
    report.unit = "calls";
    cr_assert_eq(changes_text_write(&report, out, &err), 0);
    fclose(out);
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%sgot:\n%s", wanted, text);
    free(text);
    difference_free(d);
}

Test(changes, farthest_first_with_their_callers)
{
    expect("main;run;a 40|main;run;b 20|main;c 40", "main;run;a 40|main;run;d 30|main;c 30", false,
           (struct changes_report){0},
           "A  old: 100 calls\n"
           "B  new?[31m: 100 calls\n"
           "\n"
           "      A        B         change  context\n"
           " 100.0%   100.0%                 main\n"
           "  60.0%    70.0%   +10.0% +-0.0  + run\n"
           "   0.0%    30.0%   +30.0% +-0.0    + d\n"
           "  20.0%     0.0%   -20.0% +-0.0    + b\n"
           "  40.0%    30.0%   -10.0% +-0.0  + c\n"
           "\n"
           " self A   self B         change  total A  total B         change  function\n"
           "   0.0%    30.0%   +30.0% +-0.0     0.0%    30.0%   +30.0% +-0.0  d\n"
           "  20.0%     0.0%   -20.0% +-0.0    20.0%     0.0%   -20.0% +-0.0  b\n"
           "  40.0%    30.0%   -10.0% +-0.0    40.0%    30.0%   -10.0% +-0.0  c\n"
           "   0.0%     0.0%                   60.0%    70.0%   +10.0% +-0.0  run\n"
           "\n"
           "... 3 more rows changed by no more than chance (--all shows them)\n");
}

Test(changes, weights_in_colour)
{
    expect("main;a 40|main;b 5", "main;a 30|main;b 9", true, (struct changes_report){.colour = true},
           "A  old: 45 calls\n"
           "B  new?[31m: 39 calls\n"
           "B has 0.87 times the weight of A: -6 +-0\n"
           "\n"
           "    A      B          change  context\n"
           "   45     39  \033[32m        -6 +-0\033[0m  main\n"
           "   40     30  \033[32m       -10 +-0\033[0m  + a\n"
           "    5      9  \033[31m        +4 +-0\033[0m  + b\n"
           "\n"
           "self A  self B          change  total A  total B          change  function\n"
           "   40     30  \033[32m       -10 +-0\033[0m     40     30  \033[32m       -10 +-0\033[0m  a\n"
           "    5      9  \033[31m        +4 +-0\033[0m      5      9  \033[31m        +4 +-0\033[0m  b\n"
           "    0      0                     45     39  \033[32m        -6 +-0\033[0m  main\n");
}

Test(changes, none)
{
    expect("main;a 40", "main;a 80", false, (struct changes_report){0},
           "A  old: 40 calls\n"
           "B  new?[31m: 80 calls\n"
           "B has 2.00 times the weight of A: +40 +-0 (--absolute shows where)\n"
           "\n"
           "no change is more than chance (0 rows were compared; --all shows them)\n");
}

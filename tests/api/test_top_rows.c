/* The rows of `fathom top`: a known tree in each view, folded, filtered, sorted, and without light rows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/top/rows.h"
#include "base/hash.h"

static struct frames *frames;
static struct cct *tree;
static struct table *folded;
static struct fathom_top_rows rows;
static struct fathom_top_show options;

static bool is_folded(void *context, uint64_t key)
{
    return table_find(context, key) != NULL;
}

static uint32_t item(const char *name)
{
    return frames_named(frames, name, "image", 0);
}

/* A path, "main;work;leaf", with its weight and how much of it is certain. */
static void add(const char *path, uint64_t weight, uint64_t certain)
{
    char text[256], *rest = text;
    uint32_t items[16];
    size_t depth = 0;
    snprintf(text, sizeof text, "%s", path);
    for (char *name; (name = strsep(&rest, ";")) != NULL;)
        items[depth++] = item(name);
    cr_assert(cct_add(tree, items, depth, (uint64_t[]){weight, certain}));
}

static void begin(void)
{
    frames = frames_new();
    tree = cct_new(2);
    folded = table_new();
    cr_assert(frames && tree && folded);
    add("main;work;leaf", 60, 60);
    add("main;work", 10, 5);
    add("main;rest;leaf", 20, 0);
    add("main;rest;leaf;leaf", 8, 8);
    add("main;idle", 2, 2);
    options = (struct fathom_top_show){.filter = "", .is_folded = is_folded, .context = folded};
}

static void end(void)
{
    rows_clear(&rows);
    frames_free(frames);
    cct_free(tree);
    table_free(folded);
}

TestSuite(top_rows, .init = begin, .fini = end);

/* "LEVEL[+] name total/self" of all rows; static memory. */
static const char *text(void)
{
    static char out[1024];
    size_t at = 0;
    out[0] = 0;
    rows_clear(&rows);
    cr_assert_eq(rows_make(tree, frames, &options, &rows), 0);
    for (size_t i = 0; i < rows.count; i++) {
        const struct fathom_top_row *r = &rows.at[i];
        at +=
            (size_t)snprintf(out + at, sizeof out - at, "%u%s %s %lu/%lu%s\n", r->level, r->marked ? "+" : "",
                             r->function, r->total, r->self, r->folded ? " folded" : "");
    }
    return out;
}

static void expect(const char *expected)
{
    const char *found = text();
    cr_expect_str_eq(found, expected, "got:\n%sexpected:\n%s", found, expected);
}

Test(top_rows, tree)
{
    expect(
        "0 main 100/0\n1+ work 70/10\n1 leaf 60/60\n1+ rest 28/0\n1 leaf 28/20\n1 leaf 8/8\n1+ idle 2/2\n");
    cr_expect_eq(rows.whole, 100);
    cr_expect_float_eq(rows.at[0].sure, 0.75, 1e-9);
    cr_expect_float_eq(rows.at[2].sure, 1, 1e-9);
    cr_expect(rows.at[0].is_root && !rows.at[1].is_root);
}

Test(top_rows, callers)
{
    options.view = FATHOM_TOP_CALLERS;
    expect("1+ leaf 88/0\n2+ work 60/0\n2 main 60/60\n2+ rest 20/0\n2 main 20/20\n2+ leaf 8/0\n2 rest 8/0\n2 "
           "main 8/8\n"
           "1+ work 10/0\n1 main 10/10\n1+ idle 2/0\n1 main 2/2\n");
}

Test(top_rows, flat_counts_recursion_once)
{
    options.view = FATHOM_TOP_FLAT;
    expect("0 main 100/0\n0 leaf 88/88\n0 work 70/10\n0 rest 28/0\n0 idle 2/2\n");
    options.sort = FATHOM_TOP_BY_SELF;
    expect("0 leaf 88/88\n0 work 70/10\n0 idle 2/2\n0 main 100/0\n0 rest 28/0\n");
    options.sort = FATHOM_TOP_BY_NAME;
    expect("0 idle 2/2\n0 leaf 88/88\n0 main 100/0\n0 rest 28/0\n0 work 70/10\n");
}

Test(top_rows, folded_rows_hide_what_is_below)
{
    text();
    cr_assert(table_put(folded, rows.at[1].key, NULL));
    expect("0 main 100/0\n1+ work 70/10 folded\n1+ rest 28/0\n1 leaf 28/20\n1 leaf 8/8\n1+ idle 2/2\n");
    cr_assert(table_remove(folded, rows.at[1].key));
    cr_assert(table_put(folded, rows.at[0].key, NULL));
    expect("0 main 100/0 folded\n");
}

Test(top_rows, a_filter_keeps_whole_contexts)
{
    options.filter = "EST";
    expect("0 main 28/0\n0 rest 28/0\n0 leaf 28/20\n0 leaf 8/8\n");
    cr_expect_eq(rows.whole, 100);
    options.filter = "no such";
    expect("");
}

Test(top_rows, light_rows_are_left_out)
{
    options.min_percent = 25;
    expect("0 main 100/0\n1+ work 70/10\n1 leaf 60/60\n1+ rest 28/0\n1 leaf 28/20\n");
}

/* What the root has itself is in no context, and still part of the whole. */
Test(top_rows, what_is_not_shown_counts)
{
    cct_weigh(tree, cct_root(tree), (uint64_t[]){100, 0});
    options.view = FATHOM_TOP_FLAT;
    expect("0 main 100/0\n0 leaf 88/88\n0 work 70/10\n0 rest 28/0\n0 idle 2/2\n");
    cr_expect_eq(rows.whole, 200);
    cr_expect_eq(rows.rest, 100);
}

Test(top_rows, an_empty_tree)
{
    cct_free(tree);
    tree = cct_new(2);
    for (enum fathom_top_view view = 0; view < FATHOM_TOP_VIEWS; view++) {
        options.view = view;
        expect("");
    }
}

/* report_tree.c - see report_tree.h. */
#include "tests/report/report_tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct report_tree report_tree_new(void)
{
    struct report_tree tree = {cct_new(1), frames_new(), NULL};
    cr_assert(tree.cct && tree.frames);
    return tree;
}

void report_tree_free(struct report_tree *tree)
{
    cct_free(tree->cct);
    frames_free(tree->frames);
}

struct cct_node *report_tree_add(struct report_tree *tree, const char *path, uint64_t weight)
{
    uint32_t items[64];
    size_t count = 0;
    char *copy = strdup(path), *rest = copy;
    for (char *name; (name = strsep(&rest, ";"));) {
        cr_assert_lt(count, sizeof items / sizeof *items);
        items[count++] = frames_named(tree->frames, name, "prog", 0);
    }
    free(copy);
    struct cct_node *node = cct_add(tree->cct, items, count, &weight);
    cr_assert_not_null(node);
    return node;
}

struct contexts report_tree_contexts(const struct report_tree *tree)
{
    static const struct metrics weight = {.at = {&metric_table[0]}, .count = 1};
    return (struct contexts){
        .tree = tree->cct, .frames = tree->frames, .metrics = &weight, .doubts = tree->doubts};
}

const struct view *view_named(const char *name)
{
    const struct view *view = view_table;
    while (view->name && strcmp(view->name, name) != 0)
        view++;
    cr_assert_not_null(view->name, "%s", name);
    return view;
}

static FILE *text_open(char **text)
{
    static size_t size;
    FILE *out = open_memstream(text, &size);
    cr_assert_not_null(out);
    return out;
}

char *report_view(struct report_tree *tree, const struct view_options *options)
{
    char *text;
    FILE *out = text_open(&text);
    struct fathom_error err = {0};
    struct contexts contexts = report_tree_contexts(tree);
    cr_assert_eq(view_write(&contexts, options, out, &err), 0, "%s", err.text);
    fclose(out);
    return text;
}

char *report_folded(struct report_tree *tree)
{
    char *text;
    FILE *out = text_open(&text);
    struct fathom_error err = {0};
    struct contexts contexts = report_tree_contexts(tree);
    cr_assert_eq(folded_write(&contexts, out, &err), 0, "%s", err.text);
    fclose(out);
    return text;
}

char *report_heading(const struct view_heading *heading, const struct view_options *options)
{
    char *text;
    FILE *out = text_open(&text);
    struct fathom_error err = {0};
    cr_assert_eq(view_heading_write(heading, options, out, &err), 0, "%s", err.text);
    fclose(out);
    return text;
}

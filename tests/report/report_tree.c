/* report_tree.c - see report_tree.h. */
#include "tests/report/report_tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct report_tree report_tree_new(void)
{
    struct report_tree tree = {cct_new(), frames_new()};
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
    struct cct_node *node = cct_add(tree->cct, items, count, weight);
    cr_assert_not_null(node);
    return node;
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
    cr_assert_eq(view_write(tree->cct, tree->frames, options, out, &err), 0, "%s", err.text);
    fclose(out);
    return text;
}

char *report_folded(struct report_tree *tree)
{
    char *text;
    FILE *out = text_open(&text);
    struct fathom_error err = {0};
    cr_assert_eq(folded_write(tree->cct, tree->frames, out, &err), 0, "%s", err.text);
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

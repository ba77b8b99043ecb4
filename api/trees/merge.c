/* merge.c - adds up the trees of several runs, processes or machines. */
#include <errno.h>
#include <string.h>

#include "api/fathom/trees.h"
#include "base/outfile.h"
#include "base/saturate.h"
#include "hcct/named_tree.h"
#include "hcct/saved_tree.h"

/* The first tree becomes the sum. */
static int add_tree(struct named_tree *sum, const char *path, struct tree_names *names,
                    struct fathom_error *err)
{
    struct named_tree next = {0};
    int rc = named_tree_load(path, names, &next, err);
    if (rc == 0 && !sum->tree) {
        *sum = next;
        return 0;
    }
    if (rc == 0 && strcmp(sum->unit, next.unit) != 0)
        rc = error_set(err, EINVAL, "%s counts %s, and those before it %s: they cannot be added up", path,
                       next.unit, sum->unit);
    if (rc == 0 && sum->traced != next.traced)
        rc = error_set(err, EINVAL,
                       "%s is a %s, and those before it are not: traces have no frames of files without "
                       "hooks, so that their contexts are not those of trees",
                       path, next.traced ? "trace" : "saved tree");
    if (rc == 0)
        rc = cct_merge(sum->tree, next.tree) < 0 ? error_memory(err) : 0;
    sum->bound = add_saturating(sum->bound, next.bound);
    named_tree_clear(&next);
    return rc;
}

static int save_sum(const struct named_tree *sum, const struct tree_names *names, struct outfile *out,
                    struct fathom_error *err)
{
    struct saved_tree saved = {.tree = sum->tree,
                               .functions = names->functions,
                               .function_count = names_count(names->names),
                               .unit = sum->unit,
                               .command = "",
                               .bound = sum->bound};
    int fd, rc = outfile_begin(out, &fd, err);
    if (rc == 0)
        rc = saved_tree_write(&saved, fd, outfile_path(out), err);
    return rc == 0 ? outfile_publish(out, false, err) : rc;
}

int fathom_tree_merge(char *const *paths, size_t count, const char *output, struct fathom_error *err)
{
    struct tree_names names;
    struct named_tree sum = {0};
    struct outfile *out = NULL;
    int rc = tree_names_init(&names, err);
    if (rc == 0)
        rc = outfile_open(output, &out, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_tree(&sum, paths[i], &names, err);
    if (rc == 0)
        rc = save_sum(&sum, &names, out, err);
    outfile_close(out);
    named_tree_clear(&sum);
    tree_names_clear(&names);
    return rc;
}

/* show.c - prints trees of contexts, and the difference of two. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fathom/trees.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "hcct/named_tree.h"
#include "hcct/quality.h"

/* Lists ------------------------------------------------------------------------------------------------------- */

/* Prints as many innermost frames as fit into the width after `before` columns. */
static void print_path(FILE *out, const struct tree_names *names, const struct cct_node *node,
                       unsigned before, size_t width)
{
    static const char more[] = "...;";
    const struct cct_node *path[256];
    size_t depth = 0, used = before + sizeof more - 1;
    for (; cct_parent(node) && depth < sizeof path / sizeof *path; node = cct_parent(node)) {
        used += strlen(names_text(names->names, node->item)) + 1;
        if (width && depth && used > width)
            break;
        path[depth++] = node;
    }
    if (cct_parent(node))
        fputs(more, out);
    while (depth--)
        fprintf(out, "%s%s", names_text(names->names, path[depth]->item), depth ? ";" : "\n");
}

static int print_list(FILE *out, const struct named_tree *n, const struct tree_names *names, uint64_t rows,
                      size_t width, struct fathom_error *err)
{
    struct cct_node *root = cct_root(n->tree), **nodes;
    double total = (double)cct_total(n->tree);
    int64_t count = cct_heaviest(n->tree, &nodes);
    if (count < 0)
        return error_memory(err);
    fprintf(out, "%" PRId64 " context%s of %" PRIu64 " %s", count, count == 1 ? "" : "s", cct_total(n->tree),
            n->unit);
    if (n->bound)
        fprintf(out, "; each may have up to %" PRIu64 " more", n->bound);
    fprintf(out, "\n\n");
    for (size_t i = 0; i < (size_t)count && (!rows || i < rows); i++) {
        fprintf(out, "%6.2f%% %14" PRIu64 "  ", 100 * (double)nodes[i]->self[0] / total, nodes[i]->self[0]);
        print_path(out, names, nodes[i], 24, width);
    }
    if (root->self[0])
        fprintf(out, "%6.2f%% %14" PRIu64 "  (in no context of the tree)\n",
                100 * (double)root->self[0] / total, root->self[0]);
    free(nodes);
    return 0;
}

/* Graphviz ---------------------------------------------------------------------------------------------------- */

struct drawn {
    const struct cct_node *node;
    uint64_t total; /* with all descendants */
    size_t parent;
};

static void print_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_drawn(FILE *out, const struct drawn *d, size_t number, const struct tree_names *names,
                        double whole)
{
    double share = (double)d->total / whole, own = (double)d->node->self[0] / whole;
    unsigned pale = (unsigned)(255 - 160 * fmin(1, 5 * own));
    fprintf(out, "  n%zu [label=\"", number);
    print_quoted(out, names_text(names->names, d->node->item));
    fprintf(out, "\\n%.2f%%", 100 * share);
    if (d->node->self[0])
        fprintf(out, ", own %.2f%%", 100 * own);
    fprintf(out, "\", fillcolor=\"#ff%02x%02x\"];\n", pale, pale);
    if (d->parent)
        fprintf(out, "  n%zu -> n%zu;\n", d->parent, number);
}

static int print_dot(FILE *out, const struct named_tree *n, const struct tree_names *names,
                     double min_percent, struct fathom_error *err)
{
    struct cct_node *root = cct_root(n->tree);
    size_t count = 0, capacity = 0, above = 0;
    struct drawn *all = NULL;
    double whole = (double)cct_total(n->tree);
    for (struct cct_node *at = root, *before = NULL; at; before = at, at = cct_next(root, at)) {
        for (; before && cct_parent(at) != before; before = cct_parent(before))
            above = before == root ? 0 : all[above].parent;
        struct drawn d = {at, at->self[0], above};
        if (!vec_push(all, count, capacity, d)) {
            free(all);
            return error_memory(err);
        }
        above = count - 1;
    }
    for (size_t i = count; i-- > 1;)
        all[all[i].parent].total = add_saturating(all[all[i].parent].total, all[i].total);
    fprintf(out, "digraph contexts {\n  node [shape=box, style=filled, fontname=\"sans\"];\n");
    for (size_t i = 1; i < count; i++) /* descendants of a light node are light too */
        if ((double)all[i].total * 100 >= min_percent * whole)
            print_drawn(out, &all[i], i, names, whole);
    fprintf(out, "}\n");
    free(all);
    return 0;
}

int fathom_tree_show(const char *path, const struct fathom_tree_options *o, FILE *out,
                     struct fathom_error *err)
{
    struct tree_names names;
    struct named_tree n = {0};
    int rc = tree_names_init(&names, err);
    if (rc == 0)
        rc = named_tree_load(path, &names, &n, err);
    if (rc == 0)
        rc = o->format == FATHOM_TREE_DOT ? print_dot(out, &n, &names, o->min_percent, err)
                                          : print_list(out, &n, &names, o->rows, o->width, err);
    named_tree_clear(&n);
    tree_names_clear(&names);
    return rc;
}

/* Comparison -------------------------------------------------------------------------------------------------- */

struct difference {
    const struct cct_node *node; /* of one of the trees */
    double in_a, in_b;           /* shares of the weight */
};

static double distance_of(const struct difference *d)
{
    return fabs(d->in_a - d->in_b);
}

static int compare_differences(const void *a, const void *b)
{
    double x = distance_of(a), y = distance_of(b);
    return x > y ? -1 : x < y;
}

/* Merges both trees: metric 0 is a's weight, metric 1 b's. */
static struct cct *join_trees(struct cct *a, struct cct *b)
{
    struct cct *both = cct_new(2), *trees[2] = {a, b};
    for (unsigned t = 0; both && t < 2; t++) {
        struct cct_node *root = cct_root(trees[t]), *at = root, *place = cct_root(both);
        while (place) {
            uint64_t values[2] = {t ? 0 : at->self[0], t ? at->self[0] : 0};
            cct_weigh(both, place, values);
            struct cct_node *next = cct_next(root, at);
            if (!next)
                break;
            for (; cct_parent(next) != at; at = cct_parent(at))
                place = cct_parent(place);
            at = next;
            place = cct_child(both, place, at->item);
        }
        if (!place) {
            cct_free(both);
            both = NULL;
        }
    }
    return both;
}

static int print_differences(FILE *out, struct cct *a, struct cct *b, const struct tree_names *names,
                             uint64_t rows, size_t width, struct fathom_error *err)
{
    struct cct *both = join_trees(a, b);
    struct difference *all = NULL;
    size_t count = 0, capacity = 0;
    double total_a = (double)cct_total(a), total_b = (double)cct_total(b), shared = 0;
    if (!both)
        return error_memory(err);
    int rc = 0;
    struct cct_node *root = cct_root(both);
    for (struct cct_node *n = root; n && rc == 0; n = cct_next(root, n)) {
        struct difference d = {n, total_a > 0 ? (double)n->self[0] / total_a : 0,
                               total_b > 0 ? (double)n->self[1] / total_b : 0};
        if (n == root || (!n->self[0] && !n->self[1]))
            continue;
        shared += fmin(d.in_a, d.in_b);
        rc = vec_push(all, count, capacity, d) ? 0 : error_memory(err);
    }
    if (rc == 0) {
        if (count)
            qsort(all, count, sizeof *all, compare_differences);
        fprintf(out, "%.2f%% of the weight is on the same contexts\n\n%9s %9s %9s\n", 100 * shared, "A", "B",
                "change");
    }
    for (size_t i = 0; rc == 0 && i < count && (!rows || i < rows) && distance_of(&all[i]) > 0; i++) {
        fprintf(out, "%8.3f%% %8.3f%% %+8.3f%%  ", 100 * all[i].in_a, 100 * all[i].in_b,
                100 * (all[i].in_b - all[i].in_a));
        print_path(out, names, all[i].node, 31, width);
    }
    free(all);
    cct_free(both);
    return rc;
}

static void print_quality(FILE *out, const char *what, const struct quality *q, struct cct *tree,
                          struct cct *reference)
{
    fprintf(out,
            "%s: %zu contexts and their ancestors (of %zu), overlap %.2f%%; hot %zu, missed %zu, false %zu\n",
            what, cct_count(tree) - 1, cct_count(reference) - 1, 100 * q->overlap, q->hot, q->false_negatives,
            q->false_positives);
    fprintf(out, "   hot edge coverage");
    for (size_t t = 0; t < QUALITY_TAUS; t++)
        fprintf(out, "%s %.4g: %.1f%%", t ? "," : "", quality_taus[t], 100 * q->coverage[t]);
    fprintf(out, "; uncovered: most %.3f%%, mean %.4f%% of the heaviest\n", 100 * q->most_uncovered,
            100 * q->mean_uncovered);
}

/* Chooses the contexts that weigh at least *context. */
static bool is_hot(void *context, const struct cct_node *node, uint64_t *values)
{
    (void)values;
    return node->self[0] && (double)node->self[0] >= *(const double *)context;
}

/* The contexts with at least the share phi of the weight, and their ancestors. NULL: out of memory. */
static struct cct *hot_of(struct cct *from, double phi)
{
    double least = phi * (double)cct_total(from);
    return cct_choose(from, is_hot, &least);
}

/* Prints how well the hot contexts of one tree match those of the other. */
static int print_hot(FILE *out, const char *what, struct cct *tree, struct cct *reference, double phi,
                     struct fathom_error *err)
{
    struct cct *hot = hot_of(tree, phi);
    struct quality q;
    int rc = hot && quality_of(hot, reference, phi, &q) == 0 ? 0 : error_memory(err);
    if (rc == 0)
        print_quality(out, what, &q, hot, reference);
    cct_free(hot);
    return rc;
}

int fathom_tree_compare(const char *path_a, const char *path_b, const struct fathom_tree_options *o,
                        FILE *out, struct fathom_error *err)
{
    struct tree_names names;
    struct named_tree a = {0}, b = {0};
    int rc = tree_names_init(&names, err);
    if (rc == 0)
        rc = named_tree_load(path_a, &names, &a, err);
    if (rc == 0)
        rc = named_tree_load(path_b, &names, &b, err);
    if (rc == 0 && strcmp(a.unit, b.unit) != 0)
        rc = error_set(err, EINVAL, "%s counts %s, and %s %s: they cannot be compared", path_a, a.unit,
                       path_b, b.unit);
    bool mixed = a.traced != b.traced;
    if (rc == 0 && mixed && named_tree_limit(a.traced ? &b : &a, a.traced ? &a : &b, &names) < 0)
        rc = error_memory(err);
    if (rc == 0) {
        fprintf(out, "A: %" PRIu64 " %s, B: %" PRIu64 " %s; hot: %g of the weight\n", cct_total(a.tree),
                a.unit, cct_total(b.tree), b.unit, o->phi);
        if (mixed)
            fprintf(out, "%s is a trace: frames of files that it has none of are left out of the other\n",
                    a.traced ? "A" : "B");
        rc = print_hot(out, "hot of B, for A", b.tree, a.tree, o->phi, err);
    }
    if (rc == 0)
        rc = print_hot(out, "hot of A, for B", a.tree, b.tree, o->phi, err);
    if (rc == 0)
        rc = print_differences(out, a.tree, b.tree, &names, o->rows, o->width, err);
    named_tree_clear(&a);
    named_tree_clear(&b);
    tree_names_clear(&names);
    return rc;
}

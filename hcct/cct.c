/* cct.c - see cct.h. */
#include "hcct/cct.h"

#include <errno.h>
#include <stdlib.h>

#include "hcct/cct_data.h"

struct cct *cct_new(uint32_t metrics)
{
    struct cct *cct = calloc(1, sizeof *cct);
    if (cct && !tree_init(&cct->tree, metrics, HEAD_PARENT)) {
        free(cct);
        return NULL;
    }
    return cct;
}

void cct_free(struct cct *cct)
{
    if (!cct)
        return;
    tree_clear(&cct->tree);
    free(cct);
}

struct cct_node *cct_root(struct cct *cct)
{
    return cct->tree.root;
}

struct cct_node *cct_child(struct cct *cct, struct cct_node *parent, uint32_t item)
{
    return tree_child(&cct->tree, parent, item);
}

struct cct_node *cct_add(struct cct *cct, const uint32_t *items, size_t count, const uint64_t *values)
{
    struct cct_node *node = cct->tree.root;
    for (size_t i = 0; i < count && node; i++)
        node = tree_child(&cct->tree, node, items[i]);
    if (node)
        cct_weigh(cct, node, values);
    return node;
}

void cct_weigh(struct cct *cct, struct cct_node *node, const uint64_t *values)
{
    values_add(node->self, values, cct->tree.metrics);
    cct->total = add_saturating(cct->total, values[0]);
}

int cct_merge(struct cct *cct, const struct cct *other)
{
    const struct cct_node *top = other->tree.root, *from = top;
    struct cct_node *to = cct->tree.root;
    for (;;) {
        cct_weigh(cct, to, from->self);
        *cct_error_of(to) = add_saturating(cct_error(to), cct_error(from));
        if (from->first_child) {
            from = from->first_child;
        } else {
            for (; from != top && !from->next_sibling; from = cct_parent(from))
                to = cct_parent(to);
            if (from == top)
                return 0;
            from = from->next_sibling;
            to = cct_parent(to);
        }
        to = tree_child(&cct->tree, to, from->item);
        if (!to)
            return -ENOMEM;
    }
}

uint64_t cct_total(const struct cct *cct)
{
    return cct->total;
}

size_t cct_count(const struct cct *cct)
{
    return cct->tree.count;
}

#include "api/top/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/vec.h"

struct node {
    uint32_t item, parent;
    uint64_t self, sure; /* sure: certain weight, first of self, later of total */
    uint64_t total;
    uint64_t key;
    uint32_t first, count; /* its children that are heavy enough, in `order` */
};

struct making {
    const struct fathom_top_show *show;
    const struct frames *frames;
    bool *matches; /* by item: whether its name contains the filter */
    uint32_t *path;
    size_t path_capacity;
    struct cct *work;   /* the contexts that pass the filter, in the order of the view */
    struct node *nodes; /* [0] is the root; parents first */
    size_t count, capacity;
    uint32_t *order;
    uint64_t least; /* minimum weight of a row */
    struct fathom_top_row *rows;
    size_t row_count, row_capacity;
};

static bool find_matches(struct making *m)
{
    uint32_t count = frames_count(m->frames);
    m->matches = calloc((size_t)count + 1, sizeof *m->matches);
    for (uint32_t i = 0; m->matches && i < count; i++)
        m->matches[i] = strcasestr(frames_at(m->frames, i)->name, m->show->filter) != NULL;
    return m->matches;
}

/* Adds a context if it passes the filter. */
static int add_context(struct making *m, const struct cct_node *leaf, const struct cct_node *root)
{
    size_t depth = 0;
    bool matches = !*m->show->filter;
    for (const struct cct_node *n = leaf; n != root; n = cct_parent(n)) {
        if (!vec_push(m->path, depth, m->path_capacity, n->item))
            return -ENOMEM;
        matches |= m->matches[n->item];
    }
    if (!matches)
        return 0;
    for (size_t i = 0; m->show->view != FATHOM_TOP_CALLERS && i < depth / 2; i++) {
        uint32_t item = m->path[i];
        m->path[i] = m->path[depth - 1 - i];
        m->path[depth - 1 - i] = item;
    }
    return cct_add(m->work, m->path, depth, leaf->self) ? 0 : -ENOMEM;
}

static int add_node(struct making *m, const struct cct_node *from, uint32_t parent)
{
    uint64_t above = m->count ? m->nodes[parent].key : 0;
    struct node node = {.item = from->item,
                        .parent = parent,
                        .self = m->count ? from->self[0] : 0,
                        .sure = m->count ? from->self[1] : 0,
                        .key = hash_u64(above ^ ((uint64_t)from->item + 1) * 0x9e3779b97f4a7c15u)};
    return vec_push(m->nodes, m->count, m->capacity, node) ? 0 : -ENOMEM;
}

struct step {
    const struct cct_node *node;
    uint32_t parent;
};

/* Lists the working tree, and computes totals. */
static int list_nodes(struct making *m)
{
    struct step *steps = NULL, first = {cct_root(m->work), 0};
    size_t count = 0, capacity = 0;
    int rc = vec_push(steps, count, capacity, first) ? 0 : -ENOMEM;
    while (rc == 0 && count) {
        struct step step = steps[--count];
        uint32_t number = (uint32_t)m->count;
        rc = add_node(m, step.node, step.parent);
        for (const struct cct_node *c = step.node->first_child; c && rc == 0; c = c->next_sibling)
            rc = vec_push(steps, count, capacity, ((struct step){c, number})) ? 0 : -ENOMEM;
    }
    free(steps);
    for (size_t i = m->count; rc == 0 && i-- > 1;) {
        struct node *n = &m->nodes[i], *above = &m->nodes[n->parent];
        n->total += n->self;
        above->total += n->total;
        above->sure += n->sure;
    }
    return rc;
}

/* Lists functions. Each counts once per context that it occurs in. */
static int list_functions(struct making *m)
{
    uint32_t items = frames_count(m->frames);
    uint32_t *number = calloc((size_t)items + 1, sizeof *number),
             *seen = calloc((size_t)items + 1, sizeof *seen);
    struct cct_node *root = cct_root(m->work);
    uint32_t context = 0;
    int rc = number && seen && vec_push(m->nodes, m->count, m->capacity, (struct node){0}) ? 0 : -ENOMEM;
    for (struct cct_node *leaf = root; leaf && rc == 0; leaf = cct_next(root, leaf)) {
        if (leaf == root || !leaf->self[0])
            continue;
        context++;
        for (struct cct_node *n = leaf; n != root && rc == 0; n = cct_parent(n)) {
            if (!number[n->item]) {
                number[n->item] = (uint32_t)m->count;
                rc = vec_push(m->nodes, m->count, m->capacity,
                              ((struct node){.item = n->item, .key = hash_u64(n->item + 1ull)}))
                         ? 0
                         : -ENOMEM;
            }
            if (rc < 0 || seen[n->item] == context)
                continue;
            struct node *f = &m->nodes[number[n->item]];
            seen[n->item] = context;
            f->total += leaf->self[0];
            f->sure += leaf->self[1];
            f->self += n == leaf ? leaf->self[0] : 0;
        }
    }
    free(number);
    free(seen);
    return rc;
}

static int compare_places(const void *a, const void *b, void *making)
{
    const struct making *m = making;
    const struct node *x = &m->nodes[*(const uint32_t *)a], *y = &m->nodes[*(const uint32_t *)b];
    uint64_t of_x = m->show->sort == FATHOM_TOP_BY_SELF ? x->self : x->total;
    uint64_t of_y = m->show->sort == FATHOM_TOP_BY_SELF ? y->self : y->total;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (m->show->sort != FATHOM_TOP_BY_NAME && of_x != of_y)
        return of_x > of_y ? -1 : 1;
    int names = strcmp(frames_at(m->frames, x->item)->name, frames_at(m->frames, y->item)->name);
    return names ? names : (x->item > y->item) - (x->item < y->item);
}

/* Sorts siblings, and finds the heavy ones of each node. */
static int sort_nodes(struct making *m)
{
    size_t count = 0;
    m->order = malloc((m->count + 1) * sizeof *m->order);
    if (!m->order)
        return -ENOMEM;
    for (uint32_t i = 1; i < m->count; i++)
        if (m->nodes[i].total >= m->least && m->nodes[i].total)
            m->order[count++] = i;
    qsort_r(m->order, count, sizeof *m->order, compare_places, m);
    for (uint32_t i = 0; i < count; i++) {
        struct node *above = &m->nodes[m->nodes[m->order[i]].parent];
        above->first = above->count++ ? above->first : i;
    }
    return 0;
}

struct place {
    uint32_t node, level;
    bool marked;
};

static int push_children(const struct making *m, const struct node *n, uint32_t level, struct place **places,
                         size_t *count, size_t *capacity)
{
    bool marked = n->count > 1 && m->show->view != FATHOM_TOP_FLAT;
    for (uint32_t i = n->count; i-- > 0;) {
        struct place place = {m->order[n->first + i], level + marked, marked};
        if (!vec_push(*places, *count, *capacity, place))
            return -ENOMEM;
    }
    return 0;
}

static int emit_rows(struct making *m)
{
    struct place *places = NULL;
    size_t count = 0, capacity = 0;
    int rc = push_children(m, &m->nodes[0], 0, &places, &count, &capacity);
    while (rc == 0 && count) {
        struct place place = places[--count];
        const struct node *n = &m->nodes[place.node];
        const struct frame *frame = frames_at(m->frames, n->item);
        struct fathom_top_row row = {.function = frame->name,
                                     .image = frame->image,
                                     .key = n->key,
                                     .self = n->self,
                                     .total = n->total,
                                     .sure = n->total ? (double)n->sure / (double)n->total : 0,
                                     .item = n->item,
                                     .level = place.level,
                                     .marked = place.marked,
                                     .folded = n->count && m->show->is_folded &&
                                               m->show->is_folded(m->show->context, n->key),
                                     .has_children = n->count > 0,
                                     .is_root = n->parent == 0};
        rc = vec_push(m->rows, m->row_count, m->row_capacity, row) ? 0 : -ENOMEM;
        if (rc == 0 && !row.folded)
            rc = push_children(m, n, place.level, &places, &count, &capacity);
    }
    free(places);
    return rc;
}

int rows_make(struct cct *tree, const struct frames *frames, const struct fathom_top_show *show,
              struct fathom_top_rows *out)
{
    struct making m = {.show = show, .frames = frames, .work = cct_new(2)};
    struct cct_node *root = cct_root(tree);
    m.least = count_saturating(show->min_percent / 100 * (double)cct_total(tree));
    int rc = m.work && find_matches(&m) ? 0 : -ENOMEM;
    for (struct cct_node *n = root; n && rc == 0; n = cct_next(root, n))
        if (n != root && n->self[0])
            rc = add_context(&m, n, root);
    if (rc == 0)
        rc = show->view == FATHOM_TOP_FLAT ? list_functions(&m) : list_nodes(&m);
    if (rc == 0)
        rc = sort_nodes(&m);
    if (rc == 0)
        rc = emit_rows(&m);
    cct_free(m.work);
    free(m.matches);
    free(m.path);
    free(m.nodes);
    free(m.order);
    if (rc < 0)
        free(m.rows);
    else
        *out = (struct fathom_top_rows){m.rows, m.row_count, cct_total(tree), root->self[0]};
    return rc;
}

void rows_clear(struct fathom_top_rows *rows)
{
    free((void *)(uintptr_t)rows->at);
    *rows = (struct fathom_top_rows){0};
}

/* branches.c - see branches.h. */
#include "report/views/branches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"

int branches_init(struct branches *branches, size_t capacity, struct fathom_error *err)
{
    if (capacity >= UINT32_MAX)
        return error_set(err, EOVERFLOW, "the tree has %zu contexts, more than a report can show", capacity);
    if (capacity < 64)
        capacity = 64;
    struct branch *at = malloc(capacity * sizeof *at);
    if (!at)
        return error_memory(err);
    at[0] = (struct branch){.parent = BRANCHES_NONE};
    *branches = (struct branches){at, 1, (uint32_t)capacity};
    return 0;
}

void branches_clear(struct branches *branches)
{
    free(branches->at);
    *branches = (struct branches){0};
}

uint32_t branches_add(struct branches *branches, uint32_t parent, uint32_t item, uint64_t self,
                      uint64_t error)
{
    if (!vec_reserve(branches->at, branches->count, branches->capacity, 1))
        return BRANCHES_NONE;
    branches->at[branches->count] =
        (struct branch){.self = self, .error = error, .item = item, .parent = parent};
    return branches->count++;
}

int branches_of_cct(struct branches *branches, struct cct *cct, const struct doubts *doubts,
                    struct fathom_error *err)
{
    struct cct_node *root = cct_root(cct), *node = root;
    int rc = branches_init(branches, cct_count(cct), err);
    if (rc)
        return rc;
    branches->at[0].self = root->self[0];
    branches->at[0].error = cct_error(root);
    branches->at[0].node = root;
    uint32_t index = 0; /* of node */
    for (;;) {
        if (node->first_child) {
            node = node->first_child;
        } else {
            while (node != root && !node->next_sibling) {
                node = cct_parent(node);
                index = branches->at[index].parent;
            }
            if (node == root)
                return 0;
            node = node->next_sibling;
            index = branches->at[index].parent;
        }
        index = branches_add(branches, index, node->item, node->self[0], cct_error(node));
        if (index == BRANCHES_NONE) {
            branches_clear(branches);
            return error_memory(err);
        }
        branches->at[index].node = node;
        if (doubts) {
            struct doubt doubt = doubts_at(doubts, node);
            branches->at[index].end_doubt = doubt.end;
            branches->at[index].doubt = doubt.end - doubt.relief;
        }
    }
}

int branches_check(const struct branches *branches, uint32_t items, struct fathom_error *err)
{
    for (uint32_t i = 1; i < branches->count; i++) {
        if (branches->at[i].item >= items)
            return error_set(err, ERANGE,
                             "the context tree refers to frame %u, but the frame table has only %u",
                             branches->at[i].item, items);
    }
    return 0;
}

int frame_compare(const struct frames *frames, uint32_t a, uint32_t b)
{
    const struct frame *x = frames_at(frames, a), *y = frames_at(frames, b);
    if (!x || !y)
        return order_of(a, b);
    return strcmp(x->name, y->name) ?: strcmp(x->image, y->image) ?: order_of(x->address, y->address)
           ?: order_of(a, b);
}

int path_compare(const struct frames *frames, const struct cct_node *a, const struct cct_node *b)
{
    for (; a != b && cct_parent(a) && cct_parent(b); a = cct_parent(a), b = cct_parent(b)) {
        int order = frame_compare(frames, a->item, b->item);
        if (order)
            return order;
    }
    return order_of(cct_parent(a) != NULL, cct_parent(b) != NULL);
}

int branch_compare_weight(const struct branch *a, const struct branch *b, const void *frames)
{
    return order_of(b->total, a->total) ?: frame_compare(frames, a->item, b->item);
}

struct sorting {
    const struct branch *at;
    branch_compare *compare;
    const void *context;
};

static int compare_indices(const void *a, const void *b, void *sorting)
{
    const struct sorting *s = sorting;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return s->compare(&s->at[i], &s->at[j], s->context) ?: order_of(i, j);
}

/* Scratch memory of branches_arrange(): four numbers per branch. */
struct plan {
    uint32_t *start; /* count + 1: of a branch's children in `children` */
    uint32_t *children, *size, *place;
};

static void plan_children(const struct branches *b, struct plan *plan)
{
    memset(plan->start, 0, ((size_t)b->count + 1) * sizeof *plan->start);
    for (uint32_t i = 1; i < b->count; i++)
        plan->start[b->at[i].parent]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= b->count; i++) {
        uint32_t number = plan->start[i];
        plan->start[i] = sum;
        plan->place[i] = sum; /* the next free entry, for now */
        sum += number;
    }
    for (uint32_t i = 1; i < b->count; i++)
        plan->children[plan->place[b->at[i].parent]++] = i;
}

static void plan_totals(struct branches *b, struct plan *plan)
{
    for (uint32_t i = 0; i < b->count; i++) {
        plan->size[i] = 1;
        b->at[i].total = b->at[i].self;
    }
    for (uint32_t i = b->count - 1; i > 0; i--) {
        uint32_t parent = b->at[i].parent;
        plan->size[parent] += plan->size[i];
        b->at[parent].total = add_saturating(b->at[parent].total, b->at[i].total);
        b->at[parent].doubt += b->at[i].doubt;
    }
}

int branches_arrange(struct branches *b, branch_compare *compare, const void *context,
                     struct fathom_error *err)
{
    size_t n = (size_t)b->count + 1;
    uint32_t *memory = malloc(4 * n * sizeof *memory);
    struct branch *arranged = malloc(b->count * sizeof *arranged);
    if (!memory || !arranged) {
        free(memory);
        free(arranged);
        return error_memory(err);
    }
    struct plan plan = {memory, memory + n, memory + 2 * n, memory + 3 * n};
    plan_children(b, &plan);
    plan_totals(b, &plan);

    struct sorting sorting = {b->at, compare, context};
    plan.place[0] = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t *children = plan.children + plan.start[i], number = plan.start[i + 1] - plan.start[i];
        if (number > 1)
            qsort_r(children, number, sizeof *children, compare_indices, &sorting);
        uint32_t place = plan.place[i];
        arranged[place] = b->at[i];
        arranged[place].end = place + plan.size[i];
        if (i > 0)
            arranged[place].parent = plan.place[b->at[i].parent];
        for (uint32_t c = 0, next = place + 1; c < number; c++) {
            plan.place[children[c]] = next;
            next += plan.size[children[c]];
        }
    }
    free(memory);
    free(b->at);
    b->at = arranged;
    b->capacity = b->count;
    return 0;
}

/* quality.c - see quality.h. */
#include "hcct/quality.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

const double quality_taus[QUALITY_TAUS] = {0.1, 0.05, 0.01, 0.001};

struct pair {
    const struct cct_node *exact, *ours; /* ours: NULL if the tree lacks it */
};

struct judging {
    struct quality *out;
    long double threshold;
    uint64_t heaviest; /* w_max in the thesis */
    uint64_t covered;
    size_t uncovered, judged;
    size_t edges[QUALITY_TAUS], covered_edges[QUALITY_TAUS];
    struct pair *next; /* of a walk of both trees */
    size_t count, capacity;
};

static const struct cct_node *child_of(const struct cct_node *parent, uint32_t item)
{
    const struct cct_node *child = parent ? parent->first_child : NULL;
    while (child && child->item != item)
        child = child->next_sibling;
    return child;
}

static void judge_error(struct judging *j, const struct pair *pair)
{
    struct quality *q = j->out;
    double weight = (double)pair->exact->self[0], estimate = (double)pair->ours->self[0];
    double corrected = estimate - (double)cct_error(pair->ours);
    if (weight <= 0)
        return;
    double error = fabs(estimate - weight) / weight, less = fabs(corrected - weight) / weight;
    q->most_error = fmax(q->most_error, error);
    q->most_corrected = fmax(q->most_corrected, less);
    q->mean_error += error;
    q->mean_corrected += less;
    j->judged++;
}

static void judge_pair(struct judging *j, const struct pair *pair)
{
    struct quality *q = j->out;
    uint64_t weight = pair->exact->self[0];
    bool hot = weight > 0 && (long double)weight >= j->threshold,
         returned = pair->ours && pair->ours->self[0] > 0;
    q->hot += hot;
    q->false_positives += returned && !hot;
    q->false_negatives += hot && !returned;
    if (pair->ours) {
        j->covered += weight;
    } else {
        double part = (double)weight / (double)j->heaviest;
        q->most_uncovered = fmax(q->most_uncovered, part);
        q->mean_uncovered += part;
        j->uncovered++;
    }
    if (returned)
        judge_error(j, pair);
}

/* Calls `visit` for every context of the exact tree except the root. */
static int walk_exact(struct judging *j, struct cct *hcct, struct cct *exact,
                      void (*visit)(struct judging *j, const struct pair *pair))
{
    struct pair root = {cct_root(exact), cct_root(hcct)};
    j->count = 0;
    if (!vec_push(j->next, j->count, j->capacity, root))
        return -ENOMEM;
    while (j->count) {
        struct pair at = j->next[--j->count];
        if (at.exact != root.exact)
            visit(j, &at);
        for (const struct cct_node *child = at.exact->first_child; child; child = child->next_sibling) {
            struct pair below = {child, child_of(at.ours, child->item)};
            if (!vec_push(j->next, j->count, j->capacity, below))
                return -ENOMEM;
        }
    }
    return 0;
}

static void count_edges(struct judging *j, const struct pair *pair)
{
    double weight = (double)pair->exact->self[0];
    for (size_t t = 0; t < QUALITY_TAUS; t++) {
        bool hot = weight >= quality_taus[t] * (double)j->heaviest;
        j->edges[t] += hot;
        j->covered_edges[t] += hot && pair->ours;
    }
}

static uint64_t heaviest_of(struct cct *cct)
{
    uint64_t most = 0;
    struct cct_node *root = cct_root(cct);
    for (struct cct_node *n = root->first_child; n && n != root; n = cct_next(root, n))
        most = n->self[0] > most ? n->self[0] : most;
    return most;
}

/* A node of the exact tree: it is in the HCCT for all phi up to `most` / N. */
struct rank {
    uint64_t most; /* largest weight of a context in its subtree */
    uint64_t weight;
    uint32_t parent; /* index of a rank */
};

/* All nodes, parents first. NULL: out of memory. */
static struct rank *rank_nodes(struct cct *exact)
{
    struct cct_node *node = cct_root(exact);
    struct rank *ranks = calloc(cct_count(exact), sizeof *ranks);
    uint32_t count = 0, parent = 0;
    while (ranks) {
        ranks[count] = (struct rank){node->self[0], node->self[0], parent};
        if (node->first_child) {
            parent = count++;
            node = node->first_child;
            continue;
        }
        while (cct_parent(node) && !node->next_sibling) {
            node = cct_parent(node);
            parent = ranks[parent].parent;
        }
        if (!cct_parent(node))
            break;
        node = node->next_sibling;
        count++;
    }
    if (ranks)
        ranks[0].weight = 0; /* the root is not a context */
    for (size_t i = ranks ? cct_count(exact) : 0; i-- > 1;) {
        struct rank *above = &ranks[ranks[i].parent];
        above->most = ranks[i].most > above->most ? ranks[i].most : above->most;
    }
    return ranks;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    return x->most > y->most ? -1 : x->most < y->most;
}

int quality_phi_for(struct cct *exact, double overlap, double *phi)
{
    struct rank *ranks = rank_nodes(exact);
    size_t count = cct_count(exact);
    double total = (double)cct_total(exact), sum = 0;
    *phi = 0;
    if (!ranks)
        return -ENOMEM;
    qsort(ranks + 1, count - 1, sizeof *ranks, compare_ranks);
    for (size_t i = 1; i < count && *phi <= 0; i++) {
        sum += (double)ranks[i].weight;
        if (sum >= overlap * total && total > 0)
            *phi = (double)ranks[i].most / total;
    }
    free(ranks);
    return 0;
}

int quality_of(struct cct *hcct, struct cct *exact, double phi, struct quality *out)
{
    *out = (struct quality){.nodes = cct_count(hcct) - 1};
    struct judging j = {
        .out = out, .threshold = (long double)phi * cct_total(exact), .heaviest = heaviest_of(exact)};
    struct rank *ranks = rank_nodes(exact);
    int rc = ranks ? walk_exact(&j, hcct, exact, judge_pair) : -ENOMEM;
    if (rc == 0)
        rc = walk_exact(&j, hcct, exact, count_edges);
    for (size_t i = 1; rc == 0 && i < cct_count(exact); i++)
        out->hot_nodes += ranks[i].most > 0 && (long double)ranks[i].most >= j.threshold;
    free(ranks);
    free(j.next);
    double total = (double)cct_total(exact);
    out->overlap = total > 0 ? (double)j.covered / total : 1;
    for (size_t t = 0; t < QUALITY_TAUS; t++)
        out->coverage[t] = j.edges[t] ? (double)j.covered_edges[t] / (double)j.edges[t] : 1;
    out->mean_uncovered /= j.uncovered ? (double)j.uncovered : 1;
    out->mean_error /= j.judged ? (double)j.judged : 1;
    out->mean_corrected /= j.judged ? (double)j.judged : 1;
    return rc;
}

/* evaluation.c - see evaluation.h. */
#include "cli/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"

struct evaluation {
    struct truth *truth;
    struct comparison *comparison; /* NULL before the first sample, with which the map is there */
    struct table *found;           /* (CID, true path, answer) hashed -> index of the verdict */
    struct verdict *verdicts;
    size_t count, room;
    struct score score; /* what does not come from the verdicts */
};

struct evaluation *evaluation_new(struct truth *truth)
{
    struct evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->truth = truth;
    e->found = table_new();
    if (!e->found) {
        free(e);
        e = NULL;
    }
    return e;
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    comparison_free(e->comparison);
    table_free(e->found);
    free(e->verdicts);
    free(e);
}

/* A new verdict but for its samples. -1: out of memory. */
static int decide(struct evaluation *e, struct judged_cid cid, const struct resolved *r, uint32_t truth,
                  struct verdict *out)
{
    struct compared compared;
    if (comparison_make(e->comparison, r, truth, &compared) < 0)
        return -1;
    *out = (struct verdict){.cid = cid,
                            .truth = truth,
                            .node = r->node,
                            .reason = r->reason,
                            .paths = compared.paths,
                            .right = compared.right,
                            .frames = compared.frames};
    if (r->kind == RESOLVED_UNKNOWN)
        out->category = CATEGORY_MISSING;
    else if (!compared.among)
        out->category = CATEGORY_INCORRECT;
    else
        out->category = compared.paths == 1 ? CATEGORY_PRECISE : CATEGORY_AMBIGUOUS;
    return 0;
}

static struct verdict *verdict_of(struct evaluation *e, struct judged_cid cid, const struct resolved *r,
                                  uint32_t truth)
{
    bool added;
    uint64_t words[] = {cid.function, cid.height, (uint64_t)r->reason << 32 | r->node, truth};
    uint64_t *place = table_put(e->found, checksum_of(words, sizeof words), &added);
    if (!place)
        return NULL;
    if (!added)
        return &e->verdicts[*place];
    if (e->count == e->room) {
        size_t room = e->room ? e->room * 2 : 256;
        struct verdict *verdicts = realloc(e->verdicts, room * sizeof *verdicts);
        if (!verdicts)
            return NULL;
        e->verdicts = verdicts;
        e->room = room;
    }
    *place = e->count;
    return decide(e, cid, r, truth, &e->verdicts[e->count]) < 0 ? NULL : &e->verdicts[e->count++];
}

static void count_bin(struct evaluation *e, double probability, double weight, bool right)
{
    unsigned number = probability >= 1 ? BINS - 1 : (unsigned)(probability * BINS);
    struct bin *bin = &e->score.bins[number];
    bin->weight += weight;
    bin->said += weight * probability;
    bin->right += right ? weight : 0;
}

struct comparison *evaluation_comparison(struct evaluation *e)
{
    return e->comparison;
}

int evaluation_count(struct evaluation *e, const struct pathmap *map, struct judged_cid cid,
                     const struct resolved *resolved, const struct true_share *shares, size_t count,
                     double weight, struct fathom_error *err)
{
    if (!e->comparison)
        e->comparison = comparison_new(e->truth, map);
    if (!e->comparison)
        return error_memory(err);
    e->score.samples++;
    for (size_t i = 0; i < count; i++) {
        struct verdict *v = verdict_of(e, cid, resolved, shares[i].path);
        if (!v)
            return error_memory(err);
        double part = shares[i].share * weight;
        v->samples++;
        v->weight += part;
        v->said += part * resolved->probability;
        if (resolved->kind != RESOLVED_UNKNOWN)
            count_bin(e, resolved->probability, part, v->right);
    }
    return 0;
}

int evaluation_add(struct evaluation *e, const struct pathmap *map, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    const struct place *place = &resolved->cid.place;
    const struct true_share *shares;
    unsigned reason;
    int count = truth_of(e->truth, process, sample, place, resolved->cid.height, &shares, &reason, err);
    if (count < 0)
        return count;
    if (count == 0)
        e->score.no_truth[reason] += (double)sample->period;
    uint64_t function[] = {(uintptr_t)place->image, place->function};
    struct judged_cid cid = {checksum_of(function, sizeof function), resolved->cid.height};
    return evaluation_count(e, map, cid, resolved, shares, (size_t)count, (double)sample->period, err);
}

/* By true path and CID. */
static int compare_paths(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    if (x->truth != y->truth)
        return x->truth < y->truth ? -1 : 1;
    if (x->cid.height != y->cid.height)
        return x->cid.height < y->cid.height ? -1 : 1;
    return (x->cid.function > y->cid.function) - (x->cid.function < y->cid.function);
}

static void tally(struct tally *into, uint64_t paths, double weight)
{
    into->paths += paths;
    into->weight += weight;
}

/* The verdicts of one true path under one CID. */
static void score_path(struct score *s, const struct verdict *verdicts, size_t count)
{
    double weight = 0, right = 0;
    for (size_t i = 0; i < count; i++) {
        weight += verdicts[i].weight;
        right += verdicts[i].right ? verdicts[i].weight : 0;
        s->right_frames += verdicts[i].frames * verdicts[i].weight;
        s->said += verdicts[i].said;
    }
    enum category category = verdicts->category;
    tally(&s->category[category], 1, weight);
    tally(&s->all, 1, weight);
    tally(&s->right, right * 2 > weight, right);
    bool among = category == CATEGORY_PRECISE || category == CATEGORY_AMBIGUOUS;
    for (unsigned k = 1; among && k <= DEGREES; k++) {
        if (verdicts->paths <= k)
            tally(&s->within[k - 1], 1, weight);
    }
}

int evaluation_score(const struct evaluation *e, struct score *out, struct fathom_error *err)
{
    *out = e->score;
    struct verdict *sorted = malloc((e->count + 1) * sizeof *sorted);
    if (!sorted)
        return error_memory(err);
    if (e->count)
        memcpy(sorted, e->verdicts, e->count * sizeof *sorted);
    qsort(sorted, e->count, sizeof *sorted, compare_paths);
    for (size_t i = 0, end; i < e->count; i = end) {
        for (end = i + 1; end < e->count && compare_paths(&sorted[i], &sorted[end]) == 0;)
            end++;
        score_path(out, &sorted[i], end - i);
    }
    free(sorted);
    double answered = 0;
    for (unsigned i = 0; i < BINS; i++) {
        answered += out->bins[i].weight;
        out->calibration_error += fabs(out->bins[i].right - out->bins[i].said);
    }
    out->calibration_error /= answered > 0 ? answered : 1;
    return 0;
}

static int heavier_first(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    int paths = compare_paths(a, b);
    return paths ? paths : (x->node > y->node) - (x->node < y->node);
}

int evaluation_wrong(const struct evaluation *e, struct verdict **out, size_t *count,
                     struct fathom_error *err)
{
    struct verdict *wrong = malloc((e->count + 1) * sizeof *wrong);
    if (!wrong)
        return error_memory(err);
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!e->verdicts[i].right)
            wrong[kept++] = e->verdicts[i];
    }
    qsort(wrong, kept, sizeof *wrong, heavier_first);
    *out = wrong;
    *count = kept;
    return 0;
}

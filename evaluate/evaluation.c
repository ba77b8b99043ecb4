/* evaluation.c - see evaluation.h. */
#include "evaluate/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "infer/contexts/certainty.h"

struct evaluation {
    struct truth *truth;
    struct comparison *comparison; /* NULL before the first sample, which brings the map */
    struct comparison *covered;    /* the same for only the frames that the map covers */
    struct table *found;           /* hash of CID, true path and answer -> index of the verdict */
    struct verdict *verdicts;
    size_t count, capacity;
    struct score score; /* what is not derived from the verdicts */
};

struct evaluation *evaluation_new(struct truth *truth)
{
    struct evaluation *e = allocate(struct evaluation, .truth = truth, .found = table_new());
    return whole_or_free(e, e->found, free);
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    comparison_free(e->comparison);
    comparison_free(e->covered);
    table_free(e->found);
    free(e->verdicts);
    free(e);
}

/* Makes a new verdict, without its samples. -1: out of memory. */
static int make_verdict(struct evaluation *e, struct judged_cid cid, const struct resolved *r, uint32_t truth,
                        struct verdict *out)
{
    struct compared compared, covered;
    if (comparison_make(e->comparison, r, truth, &compared) < 0 ||
        comparison_make(e->covered, r, truth, &covered) < 0)
        return -1;
    *out = (struct verdict){.cid = cid,
                            .truth = truth,
                            .node = r->node,
                            .reason = r->reason,
                            .paths = compared.paths,
                            .right = compared.right,
                            .right_covered = covered.right,
                            .among = compared.among,
                            .called_precise = r->kind == RESOLVED_PRECISE,
                            .proved = certainty_of(r) == CERTAINTY_PROVED,
                            .frames = compared.frames};
    if (r->kind == RESOLVED_UNKNOWN)
        out->category = CATEGORY_MISSING;
    else if (!compared.among || (out->called_precise && !compared.right))
        out->category = CATEGORY_INCORRECT;
    else
        out->category = out->called_precise ? CATEGORY_PRECISE : CATEGORY_AMBIGUOUS;
    return 0;
}

static struct verdict *verdict_of(struct evaluation *e, struct judged_cid cid, const struct resolved *r,
                                  uint32_t truth)
{
    bool added;
    uint64_t words[] = {cid.function, cid.height, (uint64_t)r->reason << 32 | r->node,
                        (uint64_t)r->kind << 40 | (uint64_t)certainty_of(r) << 32 | truth};
    uint64_t *place = table_put(e->found, checksum_of(words, sizeof words), &added);
    if (!place)
        return NULL;
    if (!added)
        return &e->verdicts[*place];
    if (!vec_reserve(e->verdicts, e->count, e->capacity, 1))
        return NULL;
    *place = e->count;
    return make_verdict(e, cid, r, truth, &e->verdicts[e->count]) < 0 ? NULL : &e->verdicts[e->count++];
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

static int compare_with(struct evaluation *e, const struct pathmap *map, struct fathom_error *err)
{
    if (!e->comparison)
        e->comparison = comparison_new(e->truth, map, COMPARE_ALL);
    if (!e->covered)
        e->covered = comparison_new(e->truth, map, COMPARE_COVERED);
    return e->comparison && e->covered ? 0 : error_memory(err);
}

/* Counts a sample with only the innermost frames of its true path known. */
static int count_part(struct evaluation *e, double weight, const struct resolved *resolved, uint32_t path,
                      struct fathom_error *err)
{
    const uint32_t *functions;
    bool right = false, answered = resolved->kind != RESOLVED_UNKNOWN;
    if (answered && comparison_inner(e->comparison, resolved, path, &right) < 0)
        return error_memory(err);
    e->score.samples++;
    e->score.part.weight += weight;
    e->score.part.answered += answered ? weight : 0;
    e->score.part.right += right ? weight : 0;
    e->score.part.frames += weight * (double)truth_path(e->truth, path, &functions);
    return 0;
}

int evaluation_count(struct evaluation *e, const struct pathmap *map, struct judged_cid cid,
                     const struct resolved *resolved, const struct true_shares *truth,
                     struct fathom_error *err)
{
    int rc = compare_with(e, map, err);
    if (rc < 0)
        return rc;
    e->score.samples++;
    for (size_t i = 0; i < truth->count; i++) {
        struct verdict *v = verdict_of(e, cid, resolved, truth->shares[i].path);
        if (!v)
            return error_memory(err);
        double part = truth->shares[i].share * cid.weight;
        v->samples++;
        v->weight += part;
        v->said += part * resolved->probability;
        e->score.said_least += part * resolved->least;
        e->score.said_most += part * resolved->most;
        if (resolved->kind != RESOLVED_UNKNOWN)
            count_bin(e, resolved->probability, part, v->right);
    }
    return 0;
}

int evaluation_add(struct evaluation *e, const struct pathmap *map, const struct process *process,
                   const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    const struct place *place = &resolved->cid.place;
    struct true_shares truth;
    int rc = truth_of(e->truth, process, sample, &resolved->cid, &truth, err);
    if (rc < 0)
        return rc;
    e->score.derived += truth.derived ? (double)sample->period : 0;
    if (truth.part) {
        rc = compare_with(e, map, err);
        return rc < 0 ? rc : count_part(e, (double)sample->period, resolved, truth.shares[0].path, err);
    }
    if (truth.count == 0)
        e->score.no_truth[truth.reason] += (double)sample->period;
    uint64_t function[] = {(uintptr_t)place->image, place->function};
    struct judged_cid cid = {checksum_of(function, sizeof function), resolved->cid.height,
                             (double)sample->period};
    return evaluation_count(e, map, cid, resolved, &truth, err);
}

/* Sorts by true path and CID. */
static int compare_paths(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    return order_of(x->truth, y->truth) ?: order_of(x->cid.height, y->cid.height) ?: order_of(x->cid.function, y->cid.function);
}

static void add_tally(struct tally *into, uint64_t paths, double weight)
{
    into->paths += paths;
    into->weight += weight;
}

/* The weight of a verdict where the verdicts on one path decide together; if the path has no weight (training saw it, but it
 * had no sample), each counts the same. */
static double vote_of(const struct verdict *verdict, double path_weight)
{
    return path_weight > 0 ? verdict->weight : 1;
}

/* Sums up the verdicts on one true path under one CID, which weigh `weight` together. *paths: the most paths that shared the
 * CID when the true one was among them; 0: it never was. */
static void score_verdicts(struct score *s, const struct verdict *verdicts, size_t count, double weight,
                           uint32_t *paths)
{
    double of_category[CATEGORIES] = {0}, votes[CATEGORIES] = {0};
    unsigned most = 0;
    *paths = 0;
    for (size_t i = 0; i < count; i++) {
        const struct verdict *v = &verdicts[i];
        s->right_frames += v->frames * v->weight;
        s->said += v->said;
        s->called_precise.weight += v->called_precise ? v->weight : 0;
        s->called_precise.right += v->called_precise && v->right ? v->weight : 0;
        s->proved.weight += v->proved ? v->weight : 0;
        s->proved.right += v->proved && v->right ? v->weight : 0;
        of_category[v->category] += v->weight;
        votes[v->category] += vote_of(v, weight);
        if (v->among && v->paths > *paths)
            *paths = v->paths;
    }
    for (unsigned k = 1; k < CATEGORIES; k++)
        most = votes[k] > votes[most] ? k : most;
    for (unsigned k = 0; k < CATEGORIES; k++)
        add_tally(&s->category[k], k == most, of_category[k]);
}

static void score_path(struct score *s, const struct verdict *verdicts, size_t count)
{
    double weight = 0, right = 0, covered = 0, votes = 0, votes_right = 0, votes_covered = 0;
    uint32_t paths;
    for (size_t i = 0; i < count; i++)
        weight += verdicts[i].weight;
    score_verdicts(s, verdicts, count, weight, &paths);
    for (size_t i = 0; i < count; i++) {
        const struct verdict *v = &verdicts[i];
        double vote = vote_of(v, weight);
        right += v->right ? v->weight : 0;
        covered += v->right_covered ? v->weight : 0;
        votes += vote;
        votes_right += v->right ? vote : 0;
        votes_covered += v->right_covered ? vote : 0;
    }
    add_tally(&s->all, 1, weight);
    add_tally(&s->right, votes_right * 2 > votes, right);
    add_tally(&s->right_covered, votes_covered * 2 > votes, covered);
    for (unsigned k = 1; paths && k <= DEGREES; k++) {
        if (paths <= k)
            add_tally(&s->within[k - 1], 1, weight);
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
    return order_of(y->weight, x->weight) ?: compare_paths(a, b) ?: order_of(x->node, y->node);
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

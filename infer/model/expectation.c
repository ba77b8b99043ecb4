/* expectation.c - see expectation.h. The repeated passes use only stretches of the recording, spread evenly and of limited
 * total length, so that a large recording costs no more to learn from. */
#include "infer/model/expectation.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "infer/model/trellis.h"

#define SETTLED   5e-4       /* share of moved samples below which learning ends */
#define GAP_LOOK  4096       /* pairs of samples examined for the usual gap, about */
#define LOOK      (1u << 16) /* moments in all stretches together, about */
#define WEAKEST   0.125      /* weakest strength of the model that is tried */
#define STRONGEST 64.0
#define JUDGED    12 /* maximum number of passes over all stretches to find the strength */
#define LEAST     4u /* candidates per sample, to which they may be reduced */

/* Columns of one thread without a gap. */
struct stretch {
    size_t first, count;
};

struct expecting {
    const struct expectation_input *in;
    struct column *of_cid; /* by CID; count 0: unknown */
    uint32_t threads;
    struct column *columns;
    size_t column_count;
    struct stretch *stretches;
    size_t stretch_count;
    double scale; /* moments that each column represents */
};

int expectation_true_path(struct resolver *resolver, struct coherence *model, uint32_t setting, uint32_t node,
                          uint32_t *state)
{
    const struct candidate_path *candidates;
    const struct pathmap *map = resolver_map(resolver);
    struct pathmap_node n = pathmap_node(map, node);
    uint32_t answer, first;
    int rc = node == PATHMAP_NONE ? 0 : resolver_find(resolver, setting, n.function, n.height, &answer);
    if (rc <= 0)
        return rc;
    if (coherence_count(model, answer, 1) < 0)
        return -ENOMEM;
    uint32_t count = resolver_candidates(resolver, answer, &candidates, &first);
    for (uint32_t i = 0; i < count; i++) {
        if (pathmap_node(map, candidates[i].node).path == n.path) {
            *state = first + i;
            return 1;
        }
    }
    return 0;
}

/* Makes states of all CIDs, with their samples. */
static int count_cids(struct expecting *x)
{
    const struct expectation_input *in = x->in;
    const struct wanted *cids;
    size_t count = survey_cids(in->survey, &cids);
    x->of_cid = calloc(count + 1, sizeof *x->of_cid);
    if (!x->of_cid)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct candidate_path *candidates;
        uint32_t answer;
        int rc = resolver_find(in->resolver, cids[i].setting, cids[i].function, cids[i].height, &answer);
        if (rc == 0)
            continue;
        if (rc < 0 || coherence_count(in->model, answer, (double)cids[i].samples) < 0)
            return -ENOMEM;
        x->of_cid[i].count = resolver_candidates(in->resolver, answer, &candidates, &x->of_cid[i].first);
    }
    return 0;
}

/* The number of pairs of consecutive states in the whole recording, with at most `most` states per moment. */
static double count_states(const struct expecting *x, uint32_t most)
{
    double pairs = 0;
    const struct moment *m;
    for (uint32_t t = 0; t < x->threads; t++) {
        uint32_t before = 0;
        size_t count = survey_moments(x->in->survey, t, &m);
        for (size_t i = 0; i < count; i++) {
            uint32_t all = m[i].true_path == TRIE_NONE ? x->of_cid[m[i].cid].count : 1,
                     now = all < most ? all : most;
            pairs += now > 1 || before > 1 ? (double)now * before : 0;
            before = now;
        }
    }
    return pairs * (double)survey_step(x->in->survey);
}

/* Reduces the candidates per sample until the work is within bounds; returns the number of pairs. */
static double limit_states(struct expecting *x)
{
    const struct wanted *cids;
    size_t count = survey_cids(x->in->survey, &cids);
    uint32_t most = CANDIDATES_MAX;
    double pairs = count_states(x, most);
    for (; x->in->pairs && pairs > (double)x->in->pairs && most > LEAST; pairs = count_states(x, most))
        most /= 2;
    coherence_set_most(x->in->model, most);
    for (size_t i = 0; i < count; i++)
        x->of_cid[i].count = x->of_cid[i].count < most ? x->of_cid[i].count : most;
    return pairs;
}

/* Sets the median time between two samples of a thread, over an even selection of pairs. */
static int learn_gap(const struct expecting *x)
{
    const struct moment *m;
    size_t all = 0, filled = 0, seen = 0;
    for (uint32_t t = 0; t < x->threads; t++)
        all += survey_moments(x->in->survey, t, &m);
    size_t step = all / GAP_LOOK + 1;
    uint64_t *gaps = malloc((all / step + 1) * sizeof *gaps);
    if (!gaps)
        return -ENOMEM;
    for (uint32_t t = 0; t < x->threads; t++) {
        size_t count = survey_moments(x->in->survey, t, &m);
        for (size_t i = 1; i < count; i++) {
            bool apart = survey_step(x->in->survey) > 1 && i % SURVEY_PIECE == 0;
            if (seen++ % step == 0 && !apart)
                gaps[filled++] = m[i].time - m[i - 1].time;
        }
    }
    sort_numbers(gaps, filled);
    coherence_set_gap(x->in->model, filled ? gaps[filled / 2] : 0);
    free(gaps);
    return 0;
}

/* The column of a moment; it has no states if it is unknown. */
static int column_of(const struct expecting *x, const struct moment *m, struct column *out)
{
    *out = x->of_cid[m->cid];
    out->time = m->time;
    if (m->true_path == TRIE_NONE)
        return 0;
    const struct wanted *cids;
    uint32_t state;
    survey_cids(x->in->survey, &cids);
    int rc = expectation_true_path(x->in->resolver, x->in->model, cids[m->cid].setting,
                                   pathmap_number(resolver_map(x->in->resolver), m->true_path), &state);
    if (rc > 0) {
        out->first = state;
        out->count = 1;
    }
    return rc < 0 ? rc : 0;
}

/* Adds a stretch of moments, without the unknown ones; `join`: to the end of the last stretch. */
static int add_stretch(struct expecting *x, const struct moment *moments, size_t count, bool join)
{
    if (!join)
        x->stretches[x->stretch_count++] = (struct stretch){x->column_count, 0};
    for (size_t i = 0; i < count; i++) {
        struct column c;
        if (column_of(x, &moments[i], &c) < 0)
            return -ENOMEM;
        if (c.count == 0)
            continue;
        x->columns[x->column_count++] = c;
        x->stretches[x->stretch_count - 1].count++;
    }
    return 0;
}

/* Picks stretches: all of them, or an even selection. pairs: of states, in all. */
static int pick_stretches(struct expecting *x, double pairs)
{
    const struct moment *m;
    size_t all = 0, pieces = 0, number = 0;
    for (uint32_t t = 0; t < x->threads; t++) {
        size_t count = survey_moments(x->in->survey, t, &m);
        all += count;
        pieces += (count + SURVEY_PIECE - 1) / SURVEY_PIECE;
    }
    size_t step = all / LOOK + 1, times = JUDGED + x->in->rounds;
    if (x->in->pairs && (double)times * pairs > (double)step * (double)x->in->pairs)
        step = (size_t)((double)times * pairs / (double)x->in->pairs) + 1;
    x->stretches = malloc((pieces / step + 1) * sizeof *x->stretches);
    x->columns = malloc((pieces / step + 1) * SURVEY_PIECE * sizeof *x->columns);
    if (!x->stretches || !x->columns)
        return -ENOMEM;
    bool join = step == 1 && survey_step(x->in->survey) == 1;
    x->scale = (double)(step * survey_step(x->in->survey));
    for (uint32_t t = 0; t < x->threads; t++) {
        size_t count = survey_moments(x->in->survey, t, &m);
        for (size_t i = 0; i < count; i += SURVEY_PIECE) {
            size_t length = count - i < SURVEY_PIECE ? count - i : SURVEY_PIECE;
            if (number++ % step == 0 && add_stretch(x, m + i, length, join && i > 0) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static void count_pairs(const struct expecting *x)
{
    for (size_t i = 0; i < x->stretch_count; i++) {
        const struct column *c = x->columns + x->stretches[i].first;
        for (size_t k = 1; k < x->stretches[i].count; k++)
            coherence_count_pair(x->in->model, &c[k - 1], &c[k]);
    }
}

/* Runs one pass over all stretches. */
static int run_pass(const struct expecting *x, struct trellis_work *work, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < x->stretch_count; i++) {
        const struct stretch *s = &x->stretches[i];
        struct trellis *trellis = trellis_new(work);
        if (!trellis)
            return error_memory(err);
        for (size_t k = 0; rc == 0 && k < s->count; k++)
            rc = trellis_add(trellis, x->columns[s->first + k], NULL, NULL, err);
        if (rc == 0)
            rc = trellis_flush(trellis, NULL, NULL, err);
        trellis_free(trellis);
    }
    return rc;
}

static int judge_strength(const struct expecting *x, struct trellis_work *work, double strength,
                          double *likelihood, struct fathom_error *err)
{
    coherence_set_strength(x->in->model, strength);
    trellis_work_judge(work);
    int rc = run_pass(x, work, err);
    *likelihood = trellis_work_judged(work);
    return rc;
}

/* From strength 1, repeatedly multiplies by this factor while the recording gets more probable. Returns 1 if the strength
 * changed, 0 or -ENOMEM. */
static int climb_strength(const struct expecting *x, struct trellis_work *work, double factor, double least,
                          struct fathom_error *err)
{
    double best = 1, likelihood;
    int rc = 0;
    for (double next = factor; next >= WEAKEST && next <= STRONGEST; next *= factor) {
        rc = judge_strength(x, work, next, &likelihood, err);
        if (rc < 0 || likelihood <= least)
            break;
        least = likelihood;
        best = next;
    }
    coherence_set_strength(x->in->model, best);
    return rc < 0 ? rc : best != 1;
}

static int learn_strength(const struct expecting *x, struct trellis_work *work, struct fathom_error *err)
{
    double likelihood;
    int rc = judge_strength(x, work, 1, &likelihood, err);
    if (rc == 0)
        rc = climb_strength(x, work, 2, likelihood, err);
    if (rc == 0)
        rc = climb_strength(x, work, 0.5, likelihood, err);
    return rc < 0 ? rc : 0;
}

static int run_rounds(const struct expecting *x, struct trellis_work *work, struct fathom_error *err)
{
    trellis_work_count(work, x->scale);
    double moved = 1;
    int rc = 0;
    for (uint32_t round = 0; rc == 0 && round < x->in->rounds && moved > SETTLED; round++) {
        rc = run_pass(x, work, err);
        if (rc == 0)
            moved = coherence_update(x->in->model);
    }
    return rc;
}

/* Learns the model from the stretches. */
static int learn_model(struct expecting *x, struct fathom_error *err)
{
    count_pairs(x);
    coherence_update(x->in->model);
    struct trellis_work *work = trellis_work_new(x->in->model);
    if (!work)
        return error_memory(err);
    int rc = learn_strength(x, work, err);
    if (rc == 0)
        rc = run_rounds(x, work, err);
    trellis_work_free(work);
    return rc;
}

int expectation_run(const struct expectation_input *input, struct fathom_error *err)
{
    struct expecting x = {.in = input, .threads = survey_threads(input->survey)};
    int rc = count_cids(&x);
    if (rc == 0)
        rc = learn_gap(&x);
    if (rc == 0)
        rc = pick_stretches(&x, limit_states(&x));
    rc = rc < 0 ? error_memory(err) : learn_model(&x, err);
    free(x.stretches);
    free(x.columns);
    free(x.of_cid);
    return rc;
}

/* expectation.c - see expectation.h. Only ambiguous samples, with the sure ones beside them, are gone through
 * more than once. */
#include "infer/expectation.h"

#include <errno.h>
#include <stdlib.h>

#include "infer/trellis.h"

#define SETTLED  5e-4 /* share of the samples that moved: less is none */
#define GAP_LOOK 4096 /* pairs of samples looked at for the usual gap, about */

/* What is left of a thread: its ambiguous columns and their sure neighbours. */
struct line {
    struct column *columns;
    size_t count;
};

struct expecting {
    const struct expectation_input *in;
    struct column *of_cid; /* states by CID; count 0: unknown */
    struct line *lines;    /* by thread */
    uint32_t line_count;
};

int expectation_anchor(struct resolver *resolver, struct coherence *model, uint32_t node, uint32_t *state)
{
    const struct candidate_path *candidates;
    const struct pathmap *map = resolver_map(resolver);
    struct pathmap_node n = pathmap_node(map, node);
    uint32_t answer, first;
    int rc = node == PATHMAP_NONE ? 0 : resolver_find(resolver, n.function, n.height, &answer);
    if (rc <= 0)
        return rc;
    if (coherence_meet(model, answer, 1) < 0)
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

/* The states of all CIDs, met with their samples. */
static int meet_cids(struct expecting *x)
{
    const struct expectation_input *in = x->in;
    const struct wanted *cids;
    size_t count = survey_cids(in->survey, &cids);
    x->of_cid = calloc(count + 1, sizeof *x->of_cid);
    if (!x->of_cid)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct candidate_path *candidates;
        uint32_t function = in->functions[cids[i].function], answer;
        int rc =
            function == PATHMAP_NONE ? 0 : resolver_find(in->resolver, function, cids[i].height, &answer);
        if (rc == 0)
            continue;
        if (rc < 0 || coherence_meet(in->model, answer, (double)cids[i].samples) < 0)
            return -ENOMEM;
        x->of_cid[i].count = resolver_candidates(in->resolver, answer, &candidates, &x->of_cid[i].first);
    }
    return 0;
}

static int compare_gaps(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The median time between two samples of a thread, over pairs picked evenly. */
static int learn_gap(const struct expecting *x)
{
    const struct moment *m;
    size_t all = 0, filled = 0, seen = 0;
    for (uint32_t t = 0; t < x->line_count; t++)
        all += survey_moments(x->in->survey, t, &m);
    size_t step = all / GAP_LOOK + 1;
    uint64_t *gaps = malloc((all / step + 1) * sizeof *gaps);
    if (!gaps)
        return -ENOMEM;
    for (uint32_t t = 0; t < x->line_count; t++) {
        size_t count = survey_moments(x->in->survey, t, &m);
        for (size_t i = 1; i < count; i++) {
            if (seen++ % step == 0)
                gaps[filled++] = m[i].time - m[i - 1].time;
        }
    }
    qsort(gaps, filled, sizeof *gaps, compare_gaps);
    coherence_set_gap(x->in->model, filled ? gaps[filled / 2] : 0);
    free(gaps);
    return 0;
}

/* The column of a moment; one without states is not known. */
static int column_of(const struct expecting *x, const struct moment *m, struct column *out)
{
    *out = x->of_cid[m->cid];
    out->time = m->time;
    if (m->anchor == TRIE_NONE)
        return 0;
    uint32_t state;
    int rc = expectation_anchor(x->in->resolver, x->in->model, x->in->nodes[m->anchor], &state);
    if (rc > 0) {
        out->first = state;
        out->count = 1;
    }
    return rc < 0 ? rc : 0;
}

/* Counts what is sure of a thread, and keeps the rest of it for the rounds. */
static int learn_sure(struct expecting *x, uint32_t thread)
{
    struct line *line = &x->lines[thread];
    const struct moment *moments;
    size_t count = survey_moments(x->in->survey, thread, &moments);
    struct column last = {0};
    bool kept = false; /* `last` */
    line->columns = malloc((count + 1) * sizeof *line->columns);
    if (!line->columns)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct column c;
        if (column_of(x, &moments[i], &c) < 0)
            return -ENOMEM;
        if (c.count == 0)
            continue;
        if (c.count == 1)
            coherence_count_state(x->in->model, c.first, 1);
        if (last.count)
            coherence_count_pair(x->in->model, &last, &c);
        if (c.count > 1 && last.count == 1 && !kept)
            line->columns[line->count++] = last;
        kept = c.count > 1 || last.count > 1;
        if (kept)
            line->columns[line->count++] = c;
        last = c;
    }
    return 0;
}

/* One round over all that is not sure. */
static int go_through(const struct expecting *x, struct trellis_work *work, struct fathom_error *err)
{
    int rc = 0;
    for (uint32_t t = 0; rc == 0 && t < x->line_count; t++) {
        const struct line *line = &x->lines[t];
        struct trellis *trellis = line->count ? trellis_new(work) : NULL;
        if (line->count && !trellis)
            return error_memory(err);
        for (size_t i = 0; rc == 0 && i < line->count; i++)
            rc = trellis_add(trellis, line->columns[i], NULL, NULL, err);
        if (rc == 0 && line->count)
            rc = trellis_flush(trellis, NULL, NULL, err);
        trellis_free(trellis);
    }
    return rc;
}

static int run_rounds(struct expecting *x, struct fathom_error *err)
{
    struct trellis_work *work = trellis_work_new(x->in->model);
    if (!work)
        return error_memory(err);
    trellis_work_count(work, true);
    double moved = 1;
    int rc = 0;
    for (uint32_t round = 0; rc == 0 && round < x->in->rounds && moved > SETTLED; round++) {
        rc = go_through(x, work, err);
        if (rc == 0)
            moved = coherence_update(x->in->model);
    }
    trellis_work_free(work);
    return rc;
}

int expectation_run(const struct expectation_input *input, struct fathom_error *err)
{
    struct expecting x = {.in = input, .line_count = survey_threads(input->survey)};
    x.lines = calloc((size_t)x.line_count + 1, sizeof *x.lines);
    int rc = x.lines ? meet_cids(&x) : -ENOMEM;
    if (rc == 0)
        rc = learn_gap(&x);
    size_t left = 0;
    for (uint32_t t = 0; rc == 0 && t < x.line_count; t++) {
        rc = learn_sure(&x, t);
        left += x.lines[t].count;
    }
    if (rc < 0) {
        rc = error_memory(err);
    } else if (left) {
        coherence_keep_counts(input->model);
        coherence_update(input->model);
        rc = run_rounds(&x, err);
    }
    for (uint32_t t = 0; x.lines && t < x.line_count; t++)
        free(x.lines[t].columns);
    free(x.lines);
    free(x.of_cid);
    return rc;
}

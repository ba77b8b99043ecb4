/*
 * bench_phases.c - how far the profile of a few intervals is from that of all, by how they are chosen: as Figures 10 to 13 of the paper
 * (phase-aware remote profiling, section 5.3).
 *
 *     bench_phases TRACE [INTERVALS [SAMPLES]]      a trace of `fathom hcct record`
 *
 * Intervals are of equal numbers of calls. Their profiles are exact: calls by call site (code regions), function, pair of caller and
 * callee, and context. Phases are found from the samples that a passive profiler would take: one call of many, SAMPLES in each
 * interval. The error is the paper's: the sum of the differences of all items, by the sum of all. A row for each way to
 * choose, and each of its settings: the share of intervals that were profiled, and the four errors, all in percent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "hcct/cct.h"
#include "hcct/trace.h"
#include "phases/timeline.h"

enum { REGIONS, FUNCTIONS, PAIRS, CONTEXTS, KINDS };
static const char *const kind_names[KINDS + 1] = {"regions", "functions", "pairs", "contexts", "tree"};

#define RUNS 10 /* of random choices; their mean is told */

struct item_count {
    uint32_t item, count;
};

/* The calls of an interval, by item. */
struct profile_part {
    struct item_count *at;
    size_t count, capacity;
};

struct sample {
    uint64_t time; /* the number of the call */
    uint32_t items[KINDS];
    uint32_t depth;
    uint32_t path[32];
};

struct subject {
    struct trace trace;
    struct table *numbers[KINDS]; /* of items but contexts, whose nodes have them */
    uint32_t items[KINDS];
    double *whole[KINDS];
    uint32_t *current[KINDS]; /* counts of the interval that is filled, by item */
    size_t current_capacity[KINDS];
    struct profile_part *parts[KINDS]; /* by interval */
    uint32_t intervals, interval_capacity[KINDS];
    uint64_t calls, per_interval, per_sample;
    struct sample *samples;
    size_t sample_count, sample_capacity;
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("bench_phases: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void need(bool good)
{
    must(good ? &good : NULL);
}

/* The trace as calls --------------------------------------------------------------------------------------------- */

static uint32_t number_of(struct subject *s, int kind, uint64_t key)
{
    bool added;
    uint64_t *n = must(table_put(s->numbers[kind], key, &added));
    if (added)
        *n = s->items[kind]++;
    return (uint32_t)*n;
}

static uint32_t number_of_node(struct subject *s, struct cct_node *node)
{
    if (!node->self[0])
        node->self[0] = ++s->items[CONTEXTS];
    return (uint32_t)(node->self[0] - 1);
}

static void count_item(struct subject *s, int kind, uint32_t item)
{
    struct profile_part *part = &s->parts[kind][s->intervals];
    if (item >= s->current_capacity[kind]) {
        size_t known = s->current_capacity[kind];
        need(vec_reserve(s->current[kind], 0, s->current_capacity[kind], (size_t)item + 1));
        memset(s->current[kind] + known, 0, (s->current_capacity[kind] - known) * sizeof(uint32_t));
    }
    if (s->current[kind][item]++ == 0)
        need(vec_push(part->at, part->count, part->capacity, (struct item_count){item, 0}));
}

static void begin_interval(struct subject *s)
{
    for (int k = 0; k < KINDS; k++) {
        need(vec_reserve(s->parts[k], s->intervals, s->interval_capacity[k], 1));
        s->parts[k][s->intervals] = (struct profile_part){0};
    }
}

static void end_interval(struct subject *s)
{
    for (int k = 0; k < KINDS; k++) {
        struct profile_part *part = &s->parts[k][s->intervals];
        for (size_t i = 0; i < part->count; i++) {
            part->at[i].count = s->current[k][part->at[i].item];
            s->current[k][part->at[i].item] = 0;
        }
    }
    s->intervals++;
    begin_interval(s);
}

static void take_call(struct subject *s, struct cct_node *node)
{
    static uint64_t random = 1, next;
    const struct trace_place *place = &s->trace.places[node->item];
    const struct cct_node *above = cct_parent(node);
    uint64_t caller = cct_parent(above) ? s->trace.places[above->item].function + 1u : 0;
    const uint32_t items[KINDS] = {
        number_of(s, REGIONS, node->item), number_of(s, FUNCTIONS, place->function),
        number_of(s, PAIRS, caller << 32 | place->function), number_of_node(s, node)};
    for (int k = 0; k < KINDS; k++)
        count_item(s, k, items[k]);
    if (s->calls >= next) {
        struct sample sample = {.time = s->calls};
        memcpy(sample.items, items, sizeof items);
        for (struct cct_node *n = node; cct_parent(n) && sample.depth < 32; n = cct_parent(n))
            sample.path[sample.depth++] = number_of_node(s, n);
        need(vec_push(s->samples, s->sample_count, s->sample_capacity, sample));
        next = (s->calls / s->per_sample + 1) * s->per_sample + hash_random(&random) % s->per_sample;
    }
    if (++s->calls % s->per_interval == 0)
        end_interval(s);
}

static void read_calls(struct subject *s)
{
    struct cct *tree = must(cct_new(1));
    begin_interval(s);
    for (size_t t = 0; t < s->trace.thread_count; t++) {
        struct cct_node *at = cct_root(tree);
        for (size_t i = s->trace.threads[t].first; i < s->trace.threads[t].end; i++) {
            uint32_t event = s->trace.events[i];
            if (event == TRACE_RETURN) {
                at = cct_parent(at) ? cct_parent(at) : at;
                continue;
            }
            at = must(cct_child(tree, at, event & ~TRACE_RESUMED));
            if (!(event & TRACE_RESUMED))
                take_call(s, at);
        }
    }
    cct_free(tree);
    for (int k = 0; k < KINDS; k++) {
        s->whole[k] = must(calloc(s->items[k] + 1, sizeof *s->whole[k]));
        for (uint32_t i = 0; i < s->intervals; i++)
            for (size_t j = 0; j < s->parts[k][i].count; j++)
                s->whole[k][s->parts[k][i].at[j].item] += s->parts[k][i].at[j].count;
    }
}

/* Of a path, what nearly all samples have in common tells no intervals apart (profile/phasing.c). */
static void cut_trunks(struct subject *s)
{
    uint32_t *counts = must(calloc(s->items[CONTEXTS] + 1, sizeof *counts));
    for (size_t i = 0; i < s->sample_count; i++)
        for (uint32_t j = 0; j < s->samples[i].depth; j++)
            counts[s->samples[i].path[j]]++;
    for (size_t i = 0; i < s->sample_count; i++) {
        struct sample *sample = &s->samples[i];
        uint32_t depth = 0;
        while (depth < sample->depth && counts[sample->path[depth]] < 0.9 * (double)s->sample_count)
            depth++;
        sample->depth = depth ? depth : 1;
    }
    free(counts);
}

/* Choices --------------------------------------------------------------------------------------------------------- */

static struct timeline *timeline_of(const struct subject *s, int kind, double threshold)
{
    struct fathom_error err = {0};
    struct timeline *t = must(timeline_new(&(struct phase_options){
        .interval = (double)(s->per_interval / s->per_sample), .threshold = threshold}));
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->sample_count; i++)
        if (s->samples[i].time < s->intervals * s->per_interval) {
            const struct sample *sample = &s->samples[i];
            uint64_t items[32] = {kind < KINDS ? sample->items[kind] : 0};
            for (uint32_t j = 0; kind == KINDS && j < sample->depth; j++)
                items[j] = sample->path[j];
            rc = timeline_add(
                t, &(struct phase_sample){sample->time, 1, items, kind < KINDS ? 1 : sample->depth}, &err);
        }
    if (rc == 0)
        rc = timeline_end(t, &err);
    if (rc < 0) {
        fprintf(stderr, "bench_phases: %s\n", err.text);
        exit(1);
    }
    return t;
}

/* The errors of a profile that has each interval's calls times `factor`. */
static void judge(const struct subject *s, const double *factor, double error[KINDS])
{
    double calls = (double)s->intervals * (double)s->per_interval, all = 0;
    for (uint32_t i = 0; i < s->intervals; i++)
        all += factor[i] * (double)s->per_interval;
    for (int k = 0; k < KINDS; k++) {
        double *estimate = must(calloc(s->items[k] + 1, sizeof *estimate));
        for (uint32_t i = 0; i < s->intervals; i++)
            for (size_t j = 0; factor[i] > 0 && j < s->parts[k][i].count; j++)
                estimate[s->parts[k][i].at[j].item] += factor[i] * s->parts[k][i].at[j].count;
        error[k] = all > 0 ? 0 : 2;
        for (uint32_t n = 0; all > 0 && n < s->items[k]; n++)
            error[k] += fabs(estimate[n] / all - s->whole[k][n] / calls);
        free(estimate);
    }
}

static void tell(const char *how, double setting, double share, const double error[KINDS])
{
    printf("%s\t%g\t%.3f", how, setting, 100 * share);
    for (int k = 0; k < KINDS; k++)
        printf("\t%.2f", 100 * error[k]);
    printf("\n");
}

static double share_of(const struct subject *s, const double *factor)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < s->intervals; i++)
        chosen += factor[i] > 0;
    return (double)chosen / s->intervals;
}

static void every_nth(const struct subject *s, uint32_t n)
{
    double *factor = must(calloc(s->intervals, sizeof *factor)), error[KINDS], sum[KINDS] = {0}, share = 0;
    /* the mean of ten places to begin at */
    for (uint32_t run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < s->intervals; i++)
            factor[i] = i % n == run * n / RUNS;
        judge(s, factor, error);
        share += share_of(s, factor) / RUNS;
        for (int k = 0; k < KINDS; k++)
            sum[k] += error[k] / RUNS;
    }
    tell("periodic", n, share, sum);
    free(factor);
}

static void at_random(const struct subject *s, uint32_t n)
{
    double *factor = must(calloc(s->intervals, sizeof *factor)), error[KINDS], sum[KINDS] = {0}, share = 0;
    uint64_t random = n;
    for (int run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < s->intervals; i++)
            factor[i] = hash_random(&random) % n == 0;
        judge(s, factor, error);
        share += share_of(s, factor) / RUNS;
        for (int k = 0; k < KINDS; k++)
            sum[k] += error[k] / RUNS;
    }
    tell("random", n, share, sum);
    free(factor);
}

static void by_phase(const struct subject *s, const struct timeline *t, const char *how, double threshold)
{
    uint32_t phases, count;
    const struct phase *p = timeline_phases(t, &phases);
    const struct phase_interval *intervals = timeline_intervals(t, &count);
    double *factor = must(calloc(s->intervals, sizeof *factor)), error[KINDS];
    for (uint32_t i = 0; i < phases; i++)
        factor[p[i].chosen] = p[i].weight / intervals[p[i].chosen].weight;
    judge(s, factor, error);
    tell(how, threshold, share_of(s, factor), error);
    free(factor);
}

/* Of each phase one interval in n, evenly spread over its time: stratified sampling. */
static void spread(const struct subject *s, const struct timeline *t, const char *how, uint32_t n)
{
    uint32_t phases, count;
    const struct phase *p = timeline_phases(t, &phases);
    const struct phase_interval *intervals = timeline_intervals(t, &count);
    double *factor = must(calloc(s->intervals, sizeof *factor)), error[KINDS];
    uint32_t *met = must(calloc(phases + 1, sizeof *met));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t phase = intervals[i].phase - 1, all = p[phase].intervals, wanted = (all + n - 1) / n;
        uint32_t rank = met[phase]++;
        /* the middle of each of `wanted` parts */
        uint32_t part = (uint32_t)((uint64_t)rank * wanted / all);
        if (rank == (uint32_t)(((uint64_t)(2 * part + 1) * all) / (2 * wanted)))
            factor[i] = p[phase].weight / wanted / intervals[i].weight;
    }
    judge(s, factor, error);
    tell(how, n, share_of(s, factor), error);
    free(met);
    free(factor);
}

int main(int argc, char **argv)
{
    static const uint32_t periods[] = {2, 3, 4, 5, 6, 8, 10, 14, 20, 28, 40, 60, 100, 150, 200};
    struct subject s = {0};
    struct fathom_error err = {0};
    if (argc < 2 || trace_read(argv[1], &s.trace, &err) < 0)
        return fprintf(stderr, "bench_phases: %s\n", argc < 2 ? "give a trace" : err.text), 1;
    uint64_t samples = argc > 3 ? strtoul(argv[3], NULL, 10) : 500;
    s.per_sample = s.trace.entered / ((argc > 2 ? strtoul(argv[2], NULL, 10) : 600) * samples + 1);
    if (!s.per_sample)
        return fputs("bench_phases: the trace has too few calls\n", stderr), 1;
    s.per_interval = s.per_sample * samples; /* a sample in each part of it: intervals have as many */
    for (int k = 0; k < CONTEXTS; k++)
        s.numbers[k] = must(table_new());
    read_calls(&s);
    cut_trunks(&s);
    printf("choice\tsetting\tshare");
    for (int k = 0; k < KINDS; k++)
        printf("\t%s", kind_names[k]);
    printf("\n");
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        every_nth(&s, periods[i]);
        at_random(&s, periods[i]);
    }
    for (int k = 0; k <= KINDS; k++)
        for (double threshold = 0.05; threshold < 0.9; threshold *= 1.5) {
            struct timeline *t = timeline_of(&s, k, threshold);
            char even[64];
            snprintf(even, sizeof even, "spread %.2f by %s", threshold, kind_names[k]);
            for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
                spread(&s, t, even, periods[i]);
            for (enum phase_policy policy = 0; policy < PHASE_POLICIES; policy++) {
                char how[64];
                timeline_choose(t, policy);
                snprintf(how, sizeof how, "%s by %s", phase_policy_names[policy], kind_names[k]);
                by_phase(&s, t, how, threshold);
            }
            timeline_free(t);
        }
    return 0;
}

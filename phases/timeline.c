/* timeline.c - see timeline.h. */
#include "phases/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"

#define ROUNDS 4 /* maximum number of rounds that assign each interval to the nearest phase */

const char *const phase_policy_names[] = {[PHASE_CENTROID] = "centroid",
                                          [PHASE_FIRST] = "first",
                                          [PHASE_THIRD] = "third",
                                          [PHASE_RANDOM] = "random"};

struct timeline {
    struct phase_options options;
    struct phase_tracker *tracker; /* NULL after the end */
    struct phase_interval *intervals;
    struct phase_vector *vectors; /* by interval */
    uint32_t count, interval_capacity, vector_capacity;
    struct phase *phases;
    struct phase_vector *means; /* by phase */
    uint32_t phase_count;
    uint32_t right, lasting;
};

struct timeline *timeline_new(const struct phase_options *options)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (t && !(t->tracker = phase_tracker_new(options))) {
        free(t);
        return NULL;
    }
    if (t)
        t->options = *options;
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    phase_tracker_free(t->tracker);
    free(t->intervals);
    free(t->vectors);
    free(t->phases);
    free(t->means);
    free(t);
}

static int store_interval(struct timeline *t, const struct phase_interval *i, struct fathom_error *err)
{
    if (t->count == PHASE_INTERVALS_MAX)
        return error_set(err, ERANGE, "there are more than %u intervals: make them longer",
                         PHASE_INTERVALS_MAX);
    if (!vec_reserve(t->intervals, t->count, t->interval_capacity, 1) ||
        !vec_reserve(t->vectors, t->count, t->vector_capacity, 1))
        return error_memory(err);
    if (t->count) {
        t->right += i->predicted == i->phase;
        t->lasting += t->intervals[t->count - 1].phase == i->phase;
    }
    t->intervals[t->count] = *i;
    t->vectors[t->count++] = *phase_tracker_vector(t->tracker);
    return 0;
}

int timeline_add(struct timeline *t, const struct phase_sample *sample, struct fathom_error *err)
{
    struct phase_interval ended;
    int rc = phase_tracker_add(t->tracker, sample, &ended);
    return rc < 0 ? error_memory(err) : rc ? store_interval(t, &ended, err) : 0;
}

/* Phases ---------------------------------------------------------------------------------------------------------- */

static void find_means(struct timeline *t)
{
    for (uint32_t p = 0; p < t->phase_count; p++)
        t->means[p] = (struct phase_vector){0};
    for (uint32_t i = 0; i < t->count; i++)
        phase_vector_join(&t->means[t->intervals[i].phase - 1], &t->vectors[i]);
}

static uint32_t nearest_phase(const struct timeline *t, uint32_t interval)
{
    uint32_t found = t->intervals[interval].phase;
    double least = phase_vector_distance(&t->means[found - 1], &t->vectors[interval]);
    for (uint32_t p = 0; p < t->phase_count && least > 0; p++) {
        double distance = phase_vector_distance(&t->means[p], &t->vectors[interval]);
        if (distance < least) {
            least = distance;
            found = p + 1;
        }
    }
    return found;
}

/* Returns whether any interval changed its phase. */
static bool move_intervals(struct timeline *t)
{
    bool moved = false;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t phase = nearest_phase(t, i);
        moved |= phase != t->intervals[i].phase;
        t->intervals[i].phase = phase;
    }
    return moved;
}

/* Merges phases whose means are alike, into the earlier one. */
static void merge_phases(struct timeline *t)
{
    for (uint32_t a = 0; a < t->phase_count; a++)
        for (uint32_t b = a + 1; b < t->phase_count; b++) {
            if (!(t->means[b].samples > 0) || !(t->means[a].samples > 0) ||
                phase_vector_distance(&t->means[a], &t->means[b]) >= t->options.threshold)
                continue;
            phase_vector_join(&t->means[a], &t->means[b]);
            t->means[b] = (struct phase_vector){0};
            for (uint32_t i = 0; i < t->count; i++)
                if (t->intervals[i].phase == b + 1)
                    t->intervals[i].phase = a + 1;
        }
}

/* Numbers phases in the order in which they begin. numbers: zeroed, one per phase. */
static void number_phases(struct timeline *t, uint32_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t *number = &numbers[t->intervals[i].phase - 1];
        if (!*number)
            *number = ++count;
        t->intervals[i].phase = *number;
    }
    t->phase_count = count;
}

static void add_up(struct timeline *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct phase_interval *in = &t->intervals[i];
        struct phase *p = &t->phases[in->phase - 1];
        p->weight += in->weight;
        p->samples += in->samples;
        p->intervals++;
        p->runs += i == 0 || t->intervals[i - 1].phase != in->phase;
        p->spread += phase_vector_distance(&t->means[in->phase - 1], &t->vectors[i]);
    }
    for (uint32_t p = 0; p < t->phase_count; p++)
        t->phases[p].spread /= t->phases[p].intervals;
}

static int find_phases(struct timeline *t, struct fathom_error *err)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->intervals[i].phase > t->phase_count)
            t->phase_count = t->intervals[i].phase;
    uint32_t *numbers = calloc((size_t)t->phase_count + 1, sizeof *numbers);
    t->phases = calloc((size_t)t->phase_count + 1, sizeof *t->phases);
    t->means = calloc((size_t)t->phase_count + 1, sizeof *t->means);
    int rc = numbers && t->phases && t->means ? 0 : error_memory(err);
    if (rc == 0) {
        find_means(t);
        for (int round = 0; round < ROUNDS && move_intervals(t); round++)
            find_means(t);
        merge_phases(t);
        number_phases(t, numbers);
        find_means(t);
        add_up(t);
    }
    free(numbers);
    return rc;
}

int timeline_end(struct timeline *t, struct fathom_error *err)
{
    struct phase_interval ended;
    int rc = phase_tracker_end(t->tracker, &ended);
    rc = rc < 0 ? error_memory(err) : rc ? store_interval(t, &ended, err) : 0;
    phase_tracker_free(t->tracker);
    t->tracker = NULL;
    return rc == 0 ? find_phases(t, err) : rc;
}

/* Representatives ------------------------------------------------------------------------------------------------- */

/* Index of the representative among a phase's intervals; not for the centroid. */
static uint32_t choose_rank(enum phase_policy policy, uint32_t intervals, uint64_t *random)
{
    switch (policy) {
    case PHASE_THIRD:
        return intervals > 2 ? 2 : intervals - 1;
    case PHASE_RANDOM:
        return (uint32_t)(hash_random(random) % intervals);
    default:
        return 0;
    }
}

static uint32_t interval_of_rank(const struct timeline *t, uint32_t phase, uint32_t rank)
{
    uint32_t i = 0;
    while (t->intervals[i].phase != phase || rank-- > 0)
        i++;
    return i;
}

static uint32_t nearest_interval(const struct timeline *t, uint32_t phase)
{
    uint32_t found = 0;
    double least = 2;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->intervals[i].phase != phase)
            continue;
        double distance = phase_vector_distance(&t->means[phase - 1], &t->vectors[i]);
        if (distance < least) {
            least = distance;
            found = i;
        }
    }
    return found;
}

void timeline_choose(struct timeline *t, enum phase_policy policy)
{
    uint64_t random = 1;
    for (uint32_t p = 0; p < t->phase_count; p++)
        t->phases[p].chosen =
            policy == PHASE_CENTROID
                ? nearest_interval(t, p + 1)
                : interval_of_rank(t, p + 1, choose_rank(policy, t->phases[p].intervals, &random));
}

const struct phase_interval *timeline_intervals(const struct timeline *t, uint32_t *count)
{
    *count = t->count;
    return t->intervals;
}

const struct phase *timeline_phases(const struct timeline *t, uint32_t *count)
{
    *count = t->phase_count;
    return t->phases;
}

uint32_t timeline_phase_at(const struct timeline *t, uint64_t time)
{
    uint32_t found = lower_bound(i, 0u, t->count, t->intervals[i].to <= time);
    return found < t->count && t->intervals[found].from <= time ? t->intervals[found].phase : 0;
}

void timeline_predicted(const struct timeline *t, uint32_t *right, uint32_t *lasting)
{
    *right = t->right;
    *lasting = t->lasting;
}

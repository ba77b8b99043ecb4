/*
 * metric.h - what is added up for each context: the table of metrics, and which of them an event's samples
 * carry.
 */
#ifndef FATHOM_PROFILE_METRIC_H
#define FATHOM_PROFILE_METRIC_H

#include "perfdata/record.h"

#define METRICS_MAX 8 /* the table is no longer */

struct metric {
    const char *name;
    const char *unit;                                    /* of the values; NULL: what the event counts */
    bool (*carried)(const struct perf_event_attr *attr); /* by an event's samples; NULL: by all */
    uint64_t (*value)(const struct sample *sample);
};

/* Ends with one without a name; the first is the default. */
extern const struct metric metric_table[];

/* Those of a profile. */
struct metrics {
    /* at[0] is the weight: contexts are ordered by it, and their certainty is of it. The others follow in the
     * table's order. */
    const struct metric *at[METRICS_MAX];
    uint32_t count;
    const struct event *event; /* borrowed */
};

/* Those that samples of this event carry. weight: of the table, or NULL for the default. -ENOENT: the samples
 * do not carry it. */
int metrics_of(const struct event *event, const struct metric *weight, struct metrics *out,
               struct fathom_error *err);
/* The unit of at[number]: "ns" of times, else what is counted. An event's name is as the recording has it,
 * with whatever characters. Lives as long as the event. */
const char *metrics_unit(const struct metrics *metrics, uint32_t number);
/* Which of them counts calls, where the weight is how long these take (perfdata/latency.h). METRICS_MAX: none does. */
uint32_t metrics_calls(const struct metrics *metrics);
/* values[0 .. count) of one sample. */
static inline void metrics_values(const struct metrics *metrics, const struct sample *sample,
                                  uint64_t *values)
{
    for (uint32_t i = 0; i < metrics->count; i++)
        values[i] = metrics->at[i]->value(sample);
}

#endif

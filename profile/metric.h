/* metric.h - what is summed up for each context: the table of metrics, and which of them an event's samples have. */
#ifndef FATHOM_PROFILE_METRIC_H
#define FATHOM_PROFILE_METRIC_H

#include "perfdata/record.h"

#define METRICS_MAX 8 /* at least the length of the table */

struct metric {
    const char *name;
    const char *unit; /* of the values; NULL: that of the event */
    /* whether an event's samples have it; NULL: all do */
    bool (*carried)(const struct perf_event_attr *attr);
    uint64_t (*value)(const struct sample *sample);
};

/* The metrics: name, help for --help, and the rest of a struct metric. The first is the default. */
/* clang-format off */
#define METRICS(ROW) \
    ROW("weight", "what the event counts, or time", NULL, NULL, weight_of) \
    ROW("samples", "their number", "samples", NULL, one_of) \
    ROW("latency", "of the sampled memory accesses", "cycles", has_latency, latency_of) \
    ROW("allocations", "their number, where bytes are told", "allocations", has_allocations, allocations_of)
/* clang-format on */
extern const struct metric metric_table[]; /* ends with an entry without a name */

/* The metrics of a profile. */
struct metrics {
    /* at[0] is the weight: contexts are sorted by it, and their certainty refers to it. The others follow in the table's order. */
    const struct metric *at[METRICS_MAX];
    uint32_t count;
    const struct event *event; /* borrowed */
};

/* Those that samples of this event have. weight: an entry of the table, or NULL for the default. -ENOENT: the samples do not
 * have it. */
int metrics_of(const struct event *event, const struct metric *weight, struct metrics *out,
               struct fathom_error *err);
/* The unit of at[number]: "ns" for times, else what is counted. An event's name is as recorded, with whatever characters. Valid
 * as long as the event. */
const char *metrics_unit(const struct metrics *metrics, uint32_t number);
/* Which of them counts calls, if the weight is the calls' duration (perfdata/latency.h). METRICS_MAX: none does. */
uint32_t metrics_calls(const struct metrics *metrics);
/* Gets values[0 .. count) of one sample. */
static inline void metrics_values(const struct metrics *metrics, const struct sample *sample,
                                  uint64_t *values)
{
    for (uint32_t i = 0; i < metrics->count; i++)
        values[i] = metrics->at[i]->value(sample);
}

#endif

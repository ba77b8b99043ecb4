/* metric.c - see metric.h. */
#include "profile/metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/heap_event.h"
#include "perfdata/latency.h"

static uint64_t weight_of(const struct sample *sample)
{
    return sample->period;
}

static uint64_t one_of(const struct sample *sample)
{
    return sample_counts(sample);
}

static uint64_t latency_of(const struct sample *sample)
{
    return sample->weight;
}

static bool has_latency(const struct perf_event_attr *attr)
{
    return attr->sample_type & PERF_SAMPLE_WEIGHT_TYPE;
}

static uint64_t allocations_of(const struct sample *sample)
{
    return sample->allocations;
}

static bool has_allocations(const struct perf_event_attr *attr)
{
    return heap_event_of(attr) != HEAP_NONE;
}

#define ROW(name, help, ...) {name, __VA_ARGS__},
const struct metric metric_table[] = {METRICS(ROW){0}};
_Static_assert(sizeof metric_table / sizeof *metric_table - 1 <= METRICS_MAX, "room for all of them");

int metrics_of(const struct event *event, const struct metric *weight, struct metrics *out,
               struct fathom_error *err)
{
    char names[256] = "";
    weight = weight ? weight : metric_table;
    *out = (struct metrics){.at = {weight}, .count = 1, .event = event};
    bool carried = false;
    for (const struct metric *m = metric_table; m->name; m++) {
        if (m->carried && !m->carried(&event->attr))
            continue;
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", m->name);
        if (m == weight)
            carried = true;
        else
            out->at[out->count++] = m;
    }
    return carried ? 0 : error_set(err, ENOENT, "the samples have no %s; they have: %s", weight->name, names);
}

uint32_t metrics_calls(const struct metrics *metrics)
{
    uint32_t i = 1;
    if (!metrics->event || metrics->at[0]->value != weight_of || !latency_event_of(&metrics->event->attr))
        return METRICS_MAX;
    while (i < metrics->count && metrics->at[i]->value != one_of)
        i++;
    return i < metrics->count ? i : METRICS_MAX;
}

const char *metrics_unit(const struct metrics *metrics, uint32_t number)
{
    const char *unit = metrics->at[number]->unit;
    const struct perf_event_attr *attr = &metrics->event->attr;
    if (unit)
        return unit;
    return attr_is_clock(attr) || latency_event_of(attr) ? "ns"
           : has_allocations(attr)                       ? "bytes"
                                                         : metrics->event->name;
}

/*
 * event_name.c - makes names for events that a recording does not name, from the attr alone
 * (include/uapi/linux/perf_event.h; spelled as tools/perf/util/evsel.c does).
 */
#include <stdio.h>

#include "perfdata/head.h"
#include "perfdata/heap_event.h"
#include "perfdata/latency.h"
#include "perfdata/software.h"

static const char *const hardware[] = {
    [PERF_COUNT_HW_CPU_CYCLES] = "cycles",
    [PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
    [PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
    [PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
    [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
    [PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
    [PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
    [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
    [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
    [PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

/* The name of one of our own events, whose attr has a mark: an unfinished recording has no names. NULL: it is not one of ours. */
static const char *marked_name(const struct perf_event_attr *attr)
{
    static const char *const heap[] = {
        [HEAP_ALLOCATED] = "allocated", [HEAP_FREED] = "freed", [HEAP_ENTERED] = "allocated"};
    const enum heap_event of = heap_event_of(attr);
    if (attr_is_waits(attr))
        return EVENT_WAITS_NAME;
    if (attr_is_wakeups(attr))
        return EVENT_WAKEUPS_NAME;
    if (latency_event_of(attr) != LATENCY_NONE)
        return latency_event_of(attr) == LATENCY_LEFT ? EVENT_LATENCY_NAME : EVENT_ENTERED_NAME;
    return of < sizeof heap / sizeof *heap ? heap[of] : NULL;
}

void event_default_name(const struct perf_event_attr *attr, char *out, size_t size)
{
    const char *name = marked_name(attr);
    if (name) {
        snprintf(out, size, "%s", name);
        return;
    }
    if (attr->type == PERF_TYPE_SOFTWARE)
        name = software_name(attr->config);
    else if (attr->type == PERF_TYPE_HARDWARE && attr->config < sizeof hardware / sizeof *hardware)
        name = hardware[attr->config];
    const char *where = "";
    if (attr->exclude_kernel && !attr->exclude_user)
        where = ":u";
    else if (attr->exclude_user && !attr->exclude_kernel)
        where = ":k";
    if (name)
        snprintf(out, size, "%s%s", name, where);
    else
        snprintf(out, size, "type %u config 0x%llx%s", attr->type, (unsigned long long)attr->config, where);
}
